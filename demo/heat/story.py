# SPDX-License-Identifier: Apache-2.0

"""The Heat part of the demo: what the scheduler is told, and by whom.

One stack is created three times by a real heat-engine: with the hook, with
the hook disabled, and with Heat's own option. The requests are read at the
loopback cloud that received them; what they should hold is read from Heat.
"""

import importlib.metadata
import json
import pathlib
from typing import Any

import yaml

from demo import report
from testing.heat import loopback, process, stack_hints

TEMPLATES = pathlib.Path(__file__).parent / 'templates'

HOOK = 'hook'
OFF = 'off'
IN_TREE = 'in-tree'

#: What both heat.conf and nova.conf hold as ``[heat_hints] signing_key``.
SIGNING_KEY = 'an example of a key that nobody else has'

#: Run -> lines of heat.conf.
RUNS: dict[str, dict[str, dict[str, str]]] = {
    HOOK: {
        'heat_hints': {
            'enabled': 'true',
            'providers': 'mapping_file',
            'mapping_file': str(TEMPLATES / 'mapping.yaml'),
            'signing_key': SIGNING_KEY,
        }
    },
    OFF: {'heat_hints': {'enabled': 'false'}},
    IN_TREE: {'DEFAULT': {'stack_scheduler_hints': 'true'}},
}

#: The servers of templates/web.yaml: path of resource names -> how many.
SERVERS = {
    ('proxy',): 1,
    ('database', 'db'): 1,
    ('workers', '*'): 2,
    ('frontends', '*'): 2,
}

#: What templates/mapping.yaml gives, by the resource's name.
MAPPED = {'db': {'rack': 'r7'}}


def run(
    progress: report.Progress,
    *,
    log: pathlib.Path,
    port: int,
    requests: pathlib.Path,
) -> report.Part:
    """Create the stack three times and compare.

    :param progress: told what begins.
    :param log: the file for the engines' logs.
    :param port: the loopback cloud's port; 0 takes any free one.
    :param requests: the file for the requests that the hook's run sent; the
        part "stack" has Nova schedule them.
    :raises report.DemoError: when the port cannot be had.
    """
    cloud = loopback.Cloud()
    try:
        progress(
            'three heat-engines start: with the hook, without it, and with '
            "Heat's own option"
        )
        told = _run_engines(cloud, log, progress)
        sent = {name: cloud.sent(name) for name in RUNS}
    finally:
        cloud.close()
    requests.write_text(
        json.dumps(
            [
                {'project': request.project, 'body': request.body.decode()}
                for request in sent[HOOK]
            ]
        )
    )
    return report.Part(
        service=f'Heat {importlib.metadata.version("openstack-heat")}',
        real=(
            'heat.engine.service.EngineService and '
            'heat.engine.worker.WorkerService (convergence)',
            'heat.rpc.client.EngineClient over oslo.messaging (in-process)',
            'heat.engine.plugin_manager.PluginManager, which loads the hook',
            'novaclient and keystoneauth1, over HTTP',
            'heat_hints: StackHintsHook, MappingFileProvider',
        ),
        stubs=(
            'the cloud below Heat (Keystone, Glance, Nova, Cinder, Neutron): '
            'a loopback HTTP server that keeps each POST /servers',
        ),
        steps=(
            _with_hook(told[HOOK], sent[HOOK]),
            _on_the_wire(sent[HOOK]),
            _without_hook(told[OFF], sent[OFF]),
            _compared(told, sent),
        ),
    )


def _run_engines(
    cloud: loopback.Cloud, log: pathlib.Path, progress: report.Progress
) -> dict[str, dict[str, Any]]:
    template = yaml.safe_load((TEMPLATES / 'web.yaml').read_text())
    files = {'database.yaml': (TEMPLATES / 'database.yaml').read_text()}
    told = {}
    launcher = process.Launcher()
    try:
        for name, settings in RUNS.items():
            stack = {
                'project': name,
                'name': 'web',
                'template': template,
                'files': files,
            }
            scenario = {
                'cloud': cloud.url,
                'settings': settings,
                'stacks': [stack],
            }
            (told[name],) = launcher.run(scenario, log)['stacks']
            progress(f'run "{name}": stack {told[name]["status"]}')
    finally:
        launcher.close()
    return told


def _servers(told: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the servers that Heat tells of, in the order of their paths."""
    return sorted(
        (r for r in told['resources'] if r['type'] == 'OS::Nova::Server'),
        key=lambda r: (
            len(r['path']),
            [step[0] or '' for step in r['path']],
            r['name'],
        ),
    )


def _by_uuid(sent: list[loopback.Request]) -> dict[str, dict[str, Any]]:
    hints = [request.hints or {} for request in sent]
    return {str(hint.get('heat_resource_uuid')): hint for hint in hints}


def _shape_check(told: dict[str, Any]) -> report.Check:
    wanted = {' > '.join(path): count for path, count in SERVERS.items()}
    found: dict[str, int] = {}
    for server in _servers(told):
        groups = [step[0] for step in server['path'] if step[0]]
        own = (*groups, server['name'])
        path = own if own in SERVERS else (*groups, '*')
        key = ' > '.join(path)
        found[key] = found.get(key, 0) + 1
    return report.Check(
        'the stack has the servers of its template', wanted, found
    )


def _with_hook(
    told: dict[str, Any], sent: list[loopback.Request]
) -> report.Step:
    by_uuid = _by_uuid(sent)
    rows = []
    checks = [
        report.Check(
            'the stack is created', 'CREATE_COMPLETE', told['status']
        ),
        _shape_check(told),
        report.Check(
            'one request for each server', len(_servers(told)), len(sent)
        ),
        report.Check(
            'each request carries a signature of its own',
            len(sent),
            len(
                {
                    hints.get(stack_hints.SIGNATURE)
                    for hints in by_uuid.values()
                }
                - {None}
            ),
        ),
    ]
    for server in _servers(told):
        hints = by_uuid.get(server['uuid'], {})
        path = hints.get('heat_path_in_stack', [])
        where = ' > '.join(
            step.partition(',')[0]
            for step in (path if isinstance(path, list) else [path])
        )
        rows.append(
            (
                hints.get('heat_resource_name'),
                where,
                hints.get('heat_stack_name'),
                _short(hints.get('heat_stack_id')),
                _short(hints.get('heat_root_stack_id')),
                _short(hints.get('heat_resource_uuid')),
                hints.get('rack', '-'),
            )
        )
        wanted = {
            **stack_hints.wanted(told['root'], server),
            **MAPPED.get(server['name'], {}),
        }
        if stack_hints.SIGNATURE in hints:
            # Whether it is right is for Nova to say, in the part "stack".
            name = stack_hints.SIGNATURE
            wanted[name] = hints[name]
        checks.append(
            report.Check(
                f'server {server["name"]}: its hints are what Heat says, and '
                "the mapping file's (spec: Proposed change)",
                wanted,
                hints,
            )
        )
    return report.Step(
        title='With the hook: what Nova is told about each server',
        columns=(
            'resource',
            'path',
            'stack name',
            'stack',
            'root stack',
            'uuid',
            'rack',
        ),
        rows=tuple(rows),
        checks=tuple(checks),
        note=(
            'Read from the bodies of POST /servers; ids are shortened. "rack" '
            "comes from an operator's mapping file. The hints are signed, "
            'and the part "stack" has Nova schedule these very requests.'
        ),
    )


def _on_the_wire(sent: list[loopback.Request]) -> report.Step:
    hints = next((r.hints for r in sent if r.hints and 'rack' in r.hints), {})
    return report.Step(
        title='The key os:scheduler_hints of one request, as it was sent',
        columns=('hint', 'value'),
        rows=tuple((name, json.dumps(value)) for name, value in hints.items()),
        checks=(_values_check(sent),),
        note=(
            "The spec's path is a list of tuples, which Nova cannot store: "
            'each becomes "resource,stack".'
        ),
    )


def _without_hook(
    told: dict[str, Any], sent: list[loopback.Request]
) -> report.Step:
    names = {request.name: request.hints for request in sent}
    return report.Step(
        title='Without the hook (enabled = false): the same stack',
        columns=('server', 'scheduler hints'),
        rows=tuple(
            (name, 'none' if hints is None else json.dumps(hints))
            for name, hints in sorted(names.items())
        ),
        checks=(
            report.Check(
                'the stack is created', 'CREATE_COMPLETE', told['status']
            ),
            _shape_check(told),
            report.Check(
                'one request for each server', len(_servers(told)), len(sent)
            ),
            report.Check(
                'no body has the key os:scheduler_hints (spec: default '
                'disabled)',
                [],
                [r.name for r in sent if 'os:scheduler_hints' in r.data],
            ),
        ),
    )


def _compared(
    told: dict[str, dict[str, Any]],
    sent: dict[str, list[loopback.Request]],
) -> report.Step:
    counts = {
        name: sorted({len(_six(r)) for r in requests})
        for name, requests in sent.items()
    }
    mapped = {
        name: sum('rack' in (r.hints or {}) for r in requests)
        for name, requests in sent.items()
    }
    in_tree = _by_uuid(sent[IN_TREE])
    return report.Step(
        title="Heat's own option stack_scheduler_hints beside the hook",
        columns=('run', 'servers', 'identifiers each', "with operator's hint"),
        rows=tuple(
            (
                name,
                len(sent[name]),
                ', '.join(str(count) for count in counts[name]),
                mapped[name],
            )
            for name in (OFF, IN_TREE, HOOK)
        ),
        checks=(
            report.Check(
                'identifiers per server: none, six, six',
                {OFF: [0], IN_TREE: [6], HOOK: [6]},
                counts,
            ),
            report.Check(
                'only the hook sends the hints of a provider',
                {OFF: 0, IN_TREE: 0, HOOK: len(MAPPED)},
                mapped,
            ),
            report.Check(
                "Heat's own option sends the same six values",
                {
                    server['uuid']: stack_hints.wanted(
                        told[IN_TREE]['root'], server
                    )
                    for server in _servers(told[IN_TREE])
                },
                in_tree,
            ),
        ),
        note=(
            'Who needs only the six identifiers needs no plug-in. The hook '
            'adds providers, a failure policy, protection of the six names, '
            'opt-in and opt-out, and no database queries once a stack is '
            'known.'
        ),
    )


def _six(request: loopback.Request) -> list[str]:
    return [name for name in stack_hints.SIX if name in (request.hints or {})]


def _values_check(sent: list[loopback.Request]) -> report.Check:
    wrong = [
        f'{request.name}: {name}'
        for request in sent
        for name, value in (request.hints or {}).items()
        if not isinstance(value, str)
        and not (
            isinstance(value, list)
            and all(isinstance(item, str) for item in value)
        )
    ]
    return report.Check(
        'in every request each value is a string or a list of strings: '
        'Nova stores no other',
        [],
        wrong,
    )


def _short(value: Any) -> str | None:
    return None if value is None else str(value)[:8]
