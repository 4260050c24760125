# SPDX-License-Identifier: Apache-2.0

"""The Heat part of the demo: what the scheduler is told, and by whom.

One stack is created three times by a real heat-engine: with the hook, with
the hook disabled, and with Heat's own option. The requests are read at the
loopback cloud that received them; what they should hold is read from Heat.
"""

import contextlib
import importlib.metadata
import operator
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
CONF: dict[str, dict[str, dict[str, str]]] = {
    HOOK: {
        'heat_hints': {
            'enabled': 'true',
            'signing_key': SIGNING_KEY,
        }
    },
    OFF: {'heat_hints': {'enabled': 'false'}},
    IN_TREE: {'DEFAULT': {'stack_scheduler_hints': 'true'}},
}

#: The servers of templates/web.yaml.
SERVERS = 6


class Run:
    """What Heat tells of one stack, and the requests for its servers."""

    def __init__(
        self, stack: dict[str, Any], requests: list[loopback.Request]
    ) -> None:
        self.status = stack['status']
        self.requests = requests
        #: Server's resource uuid -> the hints that Heat sent.
        self.sent_hints = {}
        for request in requests:
            hints = request.hints or {}
            self.sent_hints[hints.get('heat_resource_uuid')] = hints
        #: Server's resource uuid -> the hints that follow from the stack.
        self.expected_hints = {}
        by_path = operator.itemgetter('path', 'name')
        for resource in sorted(stack['resources'], key=by_path):
            if resource['type'] == 'OS::Nova::Server':
                self.expected_hints[resource['uuid']] = stack_hints.expected(
                    stack['root'], resource
                )


def run(log: pathlib.Path) -> list[part.Part]:
    """Run both parts: create the stack three times, have Nova schedule it."""
    version = f'Heat {importlib.metadata.version("openstack-heat")}'
    story = part.Part(
        'heat',
        version,
        f'what Nova is told of {SERVERS} servers of a stack '
        '(the option is stack_scheduler_hints)',
        ('by default', 'the option', 'with the plug-ins'),
    )
    story.progress("heat-engine: with the hook, without, with Heat's option")
    web = {
        'name': 'web',
        'template': yaml.safe_load((TEMPLATES / 'web.yaml').read_text()),
        'files': {'database.yaml': (TEMPLATES / 'database.yaml').read_text()},
    }
    runs = {}
    with (
        contextlib.closing(loopback.Cloud()) as cloud,
        contextlib.closing(process.Launcher()) as launcher,
    ):
        for name, settings in CONF.items():
            scenario = {'cloud': cloud.url, 'settings': settings}
            scenario['stacks'] = [{'project': name, **web}]
            (web_stack,) = launcher.run(scenario, log)
            story.progress(f'run "{name}": stack {web_stack["status"]}')
            runs[name] = Run(web_stack, cloud.sent(name))
    _with_hook(story, runs[HOOK])
    _compared(story, runs)
    # Only now: the oldest Nova has eventlet patch the process on import, which
    # the threads of the cloud would not survive.
    from demo import stack

    return [story, stack.run(log, version, SIGNING_KEY, runs[HOOK].requests)]


def _with_hook(story: part.Part, run: Run) -> None:
    """Show what the hook sends."""
    step = story.step(
        'With the hook: what Nova is told about each server',
        ('resource', 'path', 'stack name', 'stack', 'root stack', 'uuid'),
        'Read from the bodies of POST /servers; ids are shortened. The hints '
        'are signed, and the part below has Nova schedule these very '
        'requests.',
    )
    step.check('the stack is created', 'CREATE_COMPLETE', run.status)
    step.check(
        'it has the servers of its template', SERVERS, len(run.expected_hints)
    )
    step.check('one request for each server', SERVERS, len(run.requests))
    key = stack_hints.SIGNATURE
    signatures = {hints.get(key) for hints in run.sent_hints.values()}
    signatures -= {None}
    step.check('each has a signature of its own', SERVERS, len(signatures))
    ids = ('heat_stack_id', 'heat_root_stack_id', 'heat_resource_uuid')
    for uuid, six_hints in run.expected_hints.items():
        hints = run.sent_hints.get(uuid, {})
        step.row(
            hints.get('heat_resource_name'),
            stack_hints.path_of(hints),
            hints.get('heat_stack_name'),
            *(str(hints.get(name))[:8] for name in ids),
        )
        server = six_hints['heat_resource_name']
        expected_hints = dict(six_hints)
        # Whether the signature is right is for Nova to say, in the part below.
        if key in hints:
            expected_hints[key] = hints[key]
        step.check(
            f'server {server}: its hints are what Heat says',
            expected_hints,
            hints,
        )


def _compared(story: part.Part, runs: dict[str, Run]) -> None:
    """Compare the three runs."""
    step = story.step(
        "Heat's own option stack_scheduler_hints beside the hook",
        ('run', 'servers', 'identifiers each'),
        'If you only need the six identifiers, you need no plug-in. The hook '
        'adds providers, a failure policy, protection of the six names, '
        'opt-in and opt-out, and no database queries once a stack is known.',
    )
    # Run -> how many of the six identifiers its servers have: one number if
    # all servers have as many.
    identifiers = {}
    texts = []
    signed = []
    for name in (OFF, IN_TREE, HOOK):
        hint_names = [
            set(request.hints or {}) for request in runs[name].requests
        ]
        counts = {
            len(names.intersection(stack_hints.SIX)) for names in hint_names
        }
        identifiers[name] = sorted(counts)
        texts.append(', '.join(map(str, identifiers[name])))
        signed.append(
            sum(stack_hints.SIGNATURE in names for names in hint_names)
        )
        step.row(name, len(hint_names), texts[-1])
    story.compare('stack identifiers per server', *texts)
    story.compare('servers with a signature', *signed)
    step.check(
        'identifiers per server: none, six, six',
        {OFF: [0], IN_TREE: [6], HOOK: [6]},
        identifiers,
    )
    key = 'os:scheduler_hints'
    with_key = [
        request.name for request in runs[OFF].requests if key in request.data
    ]
    step.check(f'no body has the key {key} by default', [], with_key)
    run = runs[IN_TREE]
    what = "Heat's own option sends the same six values"
    step.check(what, run.expected_hints, run.sent_hints)
