# SPDX-License-Identifier: Apache-2.0

"""Count and time what stack scheduler hints cost: Heat's option, and the hook.

``python -m benchmarks.heat_hints`` stores nested stacks and groups in the
database of a real heat-engine (SQLite in memory), up to the moment when their
servers would be created. It loads these from the database as the engine does
then, and has both sides make the hints of the same servers. SQL statements are
counted exactly. It needs Heat, and prints what ``doc/source/benchmarks.rst``
shows.
"""

import contextlib
import dataclasses
import importlib.metadata
import logging
import os
import statistics
import sys
import threading
import time
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

PROJECT = 'benchmark'

#: The name under which Heat loads the module that asks for the hook.
CALLER = 'heat.engine.plugins.heat_hints_resources'

CHAIN = 'nested stacks'
SERVERS = 'group of servers'
STACKS = 'group of stacks'

#: Sent by SQLite's connection, whoever asks: not a question of either side.
_BOOKKEEPING = ('BEGIN', 'SELECT 1')


@dataclasses.dataclass(frozen=True)
class Server:
    """A server that is stored and not created yet.

    :param name: the resource's name in its stack.
    :param stack_id: the id of that stack.
    :param depth: how many stacks are above that.
    """

    name: str
    stack_id: str
    depth: int


@dataclasses.dataclass(frozen=True)
class Cost:
    """What making the hints of one server costs.

    :param statements: how many SQL statements it takes: the most that any
        server of the sample took.
    :param columns: how many columns those read.
    :param seconds: processor time, the median of the sample.
    """

    statements: int
    columns: int
    seconds: float


@dataclasses.dataclass(frozen=True)
class Row:
    """The servers of one stack, and what their hints cost.

    :param kind: what the stack is made of.
    :param members: how many members its group has; 1 without a group.
    :param depth: how many stacks are above the servers' own.
    :param in_tree: with Heat's own option.
    :param cold: with the hook, when no stack is known.
    :param warm: with the hook, when the stack is known.
    """

    kind: str
    members: int
    depth: int
    in_tree: Cost
    cold: Cost
    warm: Cost

    @property
    def ratio(self) -> float:
        """How many times as long Heat's own option takes."""
        return self.in_tree.seconds / self.warm.seconds


def columns(statement: str) -> int:
    """Return how many columns a SELECT reads; 0 for other statements."""
    if not statement.startswith('SELECT '):
        return 0
    return statement.partition('FROM')[0].count(',') + 1


class Bench:
    """A heat-engine with the hook, and the stacks in its database."""

    def __init__(self) -> None:
        """Start Heat in this process."""
        # Chooses the concurrency of the process and needs Heat: not before
        # it is wanted.
        import sqlalchemy

        from testing.heat import engine, loopback

        self._found: list[str] | None = None
        self._thread = threading.get_ident()
        # While nobody sends statements: SQLAlchemy is not locked here.
        sqlalchemy.event.listen(
            sqlalchemy.engine.Engine, 'before_cursor_execute', self._record
        )
        self.cloud = loopback.Cloud()
        self.engine = engine.Engine(
            self.cloud.url,
            {
                'DEFAULT': {
                    'stack_scheduler_hints': 'true',
                    'max_resources_per_stack': '-1',
                    'max_nested_stack_depth': str(DEPTH + 2),
                },
                'heat_hints': {'enabled': 'true'},
            },
        )
        self.context = self.engine.context(PROJECT)

    def _record(self, _conn: Any, _cursor: Any, text: str, *_: Any) -> None:
        if self._found is None or threading.get_ident() != self._thread:
            return
        if text not in _BOOKKEEPING:
            self._found.append(text)

    @contextlib.contextmanager
    def counted(self) -> Iterator[list[str]]:
        """Collect the statements that this thread sends meanwhile."""
        found: list[str] = []
        self._found = found
        yield found
        self._found = None

    def store(
        self, name: str, data: dict[str, Any], **files: dict[str, Any]
    ) -> list[Server]:
        """Store a stack and all that are nested in it, with Heat's classes.

        :param files: the templates of nested stacks by name.
        :returns: the servers.
        """
        from heat.engine import stack, template

        texts = templates.texts(files)
        root = stack.Stack(
            self.context, name, template.Template(data, files=texts)
        )
        return list(self._stored(root, 0))

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
                yield Server(resource.name, held.id, depth)

    @contextlib.contextmanager
    def loaded(self, server: Server) -> Iterator[Any]:
        """Load one server as Heat's engine of today does: with its stack.

        :returns: Heat's resource, whose stack lives as long.
        """
        from heat.engine import stack

        held = stack.Stack.load(self.context, stack_id=server.stack_id)
        # Of others the provider is not told the siblings.
        held.convergence = True
        yield held[server.name]

    def hook(self) -> Callable[[Any], Any]:
        """Return the hook's way to make hints, with an empty memory."""
        from oslo_config import cfg

        from heat_hints import hook, overrides

        made = overrides.build(cfg.CONF, CALLER, hook.tell)['OS::Nova::Server']
        return lambda resource: made._scheduler_hints(resource, {})

    def in_tree(self, resource: Any) -> Any:
        """Make hints in the way of Heat's own option."""
        from heat.engine.resources import scheduler_hints

        own = scheduler_hints.SchedulerHintsMixin
        return own._scheduler_hints(resource, {})

    def cost(
        self,
        servers: Sequence[Server],
        make: Callable[[], Callable[[Any], Any]],
        results: dict[Server, Any],
    ) -> Cost:
        """Make the hints of some servers, one by one.

        :param make: gives, for each server, the way to make its hints.
        :param results: receives the hints by server.
        """
        counts, widths, times = [], [], []
        for server in servers:
            hints_for = make()
            with self.loaded(server) as resource, self.counted() as found:
                start = time.thread_time()
                hints = hints_for(resource)
                times.append(time.thread_time() - start)
            results[server] = hints
            counts.append(len(found))
            widths.append(sum(map(columns, found)))
        return Cost(max(counts), max(widths), statistics.median(times))

    def row(self, kind: str, members: int, servers: Sequence[Server]) -> Row:
        """Compare both sides on servers of one depth.

        :param kind: what the stack is made of.
        :raises common.BenchmarkError: when the two sides do not say the same.
        """
        step = max(1, len(servers) // SAMPLE)
        sample = list(servers[::step])[:SAMPLE]
        # Few servers are asked about as often as many.
        sample *= -(-SAMPLE // len(sample))
        made: list[dict[Server, Any]] = [{}, {}, {}]
        in_tree = self.cost(sample, lambda: self.in_tree, made[0])
        cold = self.cost(sample, self.hook, made[1])
        hook = self.hook()
        for server in {server.stack_id: server for server in sample}.values():
            with self.loaded(server) as resource:
                hook(resource)
        warm = self.cost(sample, lambda: hook, made[2])
        if made[0] != made[1] or made[0] != made[2]:
            raise common.BenchmarkError(
                f'{kind}: the two sides send other hints.'
            )
        return Row(kind, members, servers[0].depth, in_tree, cold, warm)


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


def measure(bench: Bench, *, depth: int, members: Sequence[int]) -> list[Row]:
    """Run everything."""
    common.say(f'stacks, nested {depth} deep')
    data, files = chain(depth)
    servers = bench.store('chain', data, **files)
    rows = [
        bench.row(CHAIN, 1, [one for one in servers if one.depth == level])
        for level in range(depth + 1)
    ]
    server = templates.server()
    stack = {'type': 'member.yaml'}
    files = {'member.yaml': templates.template(server=templates.server())}
    for count in members:
        common.say(
            f'groups of {count} servers, and of {count} stacks with a server'
        )
        for kind, data in (
            (SERVERS, templates.group(count, server)),
            (STACKS, templates.group(count, stack)),
        ):
            name = f'{kind} {count}'.replace(' ', '-')
            servers = bench.store(
                name, templates.template(group=data), **files
            )
            rows.append(bench.row(kind, count, servers))
    return rows


def report(rows: Sequence[Row]) -> str:
    """Return the table as text."""
    sides = {'in-tree': 'in_tree', 'cold': 'cold', 'warm': 'warm'}
    heads = ['servers in', 'members', 'stacks above']
    heads += [f'SQL: {side}' for side in sides]
    heads += [f'columns: {side}' for side in ('in-tree', 'cold')]
    heads += [f'ms: {side}' for side in sides]
    cells = [
        [
            *(row.kind, row.members, row.depth),
            *(getattr(row, name).statements for name in sides.values()),
            *(row.in_tree.columns, row.cold.columns),
            *(
                f'{getattr(row, name).seconds * 1e3:.3f}'
                for name in sides.values()
            ),
            f'{row.ratio:.1f}',
        ]
        for row in rows
    ]
    return '\n'.join(
        [
            machine(),
            '',
            "The hints of one server, by Heat's own option (in-tree) and by "
            'the hook, when it knows',
            'no stack (cold) and when it knows this one (warm): SQL '
            'statements, columns they read,',
            'milliseconds of processor time (median); ratio: in-tree / warm',
            common.table([*heads, 'ratio'], cells, 'servers in'),
        ]
    )


def machine() -> str:
    """Say in one line what all this ran on."""
    version = importlib.metadata.version('openstack-heat')
    return common.machine(f'Heat {version}')


def run(quick: bool) -> tuple[str, dict[str, Any]]:
    """Measure everything."""
    # Heat's own words would come between the lines.
    logging.getLogger().addHandler(logging.NullHandler())
    depth, members = (
        (QUICK_DEPTH, QUICK_MEMBERS) if quick else (DEPTH, MEMBERS)
    )
    rows = measure(Bench(), depth=depth, members=members)
    found = [dataclasses.asdict(row) for row in rows]
    return report(rows), {'machine': machine(), 'rows': found}


if __name__ == '__main__':
    # The engine's threads would keep the process.
    code = common.EXIT_FAILED
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
    except SystemExit as exc:
        # From argparse: 0 after --help, 2 for a wrong call.
        code = int(exc.code or 0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
