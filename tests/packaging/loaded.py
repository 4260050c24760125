# SPDX-License-Identifier: Apache-2.0

"""Tell what the service of this environment loads when it starts, as JSON.

It reads the configuration file in the current folder. With --uninstalled, it
must be itself again, as after ``pip uninstall``.
"""

import importlib.metadata
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
    classes = {}
    for policy in loaded.get_policy_types():
        name = f'{policy["name"]}-{policy["version"]}'
        classes[name] = loaded.get_policy(name)
    for profile in loaded.get_profile_types():
        name = f'{profile["name"]}-{profile["version"]}'
        classes[name] = loaded.get_profile(name)
    return classes


def nova() -> dict[str, type]:
    """Return filters and weighers as nova-scheduler finds them."""
    from nova import config
    from nova.scheduler import filters, weights

    files = [str(file) for file in pathlib.Path().glob('nova.conf')]
    config.parse_args(['nova-scheduler'], default_config_files=files)
    options = config.CONF.filter_scheduler
    classes = [
        *filters.HostFilterHandler().get_matching_classes(
            options.available_filters
        ),
        *weights.HostWeightHandler().get_matching_classes(
            options.weight_classes
        ),
    ]
    return {loaded.__name__: loaded for loaded in classes}


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
    packages = {
        name: loaded.__module__.partition('.')[0]
        for name, loaded in globals()[service]().items()
    }
    if '--uninstalled' in sys.argv:
        for distribution in importlib.metadata.distributions():
            assert distribution.name != 'os-placement-plugins'
        assert len(set(packages.values())) == 1, packages
    else:
        print(json.dumps(packages))
