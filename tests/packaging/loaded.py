# SPDX-License-Identifier: Apache-2.0

"""Tell what the service of this environment loads when it starts, as JSON.

It reads the configuration file in the current folder. With --uninstalled, it
must be itself again, as after ``pip uninstall``.
"""

import importlib.metadata
import importlib.util
import json
import logging
import pathlib
import sys


def senlin() -> dict[str, type]:
    """Return policies and profiles as senlin-engine finds them."""
    # The import patches the process for eventlet.
    import senlin.cmd  # noqa: F401
    from senlin.common import config
    from senlin.engine import environment

    config.parse_args(['senlin-engine'], 'senlin-engine', [])
    environment.initialize()
    loaded = environment.global_env()
    return {
        name: get(name)
        for types, get in (
            (loaded.get_policy_types(), loaded.get_policy),
            (loaded.get_profile_types(), loaded.get_profile),
        )
        for name in (f'{one["name"]}-{one["version"]}' for one in types)
    }


def nova() -> dict[str, type]:
    """Return filters and weighers as nova-scheduler finds them."""
    from nova import config
    from nova.scheduler import filters, weights

    files = [str(file) for file in pathlib.Path().glob('nova.conf')]
    config.parse_args(['nova-scheduler'], default_config_files=files)
    wanted = config.CONF.filter_scheduler
    found = (
        *filters.HostFilterHandler().get_matching_classes(
            wanted.available_filters
        ),
        *weights.HostWeightHandler().get_matching_classes(
            wanted.weight_classes
        ),
    )
    return {one.__name__: one for one in found}


def heat() -> dict[str, object]:
    """Return what gives a server its hints, as heat-engine finds it."""
    import heat.cmd.engine  # noqa: F401
    from heat.engine import resources
    from oslo_config import cfg

    files = [str(file) for file in pathlib.Path().glob('heat.conf')]
    cfg.CONF([], project='heat', default_config_files=files)
    # Heat warns of each type that is hidden.
    logging.disable()
    resources.initialise()
    server = resources.global_env().get_class('OS::Nova::Server')
    return {'the hints of servers': server._scheduler_hints}


def client() -> dict[str, type]:
    """Start the shell without our commands."""
    from openstackclient import shell

    assert shell.main(['cluster', 'region', 'plan', '--help'])
    assert not shell.main(['module', 'list'])
    return {'openstack': shell.OpenStackShell}


if __name__ == '__main__':
    service = pathlib.Path(sys.prefix).name.removeprefix('alone-')
    found = {
        name: one.__module__.partition('.')[0]
        for name, one in globals()[service]().items()
    }
    if '--uninstalled' in sys.argv:
        for name in (
            'os_placement_plugins',
            'nova_filters',
            'heat_hints',
            'openstack_commands',
        ):
            assert not importlib.util.find_spec(name), name
        for distribution in importlib.metadata.distributions():
            assert distribution.name != 'os-placement-plugins'
        assert len(set(found.values())) == 1, found
    else:
        print(json.dumps(found))
