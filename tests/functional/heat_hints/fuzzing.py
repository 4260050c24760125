# SPDX-License-Identifier: Apache-2.0

"""Ask the hook for the hints of random, unfriendly templates.

``python -m tests.functional.heat_hints.fuzzing COUNT`` prints what was found
wrong, as JSON, and how often each kind of answer came. The resource, its
properties and its metadata are Heat's own objects.
"""

import collections
import itertools
import json
import logging
import pathlib
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from testing.heat import engine  # isort: skip

from heat.common import exception, messaging
from heat.engine import function, resources, rsrc_defn, stack, template
from oslo_config import cfg

from heat_hints import hook, overrides
from os_placement_plugins import signature, stack_hints
from testing.heat import stacks, templates
from tests import signing

SEED = 20260101
SERVER = 'OS::Nova::Server'
CALLER = 'heat.engine.plugins.heat_hints_resources'

_RESERVED = (*stack_hints.NAMES, signature.HINT)
_NAMES = (
    *_RESERVED, *_RESERVED, 'heat_tier', 'heat_', 'heat', 'HEAT_STACK_ID',
    ' heat_stack_id', 'heat_stack_id ', 'group', 'same_host', 'tier', '',
    '_nova_check_type', 'ヒント', '\udc80', 'x' * 300, '%(name)s', '{0}',
    'heat_\nERROR heat_hints: forged', 'tier\r\nERROR heat_hints: forged',
)  # fmt: skip
_TEXTS = (
    *_NAMES, 'true', 'false', 'maybe', 'yes\nERROR heat_hints: forged',
    '\x85ERROR', '\u2028ERROR', '\x1b[31m', '\x00', '[[null,"x"]]', 'a,b',
)  # fmt: skip
_LEAVES = (None, True, False, 0, -1, 2**70, 1.5, 1e308, 'text', '')
_FLAGS = ('heat_hints', 'heat_hints', 'heat_hints', 'other')

#: Values of options that are tried, each with each.
_OPTIONS = {
    'scope': ('all', 'opt_in', 'opt_out'),
    'user_hints': ('override', 'reject', 'keep'),
    'signing_key': ([], [signing.KEY]),
    'on_error': ('ignore', 'fail'),
}


def anything(rng: random.Random, depth: int = 0) -> Any:
    """Return any JSON."""
    kind = rng.random()
    if depth > 3 or kind < 0.35:
        return rng.choice(_LEAVES)
    if kind < 0.65:
        return rng.choice(_TEXTS)
    size = rng.randrange(4)
    if kind < 0.8:
        return [anything(rng, depth + 1) for _ in range(size)]
    return {rng.choice(_NAMES): anything(rng, depth + 1) for _ in range(size)}


def metadata(rng: random.Random) -> Any:
    """Return the metadata of a resource."""
    if rng.random() < 0.2:
        return anything(rng)
    return {rng.choice(_FLAGS): anything(rng) for _ in range(rng.randrange(3))}


def given_hints(rng: random.Random) -> Any:
    """Return the hints that a template gives."""
    if rng.random() < 0.1:
        return anything(rng)
    return {rng.choice(_NAMES): anything(rng) for _ in range(rng.randrange(5))}


def configurations() -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield options and the class that Heat makes servers with then."""
    for values in itertools.product(*_OPTIONS.values()):
        options = dict(zip(_OPTIONS, values, strict=True))
        if options['user_hints'] == 'keep' and options['signing_key']:
            continue
        for name, value in options.items():
            cfg.CONF.set_override(name, value, 'heat_hints')
        made = overrides.build(cfg.CONF, CALLER, hook.tell)[SERVER]
        yield options, made


class Parameter(function.Function):
    """Metadata that are a parameter: any JSON, which no template checks."""

    def __init__(self, value: Any) -> None:
        super().__init__(None, 'get_param', None)
        self._value = value

    def result(self) -> Any:
        """Return the parameter's value."""
        return self._value


class Log(logging.Handler):
    """Keep the lines of this package."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        self.lines.append(record.getMessage())


class Case:
    """One resource of Heat, changed for each question."""

    def __init__(self, cloud: str) -> None:
        # A resource of Heat does not keep its stack alive.
        self._stack = held = stack.Stack(
            stacks.Stacks(cloud).context('p1'),
            'root',
            template.Template(templates.template(one=templates.server())),
        )
        self.resource = held['one']
        self.resource.uuid = 'uuid'

    def change(self, rng: random.Random, number: int) -> Any:
        """Give the resource another template and other names.

        :returns: the hints as Heat reads them from the template; none if
            Heat itself refuses them.
        """
        resource = self.resource
        resource.stack.id = f'stack-{number}'
        resource.stack.name = rng.choice(_TEXTS)
        resource.name = rng.choice(_TEXTS)
        resource.t = rsrc_defn.ResourceDefinition(
            resource.name,
            rng.choice((SERVER, *_TEXTS)),
            properties={'scheduler_hints': given_hints(rng)},
            metadata=Parameter(metadata(rng)),
        )
        resource.properties = resource.t.properties(
            resource.properties_schema, resource.context
        )
        try:
            return resource.properties['scheduler_hints']
        except (TypeError, ValueError):
            return None


def forged(sent: Mapping[str, Any], own: Mapping[str, Any]) -> str | None:
    """Say which reserved name is sent with another value than Heat's."""
    found = [n for n in _RESERVED if n in sent and sent[n] != own.get(n)]
    return f'{found} are forged' if found else None


def wrongly_signed(sent: Mapping[str, Any], *, ours: bool) -> str | None:
    """Say what is wrong with the signature, or is not covered by it."""
    others = {n for n in sent if n.startswith('heat_')} - {*_RESERVED}
    if others:
        return f'{others} are sent'
    if ours is not signature.Keys([signing.KEY]).signed(sent, 'p1'):
        return 'the signature is wrong'
    return None


def unstorable(sent: Mapping[str, Any]) -> str | None:
    """Say which value Nova cannot store."""
    for name, value in sent.items():
        items = value if isinstance(value, list) else [value]
        if not name.startswith('heat_'):
            # A template's null is Nova's to refuse.
            items = [item for item in items if item is not None]
        if not all(type(item) is str for item in items):
            return f'{name} cannot be stored'
    return None


def main(count: int) -> dict[str, Any]:
    """Ask as often, and return what was found."""
    with tempfile.TemporaryDirectory() as folder:
        engine.configure(
            pathlib.Path(folder),
            'http://127.0.0.1:9',
            {'heat_hints': {'enabled': 'true'}},
            convergence=True,
            log=None,
        )
        # Who is refused is asked whether anything is stored: nothing is.
        anchor = engine.make_database()
        messaging.setup()
        resources.initialise()
        log = Log()
        logging.getLogger('heat_hints').addHandler(log)
        case = Case('http://127.0.0.1:9')
        rng = random.Random(SEED)
        wrong: list[str] = []
        kinds: collections.Counter[str] = collections.Counter()
        made = list(configurations())
        for number in range(count):
            # The class keeps the options that it was made with.
            options, cls = made[number % len(made)]
            given = case.change(rng, number)
            kind, problem = ask(cls, case.resource, given, options)
            kinds[kind] += 1
            kinds['lines'] += len(log.lines)
            if any(len(line.splitlines()) != 1 for line in log.lines):
                problem = f'in the log: {log.lines}'
            log.lines.clear()
            if problem:
                wrong.append(f'{options} {given!r}: {problem}'[:2000])
        anchor.close()
        return {'wrong': wrong[:5], 'kinds': kinds, 'count': count}


def ask(
    cls: Any, resource: Any, given: Any, options: Mapping[str, Any]
) -> tuple[str, str | None]:
    """Ask for the hints of one resource.

    :returns: the kind of answer, and what is wrong with it.
    """
    try:
        overrides._given_names(resource)
        sent = cls._scheduler_hints(resource, given)
    except exception.Error as exc:
        if options['user_hints'] != 'reject':
            return 'raised', f'raised {exc}'
        lines = len(str(exc).splitlines())
        return 'refused', None if lines == 1 else f'reason {exc}'
    except Exception as exc:
        return 'raised', f'raised {exc!r}'
    sent = sent or {}
    # No template can know this id.
    ours = sent.get('heat_stack_id') == resource.stack.id
    return 'ours' if ours else 'stock', wrong(sent, resource, options, ours)


def wrong(
    sent: Mapping[str, Any],
    resource: Any,
    options: Mapping[str, Any],
    ours: bool,
) -> str | None:
    """Say what is wrong with the hints that are sent for a resource."""
    problem = unstorable(sent) if ours else None
    if options['user_hints'] != 'keep':
        held = resource.stack
        facts = (held.id, held.id, held.name, [held.name], resource.name)
        own = dict(zip(stack_hints.NAMES, (*facts, 'uuid'), strict=True))
        own[signature.HINT] = sent.get(signature.HINT)
        if not ours or not options['signing_key']:
            del own[signature.HINT]
        problem = problem or forged(sent, own if ours else {})
    if options['signing_key']:
        problem = problem or wrongly_signed(sent, ours=ours)
    return problem


if __name__ == '__main__':
    print(json.dumps(main(int(sys.argv[1]))))
