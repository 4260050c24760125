# SPDX-License-Identifier: Apache-2.0

"""Ask a database as nova-scheduler or heat-engine does, and show the log.

``python -m tests.cloud.database_program nova URL``, or ``heat``. For each line
of the standard input, the program asks once, and prints the lines that this
package has logged, as a JSON list.
"""

import contextlib
import json
import logging
import sys
import tempfile
import types
from collections.abc import Callable, Iterator

#: Without a further attempt, which would only take longer.
FILE = """
[{section}]
connection = {url}
max_retries = 1
retry_interval = 0
db_max_retries = 0

[heat_hints]
enabled = true

[nova_filters]
stack_affinity_weight_multiplier = -100
"""


class Lines(logging.Handler):
    """The lines of this package, as a service writes them."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f'{record.levelname} {self.format(record)}')


@contextlib.contextmanager
def file_of(section: str, url: str) -> Iterator[str]:
    """Write a configuration file, which the service reads once."""
    with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
        file.write(FILE.format(section=section, url=url))
        file.flush()
        yield file.name


def prepare_nova(url: str) -> Callable[[], object]:
    """Return what weighs hosts for a server of a stack."""
    from nova import config, context, objects
    from nova.scheduler import host_manager, weights

    from nova_filters.weighers import affinity

    with file_of('api_database', url) as file:
        config.parse_args(['nova-scheduler'], default_config_files=[file])
    objects.register_all()
    weigher = affinity.StackAffinityWeigher()
    request = objects.RequestSpec(
        context.get_admin_context(),
        instance_uuid='00000000-0000-4000-8000-000000000001',
        project_id='root',
        scheduler_hints={'heat_root_stack_id': ['r']},
        instance_group=None,
    )
    # With a single host, nothing would be read.
    states = [host_manager.HostState(name, name, None) for name in 'ab']
    hosts = [weights.WeighedHost(state, 0.0) for state in states]
    return lambda: weigher.weigh_objects(hosts, request)


def prepare_heat(url: str) -> Callable[[], object]:
    """Return what makes the hints of a server in a nested stack."""
    import heat.cmd.engine  # noqa: F401  isort: skip
    from oslo_config import cfg

    from heat_hints import (
        hook,  # noqa: F401
        injector,
    )

    with file_of('database', url) as file:
        arguments = ['--config-file', file]
        cfg.CONF(arguments, project='heat', default_config_dirs=[])
    stack = types.SimpleNamespace(
        id='inner',
        name='inner',
        owner_id='root',
        parent_resource_name='nested',
    )
    resource = types.SimpleNamespace(
        name='web',
        uuid='uuid',
        stack=stack,
        context=types.SimpleNamespace(project_id='root'),
    )

    def ask() -> object:
        # A new one, which has no stack in memory.
        sender = injector.Injector(cfg.CONF)
        return sender.for_resource(resource, 'OS::Nova::Server', {}, None)

    return ask


def main() -> None:
    service, url = sys.argv[1:]
    prepare = {'nova': prepare_nova, 'heat': prepare_heat}[service]
    ask = prepare(url)
    handler = Lines()
    for package in 'heat_hints', 'nova_filters':
        logging.getLogger(package).addHandler(handler)
    # Nova has added a handler that prints all lines.
    logging.getLogger().handlers[:] = [logging.NullHandler()]
    for _ in sys.stdin:
        ask()
        print(json.dumps(handler.lines), flush=True)
        handler.lines.clear()


if __name__ == '__main__':
    main()
