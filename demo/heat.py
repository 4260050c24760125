# SPDX-License-Identifier: Apache-2.0

"""The Heat part of the demo: what the scheduler is told, and by whom.

One stack is created three times by a real heat-engine: with the hook, with
the hook disabled, and with Heat's own option. The requests are read at the
loopback cloud that received them; what they should hold is read from Heat.
"""

import collections
import importlib.metadata
import json
import pathlib
from typing import Any

import yaml

from demo import part
from testing.heat import loopback, process, stack_hints

TEMPLATES = pathlib.Path(__file__).parent / 'templates'

#: What both heat.conf and nova.conf hold as ``[heat_hints] signing_key``.
SIGNING_KEY = 'an example of a key that nobody else has'

HOOK, OFF, IN_TREE = 'hook', 'off', 'in-tree'
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
    'proxy': 1,
    'database > db': 1,
    'workers > *': 2,
    'frontends > *': 2,
}
#: What templates/mapping.yaml gives, by the resource's name.
MAPPED = {'db': {'rack': 'r7'}}

#: What Heat tells of a stack, and the requests for its servers.
Told = dict[str, Any]
Sent = list[loopback.Request]


def run(progress: part.Progress, log: pathlib.Path, given: None) -> part.Part:
    """Create the stack three times and compare."""
    progress("heat-engine runs with the hook, without it, with Heat's option")
    cloud, launcher = loopback.Cloud(), process.Launcher()
    told: dict[str, Told] = {}
    try:
        for name, settings in RUNS.items():
            stack = {
                'project': name,
                'name': 'web',
                'template': yaml.safe_load((TEMPLATES / 'web.yaml').open()),
                'files': {
                    'database.yaml': (TEMPLATES / 'database.yaml').read_text()
                },
            }
            scenario = {'cloud': cloud.url, 'settings': settings}
            scenario['stacks'] = [stack]
            (told[name],) = launcher.run(scenario, log)['stacks']
            progress(f'run "{name}": stack {told[name]["status"]}')
    finally:
        launcher.close()
        cloud.close()
    sent = {name: cloud.sent(name) for name in RUNS}
    return part.Part(
        service=f'Heat {importlib.metadata.version("openstack-heat")}',
        steps=[
            _with_hook(told[HOOK], sent[HOOK]),
            _on_the_wire(sent[HOOK]),
            _without_hook(told[OFF], sent[OFF]),
            _compared(told, sent),
        ],
        leaves=[(one.project, one.data) for one in sent[HOOK]],
    )


def path_of(hints: dict[str, Any]) -> str:
    """Return the resources on the way from the root stack down."""
    path = hints.get('heat_path_in_stack', [])
    steps = path if isinstance(path, list) else [path]
    return ' > '.join(step.partition(',')[0] for step in steps)


def _servers(told: Told) -> list[dict[str, Any]]:
    """Return the servers that Heat tells of, the root stack's first."""
    found = [r for r in told['resources'] if r['type'] == 'OS::Nova::Server']
    return sorted(found, key=lambda r: (len(r['path']), r['path'], r['name']))


def _by_uuid(sent: Sent) -> dict[str, dict[str, Any]]:
    """Return the hints of each request by the resource they are for."""
    hints = [request.hints or {} for request in sent]
    return {str(hint.get('heat_resource_uuid')): hint for hint in hints}


def _check_stack(step: part.Step, told: Told, sent: Sent) -> None:
    """Check that there are a stack, its servers, and a request for each."""
    step.check('the stack is created', 'CREATE_COMPLETE', told['status'])
    found: collections.Counter[str] = collections.Counter()
    for server in _servers(told):
        groups = [resource for resource, _ in server['path'] if resource]
        path = ' > '.join([*groups, server['name']])
        found[path if path in SERVERS else ' > '.join([*groups, '*'])] += 1
    step.check('it has the servers of its template', SERVERS, dict(found))
    servers = len(_servers(told))
    step.check('one request for each server', servers, len(sent))


def _with_hook(told: Told, sent: Sent) -> part.Step:
    """Show what the hook sends."""
    step = part.Step(
        'With the hook: what Nova is told about each server',
        ('resource', 'path', 'stack name', 'stack', 'root stack')
        + ('uuid', 'rack'),
        'Read from the bodies of POST /servers; ids are shortened. "rack" '
        "comes from an operator's mapping file. The hints are signed, and "
        'the part "stack" has Nova schedule these very requests.',
    )
    _check_stack(step, told, sent)
    by_uuid = _by_uuid(sent)
    key = stack_hints.SIGNATURE
    signatures = {hints[key] for hints in by_uuid.values() if key in hints}
    step.check('each has a signature of its own', len(sent), len(signatures))
    for server in _servers(told):
        hints = by_uuid.get(server['uuid'], {})
        ids = ('heat_stack_id', 'heat_root_stack_id', 'heat_resource_uuid')
        step.row(
            hints.get('heat_resource_name'),
            path_of(hints),
            hints.get('heat_stack_name'),
            *(str(hints.get(name))[:8] for name in ids),
            hints.get('rack', '-'),
        )
        wanted = stack_hints.wanted(told['root'], server)
        wanted |= MAPPED.get(server['name'], {})
        if key in hints:
            # Whether it is right is for Nova to say, in the part "stack".
            wanted[key] = hints[key]
        what = "its hints are what Heat says, and the mapping file's"
        step.check(f'server {server["name"]}: {what}', wanted, hints)
    return step


def _on_the_wire(sent: Sent) -> part.Step:
    """Show the hints of one request, letter by letter."""
    step = part.Step(
        'The key os:scheduler_hints of one request, as it was sent',
        ('hint', 'value'),
        'Nova stores strings and lists of strings only. The path of the spec '
        'is a list of tuples: each becomes "resource,stack".',
    )
    wrong = []
    for request in sent:
        hints = request.hints or {}
        if 'rack' in hints:
            step.rows = [(k, json.dumps(hints[k])) for k in hints]
        for name, value in hints.items():
            items = value if isinstance(value, list) else [value]
            if not all(isinstance(item, str) for item in items):
                wrong.append(f'{request.name}: {name}')
    step.check('each value is a string or a list of strings', [], wrong)
    return step


def _without_hook(told: Told, sent: Sent) -> part.Step:
    """Show that nothing is sent without the hook."""
    step = part.Step(
        'Without the hook (enabled = false): the same stack',
        ('server', 'scheduler hints'),
    )
    for one in sorted(sent, key=lambda one: one.name):
        hints = 'none' if one.hints is None else json.dumps(one.hints)
        step.row(one.name, hints)
    _check_stack(step, told, sent)
    key = 'os:scheduler_hints'
    found = [one.name for one in sent if key in one.data]
    step.check(f'no body has the key {key} (by default disabled)', [], found)
    return step


def _compared(told: dict[str, Told], sent: dict[str, Sent]) -> part.Step:
    """Compare the three runs."""
    step = part.Step(
        "Heat's own option stack_scheduler_hints beside the hook",
        ('run', 'servers', 'identifiers each', "with operator's hint"),
        'If you only need the six identifiers, you need no plug-in. The hook '
        'adds providers, a failure policy, protection of the six names, '
        'opt-in and opt-out, and no database queries once a stack is known.',
    )
    counts, mapped = {}, {}
    for name in (OFF, IN_TREE, HOOK):
        hints = [set(one.hints or {}) for one in sent[name]]
        counts[name] = sorted({len(one & {*stack_hints.SIX}) for one in hints})
        mapped[name] = sum('rack' in one for one in hints)
        each = ', '.join(map(str, counts[name]))
        step.row(name, len(hints), each, mapped[name])
    six = {OFF: [0], IN_TREE: [6], HOOK: [6]}
    step.check('identifiers per server: none, six, six', six, counts)
    one = {OFF: 0, IN_TREE: 0, HOOK: len(MAPPED)}
    step.check('only the hook sends the hints of a provider', one, mapped)
    same = {
        server['uuid']: stack_hints.wanted(told[IN_TREE]['root'], server)
        for server in _servers(told[IN_TREE])
    }
    found = _by_uuid(sent[IN_TREE])
    step.check("Heat's own option sends the same six values", same, found)
    return step
