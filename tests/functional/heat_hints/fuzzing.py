# SPDX-License-Identifier: Apache-2.0

"""Ask the hook for the hints of random, unfriendly templates.

The resource, its properties and its metadata are Heat's own objects.
"""

import logging
import pathlib
import random
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from testing.heat import engine  # isort: skip

from heat.common import messaging
from heat.engine import resources, rsrc_defn, stack, template
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

#: Values of the option ``signing_key`` that are tried.
_KEYS = ([], [signing.KEY])


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


def configurations() -> Iterator[tuple[list[str], Any]]:
    """Yield keys and the class that Heat makes servers with then."""
    for key in _KEYS:
        cfg.CONF.set_override('signing_key', key, 'heat_hints')
        # The class keeps the options that it was made with.
        yield key, overrides.build(cfg.CONF, CALLER, hook.tell)[SERVER]


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
    key: list[str],
) -> None:
    """Raise an AssertionError if hints are wrong that are sent."""
    identifiers = {
        stack_hints.ROOT_STACK_ID: resource.stack.id,
        stack_hints.STACK_ID: resource.stack.id,
        stack_hints.STACK_NAME: resource.stack.name,
        stack_hints.PATH_IN_STACK: [resource.stack.name],
        stack_hints.RESOURCE_NAME: resource.name,
        stack_hints.RESOURCE_UUID: 'uuid',
    }
    for name, value in identifiers.items():
        assert sent[name] == value, f'{name} is forged'
    if key:
        for name in sent:
            reserved = name in _RESERVED or not name.startswith('heat_')
            assert reserved, f'{name} is sent'
        assert signature.Keys(key).signed(sent, 'p1'), 'it is not signed'
    else:
        assert signature.HINT not in sent, 'a signature is sent'
    for name, value in template_hints.items():
        reserved = name in _RESERVED or (key and name.startswith('heat_'))
        if not reserved:
            assert sent[name] == value, f'{name} is another'


def main(count: int) -> None:
    """Ask as often, and print for how many servers hints were sent."""
    asked = 0
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
            key, cls = configured[number % len(configured)]
            template_hints = change(resource, rng, number)
            try:
                sent = cls._scheduler_hints(resource, template_hints) or {}
                check(sent, template_hints or {}, resource, key)
                assert not lines, f'the log has {lines}'
            except Exception as exc:
                exc.add_note(f'{key} {template_hints!r}'[:2000])
                raise
            asked += 1
        anchor.close()
    print(asked)
