# SPDX-License-Identifier: Apache-2.0

"""See that a service starts again after ``pip uninstall``.

It reads its configuration, and loads its own plug-ins.
"""

import importlib.metadata
import importlib.util
import logging
import pathlib
import sys


def senlin() -> None:
    """Load policies and profiles as senlin-engine does."""
    import senlin.cmd  # noqa: F401
    from senlin.common import config
    from senlin.engine import environment

    config.parse_args(['senlin-engine'], 'senlin-engine', [])
    environment.initialize()
    environment.global_env().get_policy('senlin.policy.deletion-1.1')


def nova() -> None:
    """Load filters as nova-scheduler does."""
    from nova import config
    from nova.scheduler import filters

    config.parse_args(['nova-scheduler'], default_config_files=[])
    names = ['nova.scheduler.filters.all_filters']
    loaded = filters.HostFilterHandler().get_matching_classes(names)
    assert 'ComputeFilter' in {cls.__name__ for cls in loaded}


def heat() -> None:
    """Load resource types as heat-engine does."""
    import heat.cmd.engine  # noqa: F401
    from heat.engine import resources
    from oslo_config import cfg

    cfg.CONF([], project='heat', default_config_files=[])
    resources.initialise()
    server = resources.global_env().get_class('OS::Nova::Server')
    assert server._scheduler_hints.__module__.startswith('heat.')


def client() -> None:
    """Start the shell, which has lost its commands."""
    from openstackclient import shell

    assert shell.main(['cluster', 'region', 'plan', '--help'])
    assert not shell.main(['complete'])


if __name__ == '__main__':
    for name in 'os_placement_plugins', 'nova_filters', 'heat_hints':
        assert not importlib.util.find_spec(name), name
    for found in importlib.metadata.distributions():
        assert found.name != 'os-placement-plugins'
    # Heat warns of each type that is hidden.
    logging.disable()
    globals()[pathlib.Path(sys.prefix).name.removeprefix('alone-')]()
