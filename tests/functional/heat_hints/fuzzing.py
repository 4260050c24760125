# SPDX-License-Identifier: Apache-2.0

"""Ask the hook for the hints of random, unfriendly templates.

The resource, its properties and its metadata are Heat's own objects.
"""

import collections
import itertools
import logging
import pathlib
import random
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from testing.heat import engine  # isort: skip

from heat.common import messaging
from heat.engine import function, resources, rsrc_defn, stack, template
from oslo_config import cfg

from heat_hints import hook, overrides
from os_placement_plugins import signature, stack_hints
from testing.heat import stacks, templates
from tests import signing

SEED = 20260101
SERVER = 'OS::Nova::Server'
CALLER = 'heat.engine.plugins.heat_hints_resources'
CLOUD = 'http://127.0.0.1:9'

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
    None, True, False, 0, -1, 2**70, 1.5, 1e308,
)  # fmt: skip

#: Values of options that are tried, each with each.
_OPTIONS = {
    'scope': ('all', 'opt_in', 'opt_out'),
    'user_hints': ('override', 'keep'),
    'signing_key': ([], [signing.KEY]),
}


def anything(rng: random.Random, depth: int = 0) -> Any:
    """Return any JSON."""
    kind = rng.random()
    if depth > 3 or kind < 0.65:
        return rng.choice(_TEXTS)
    if kind < 0.8:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(4))]
    return mapping(rng, _NAMES, depth + 1)


def mapping(rng: random.Random, names: Any, depth: int = 0) -> Any:
    """Return a mapping with some of these names, or now and then any JSON."""
    if not depth and rng.random() < 0.15:
        return anything(rng)
    return {
        rng.choice(names): anything(rng, depth)
        for _ in range(rng.randrange(5))
    }


def configurations() -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield options and the class that Heat makes servers with then."""
    for values in itertools.product(*_OPTIONS.values()):
        options = dict(zip(_OPTIONS, values, strict=True))
        if options['user_hints'] == 'keep' and options['signing_key']:
            continue
        for name, value in options.items():
            cfg.CONF.set_override(name, value, 'heat_hints')
        # The class keeps the options that it was made with.
        yield options, overrides.build(cfg.CONF, CALLER, hook.tell)[SERVER]


class Parameter(function.Function):
    """Metadata that are a parameter: any JSON, which no template checks."""

    def __init__(self, value: Any) -> None:
        super().__init__(None, 'get_param', None)
        self._value = value

    def result(self) -> Any:
        """Return the parameter's value."""
        return self._value


def change(resource: Any, rng: random.Random, number: int) -> Any:
    """Give a resource another template and other names.

    :returns: the hints as Heat reads them from the template; none if Heat
        itself refuses them.
    """
    texts = [text for text in _TEXTS if isinstance(text, str)]
    resource.stack.id = f'stack-{number}'
    resource.stack.name = rng.choice(texts)
    resource.name = rng.choice(texts)
    resource.t = rsrc_defn.ResourceDefinition(
        resource.name,
        rng.choice((SERVER, *texts)),
        properties={'scheduler_hints': mapping(rng, _NAMES)},
        metadata=Parameter(mapping(rng, ('heat_hints', 'other'))),
    )
    resource.properties = resource.t.properties(
        resource.properties_schema, resource.context
    )
    try:
        return resource.properties['scheduler_hints']
    except (TypeError, ValueError):
        return None


def check(
    sent: Mapping[str, Any],
    template_hints: Mapping[str, Any],
    resource: Any,
    options: Mapping[str, Any],
) -> str:
    """Raise an AssertionError if hints are wrong that are sent.

    :returns: whether they are "ours" or those of "stock" Heat.
    """
    key = options['signing_key']
    identifiers = {
        stack_hints.ROOT_STACK_ID: resource.stack.id,
        stack_hints.STACK_ID: resource.stack.id,
        stack_hints.STACK_NAME: resource.stack.name,
        stack_hints.PATH_IN_STACK: [resource.stack.name],
        stack_hints.RESOURCE_NAME: resource.name,
        stack_hints.RESOURCE_UUID: 'uuid',
    }
    # No template can know this id.
    kind = 'stock'
    if sent.get(stack_hints.STACK_ID) == resource.stack.id:
        kind = 'ours'
    else:
        identifiers = {}
    for name, value in sent.items():
        if name in stack_hints.NAMES and options['user_hints'] != 'keep':
            assert value == identifiers.get(name), f'{name} is forged'
        if key and name.startswith('heat_'):
            assert name in _RESERVED, f'{name} is sent'
    if key:
        signed = signature.Keys(key).signed(sent, 'p1')
        assert signed is (kind == 'ours'), 'the signature is wrong'
        assert signed or signature.HINT not in sent, 'a signature is sent'
    elif options['user_hints'] != 'keep':
        assert signature.HINT not in sent, 'a signature is sent'
    for name, value in template_hints.items():
        reserved = name in _RESERVED or (key and name.startswith('heat_'))
        if not reserved:
            assert sent[name] == value, f'{name} is another'
    return kind


def main(count: int) -> None:
    """Ask as often, and print the kinds of answers."""
    kinds: collections.Counter[str] = collections.Counter()
    lines: list[str] = []
    log = logging.Handler()
    log.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger('heat_hints').addHandler(log)
    # A failure that is ignored would hide in an answer without hints.
    settings = {'heat_hints': {'enabled': 'true', 'on_error': 'fail'}}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        engine.configure(folder, CLOUD, settings)
        anchor = engine.make_database()
        messaging.setup()
        resources.initialise()
        heat_template = template.Template(
            templates.template(web=templates.server())
        )
        context = stacks.Stacks(CLOUD).context('p1')
        # A resource of Heat does not keep its stack alive.
        heat_stack = stack.Stack(context, 'root', heat_template)
        resource = heat_stack['web']
        resource.uuid = 'uuid'
        rng = random.Random(SEED)
        configured = list(configurations())
        for number in range(count):
            options, cls = configured[number % len(configured)]
            template_hints = change(resource, rng, number)
            try:
                sent = cls._scheduler_hints(resource, template_hints) or {}
                kind = check(sent, template_hints or {}, resource, options)
                for line in lines:
                    assert len(line.splitlines()) == 1, f'the log has {line!r}'
            except Exception as exc:
                exc.add_note(f'{options} {template_hints!r}'[:2000])
                raise
            kinds.update([kind, *['lines'] * len(lines)])
            lines.clear()
        anchor.close()
    print(*sorted(kinds))
