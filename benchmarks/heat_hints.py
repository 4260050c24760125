# SPDX-License-Identifier: Apache-2.0

"""Count and time what stack scheduler hints cost: Heat's option, and the hook.

``python -m benchmarks.heat_hints`` stores nested stacks and groups in the
database of a real heat-engine (SQLite in memory), up to the moment when their
servers would be created. It loads these from the database as the engine does
then, and has both sides make the hints of the same servers. SQL statements are
counted exactly. It needs Heat, and prints what ``doc/source/benchmarks.rst``
shows.
"""

import importlib.metadata
import itertools
import logging
import os
import statistics
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks import common
from testing.heat import templates

DEPTH = 10
MEMBERS = (1, 10, 100, 500)
QUICK_DEPTH = 2
QUICK_MEMBERS = (1, 3)

#: The hints of so many servers of a group are made and timed, one by one.
SAMPLE = 25

#: The name under which Heat loads the module that asks for the hook.
CALLER = 'heat.engine.plugins.heat_hints_resources'

#: Sent by SQLite's connection, whoever asks: not a question of either side.
_BOOKKEEPING = ('BEGIN', 'SELECT 1')

#: Heat's own option; the hook that knows no stack, and the hook that does.
SIDES = ('in-tree', 'cold', 'warm')
HEADS = (
    'servers in',
    'members',
    'stacks above',
    *(f'SQL: {side}' for side in SIDES),
    *(f'ms: {side}' for side in SIDES),
    'ratio',
)

#: Makes the hints of one resource.
Make = Callable[[Any], Any]
#: A server that is stored: its name, its stack's id, how many stacks are
#: above that.
Server = tuple[str, str, int]


class Bench:
    """A heat-engine with the hook, and the stacks in its database."""

    def __init__(self) -> None:
        """Start Heat in this process."""
        # Chooses the concurrency of the process and needs Heat: not before
        # it is wanted.
        import sqlalchemy

        from testing.heat import engine, loopback

        #: The statements of this thread, while they are counted.
        self._statements: list[str] | None = None
        self._thread = threading.get_ident()
        # While nobody sends statements: SQLAlchemy is not locked here.
        sqlalchemy.event.listen(
            sqlalchemy.engine.Engine, 'before_cursor_execute', self._record
        )
        settings = {
            'DEFAULT': {
                'stack_scheduler_hints': 'true',
                'max_resources_per_stack': '-1',
                'max_nested_stack_depth': str(DEPTH + 2),
            },
            'heat_hints': {'enabled': 'true'},
        }
        self.cloud = loopback.Cloud()
        self.engine = engine.Engine(self.cloud.url, settings)
        self.context = self.engine.context('benchmark')

    def _record(self, _conn: Any, _cursor: Any, text: str, *_: Any) -> None:
        ours = threading.get_ident() == self._thread
        if self._statements is None or not ours:
            return
        if text not in _BOOKKEEPING:
            self._statements.append(text)

    def store(
        self, name: str, data: dict[str, Any], files: dict[str, Any]
    ) -> list[Server]:
        """Store a stack and all that are nested in it, with Heat's classes.

        :param files: the templates of nested stacks by name.
        :returns: the servers.
        """
        from heat.engine import stack, template

        made = template.Template(data, files=templates.texts(files))
        return list(self._stored(stack.Stack(self.context, name, made), 0))

    def _stored(self, held: Any, depth: int) -> Iterator[Server]:
        """Store one stack, then those in it; yield the servers of all."""
        from heat.engine.resources import stack_resource

        held.store()
        for resource in held.values():
            resource.store()
            if isinstance(resource, stack_resource.StackResource):
                # What Heat does with it in the engine that it asks for it.
                nested = resource._parse_nested_stack(
                    f'{held.name}-{resource.name}',
                    resource.child_template(),
                    resource.child_params(),
                )
                servers = list(self._stored(nested, depth + 1))
                resource.resource_id_set(nested.id)
                yield from servers
            else:
                yield resource.name, held.id, depth

    def hook(self) -> Make:
        """Return the hook's way to make hints, with an empty memory."""
        from oslo_config import cfg

        from heat_hints import hook, overrides

        made = overrides.build(cfg.CONF, CALLER, hook.tell)['OS::Nova::Server']
        return lambda resource: made._scheduler_hints(resource, {})

    def in_tree(self) -> Make:
        """Return the way of Heat's own option."""
        from heat.engine.resources import scheduler_hints

        mixin = scheduler_hints.SchedulerHintsMixin
        return lambda resource: mixin._scheduler_hints(resource, {})

    def cost(
        self, servers: Sequence[Server], ways: Iterator[Make]
    ) -> tuple[int, float, list[Any]]:
        """Make the hints of some servers, each in its way.

        :returns: how many statements one server takes, the most of all; the
            median of the seconds; and the hints.
        """
        from heat.engine import stack

        counts = []
        times = []
        hints = []
        for (name, stack_id, _), hints_for in zip(servers, ways, strict=False):
            # As Heat's engine of today does: with its stack.
            held = stack.Stack.load(self.context, stack_id=stack_id)
            resource = held[name]
            statements: list[str] = []
            self._statements = statements
            start = time.thread_time()
            hints.append(hints_for(resource))
            times.append(time.thread_time() - start)
            self._statements = None
            counts.append(len(statements))
        return max(counts), statistics.median(times), hints

    def row(
        self, kind: str, members: int, servers: Sequence[Server]
    ) -> tuple[Any, ...]:
        """Compare both sides on servers of one depth.

        :param kind: what the stack is made of.
        :param members: how many members its group has; 1 without a group.
        :returns: what stands under each head.
        :raises common.BenchmarkError: when the two sides do not say the same.
        """
        sample = list(servers[:: max(1, len(servers) // SAMPLE)])[:SAMPLE]
        # Few servers are asked about as often as many.
        sample *= -(-SAMPLE // len(sample))
        warm = itertools.repeat(self.hook())
        self.cost(sample, warm)
        cold = (self.hook() for _ in sample)
        ways = itertools.repeat(self.in_tree()), cold, warm
        counts, times, hints = zip(
            *(self.cost(sample, way) for way in ways), strict=True
        )
        if hints[0] != hints[1] or hints[0] != hints[2]:
            raise common.BenchmarkError(
                f'{kind}: the two sides send other hints.'
            )
        return (
            kind,
            members,
            servers[0][2],
            *counts,
            *(f'{taken * 1e3:.3f}' for taken in times),
            f'{times[0] / times[2]:.1f}',
        )


def chain(depth: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a template, and its files, with a server at each depth."""
    below = templates.template(server=templates.server())
    files = {}
    for level in range(depth, 0, -1):
        files[f'level{level}.yaml'] = below
        below = templates.template(
            server=templates.server(), nested={'type': f'level{level}.yaml'}
        )
    return below, files


def measure(
    bench: Bench, depth: int, members: Sequence[int]
) -> Iterator[tuple[Any, ...]]:
    """Run everything, and yield the rows."""
    common.say(f'stacks, nested {depth} deep')
    servers = bench.store('chain', *chain(depth))
    for level in range(depth + 1):
        at_level = [stored for stored in servers if stored[2] == level]
        yield bench.row('nested stacks', 1, at_level)
    server = templates.server()
    files = {'member.yaml': templates.template(server=server)}
    for count in members:
        for kind, member in (
            ('group of servers', server),
            ('group of stacks', {'type': 'member.yaml'}),
        ):
            common.say(f'{kind}: {count}')
            data = templates.template(group=templates.group(count, member))
            name = f'{kind} {count}'.replace(' ', '-')
            yield bench.row(kind, count, bench.store(name, data, files))


def run(quick: bool) -> str:
    """Measure everything and return the report."""
    # Heat's own words would come between the lines.
    logging.getLogger().addHandler(logging.NullHandler())
    sizes = (QUICK_DEPTH, QUICK_MEMBERS) if quick else (DEPTH, MEMBERS)
    version = importlib.metadata.version('openstack-heat')
    rows = measure(Bench(), *sizes)
    report = [
        common.machine(f'Heat {version}'),
        '',
        "The hints of one server, by Heat's own option (in-tree) and by the "
        'hook, when it knows',
        'no stack (cold) and when it knows this one (warm): SQL statements, '
        'milliseconds of',
        'processor time (median); ratio: in-tree / warm',
        common.table(HEADS, rows, 'servers in'),
    ]
    return '\n'.join(report)


if __name__ == '__main__':
    try:
        code = common.command(
            'Heat',
            "Count SQL statements and time that Heat's own option "
            'stack_scheduler_hints and the hook of this package take for each '
            'server. Takes a few minutes.',
            f'only {QUICK_DEPTH} levels and groups of {max(QUICK_MEMBERS)}: '
            'a few seconds',
            run,
        )
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    # The engine's threads would keep the process.
    os._exit(code)
