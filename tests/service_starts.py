# SPDX-License-Identifier: Apache-2.0

"""Start a real service with a file, and have it do its work.

``python -m tests.service_starts nova`` loads the service once. Each line of
its standard input names a file. The answer is a line in JSON: why the service
does not start or does not work, or an empty text.
"""

import importlib
import json
import logging
import os
import pathlib
import signal
import sys
import tempfile
from collections.abc import Callable

#: What the embedded cloud needs beside the file.
NOVA_CONF = """
[DEFAULT]
transport_url = fake://
service_down_time = 86400
[filter_scheduler]
track_instance_changes = false
"""


def nova() -> Callable[[str], None]:
    """Return what boots a server of a stack, with two hosts to choose from."""
    engine = importlib.import_module('testing.nova.engine')
    reader = importlib.import_module('nova_filters.weighers.reader')
    cloud = engine.Cloud()
    cloud.add_host('host-1')
    cloud.add_host('host-2')
    hints = {'heat_root_stack_id': 'root', 'heat_resource_name': 'server'}
    request = cloud.request(cloud.add_flavor('small', {}), hints=hints)
    # It is there as long as somebody can call what is returned.
    folder = tempfile.TemporaryDirectory(prefix='opp-start-')
    pathlib.Path(folder.name, 'cloud.conf').write_text(NOVA_CONF)

    def start(path: str) -> None:
        engine.CONF(
            [
                '--config-file',
                path,
                '--config-file',
                f'{folder.name}/cloud.conf',
            ],
            project='nova',
        )
        reader.shared.cache_clear()
        scheduler = engine.manager.SchedulerManager()
        if cloud.boot(scheduler, request).host is None:
            raise ValueError('no host passes')

    return start


def heat() -> Callable[[str], None]:
    """Return what loads the resource types, as heat-engine does."""
    importlib.import_module('heat.cmd.engine')
    resources = importlib.import_module('heat.engine.resources')
    config = importlib.import_module('heat.common.config')
    importlib.import_module('heat.engine.service')
    cfg = importlib.import_module('oslo_config.cfg')

    def start(path: str) -> None:
        cfg.CONF(['--config-file', path], project='heat')
        config.startup_sanity_check()
        resources.initialise()
        server = resources.global_env().get_class('OS::Nova::Server')
        if not hasattr(server, '_scheduler_hints'):
            raise ValueError('no servers')

    return start


def senlin() -> Callable[[str], None]:
    """Return what loads the types of policies, as senlin-engine does."""
    importlib.import_module('senlin.cmd')
    config = importlib.import_module('senlin.common.config')
    environment = importlib.import_module('senlin.engine.environment')

    def start(path: str) -> None:
        config.parse_args(
            ['senlin-engine', '--config-file', path], 'senlin-engine'
        )
        registry = environment.global_env()
        registry.get_policy('senlin_plugins.policy.region_placement-1.1')
        registry.get_profile('senlin_plugins.nova.server-1.0')

    return start


def attempt(start: Callable[[str], None], path: str) -> str:
    """Return why a service does not start; an empty text if it does."""
    try:
        start(path)
    except (Exception, SystemExit) as exc:
        return f'{type(exc).__name__}: {exc}'[:1000]
    return ''


def attempt_apart(start: Callable[[str], None], path: str) -> str:
    """Do the same in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        # This process ends even if the service hangs.
        signal.alarm(600)
        os.write(writing, json.dumps(attempt(start, path)).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else 'It was killed.'


def main() -> None:
    """Answer each line."""
    # What the service logs is not for the terminal.
    logging.getLogger().addHandler(logging.NullHandler())
    service = sys.argv[1]
    start = {'nova': nova, 'heat': heat, 'senlin': senlin}[service]()
    # What a service prints is no answer.
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    for line in sys.stdin:
        path = json.loads(line)
        # Heat and Senlin load their plug-ins once. The databases of Nova are
        # in the memory of this process.
        if service == 'nova':
            problem = attempt(start, path)
        else:
            problem = attempt_apart(start, path)
        print(json.dumps(problem), file=answers, flush=True)


if __name__ == '__main__':
    main()
