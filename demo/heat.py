# SPDX-License-Identifier: Apache-2.0

"""What Heat tells Nova about the servers of a stack.

One stack is created three times by a real heat-engine: as Heat does it by
default, with Heat's own option, and with the hook of this package. The
requests are read at the loopback cloud that received them.
"""

import contextlib
import importlib.metadata
import pathlib
from typing import Any

import yaml

from demo import story
from testing.heat import loopback, process, stack_hints

TEMPLATES = pathlib.Path(__file__).parent / 'templates'
#: What both heat.conf and nova.conf hold as ``[heat_hints] signing_key``.
SIGNING_KEY = 'an example of a key that nobody else has'
HOOK = 'heat_hints'
#: Side -> sections of heat.conf.
SIDES: dict[str, dict[str, dict[str, str]]] = {
    'by default': {},
    'stack_scheduler_hints': {'DEFAULT': {'stack_scheduler_hints': 'true'}},
    HOOK: {'heat_hints': {'enabled': 'true', 'signing_key': SIGNING_KEY}},
}


def run(log: pathlib.Path) -> str:
    """Return the tables of both services on the way of the stack."""
    version = f'Heat {importlib.metadata.version("openstack-heat")}'
    template = {
        'name': 'web',
        'template': yaml.safe_load((TEMPLATES / 'web.yaml').read_text()),
        'files': {'database.yaml': (TEMPLATES / 'database.yaml').read_text()},
    }
    sent: dict[str, list[loopback.Request]] = {}
    with (
        contextlib.closing(loopback.Cloud()) as cloud,
        contextlib.closing(process.Launcher()) as launcher,
    ):
        for side, settings in SIDES.items():
            scenario: dict[str, Any] = {
                'cloud': cloud.url,
                'settings': settings,
                'stacks': [{'project': side, **template}],
            }
            launcher.run(scenario, log)
            sent[side] = cloud.sent(side)
    identifiers = []
    signatures = []
    for requests in sent.values():
        names = [{*(request.hints or {})} for request in requests]
        least = min(len(there & {*stack_hints.SIX}) for there in names)
        identifiers.append(least)
        signed = [there for there in names if stack_hints.SIGNATURE in there]
        signatures.append(len(signed))
    text = (
        f'{version}: what Nova is told about the {len(sent[HOOK])} servers of '
        'a stack.\n\n'
        'The hook is on with this heat.conf:\n\n'
        f'[heat_hints]\nenabled = true\nsigning_key = {SIGNING_KEY}\n\n'
        + story.table(
            ('', *SIDES),
            [
                ('identifiers for each server', *identifiers),
                ('servers with a signature', *signatures),
            ],
        )
    )
    # Only now: the oldest Nova has eventlet patch the process on import, which
    # the threads of the cloud would not survive.
    from demo import stack

    return f'{text}\n\n{stack.run(log, SIGNING_KEY, sent[HOOK])}'
