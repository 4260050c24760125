# SPDX-License-Identifier: Apache-2.0

"""Count and time what stack scheduler hints cost: Heat's option, and the hook.

``python -m benchmarks.heat_hints`` stores stacks in the database of a real
heat-engine (SQLite in memory), up to the moment when their servers would be
created. Both sides then make the hints of the same servers.
"""

import itertools
import logging
import os
import statistics
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import common
from testing.heat import templates

#: Levels of nested stacks, and the members of a group of stacks.
LEVELS = (0, 1, 5, 10)
MEMBERS = (100, 500)
#: The hints of so many servers are made and timed, one by one.
SAMPLE = 25
HEADS = (
    'server',
    'SQL: in-tree',
    'SQL: cold',
    'SQL: warm',
    'ms: in-tree',
    'ms: cold',
    'ms: warm',
    'in-tree / warm',
)

#: Makes the hints of one resource.
Make = Callable[[Any], Any]
#: A server that is stored: its name, and its stack's id.
Server = tuple[str, str]


class Bench:
    """A heat-engine with the hook, and the stacks in its database."""

    def __init__(self) -> None:
        # It chooses the concurrency of the process, and needs Heat.
        import sqlalchemy

        from testing.heat import engine, loopback

        self._statements: list[str] = []
        # While nobody sends statements: SQLAlchemy is not locked here.
        sqlalchemy.event.listen(
            sqlalchemy.engine.Engine, 'before_cursor_execute', self._record
        )
        settings = {
            'DEFAULT': {
                'stack_scheduler_hints': 'true',
                'max_resources_per_stack': '-1',
                'max_nested_stack_depth': str(max(LEVELS) + 2),
            },
            'heat_hints': {'enabled': 'true'},
        }
        self.engine = engine.Engine(loopback.Cloud().url, settings)
        self.context = self.engine.context('benchmark')

    def _record(self, _conn: Any, _cursor: Any, text: str, *_: Any) -> None:
        in_main_thread = threading.current_thread() is threading.main_thread()
        # SQLite's connection sends these itself.
        if in_main_thread and text not in ('BEGIN', 'SELECT 1'):
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
        return list(self._store_below(stack.Stack(self.context, name, made)))

    def _store_below(self, stack: Any) -> Iterator[Server]:
        """Store a stack and those in it; yield the servers of all."""
        from heat.engine.resources import stack_resource

        stack.store()
        for resource in stack.values():
            resource.store()
            if not isinstance(resource, stack_resource.StackResource):
                yield resource.name, stack.id
                continue
            # What Heat does in the engine that it asks for the stack.
            nested = resource._parse_nested_stack(
                f'{stack.name}-{resource.name}',
                resource.child_template(),
                resource.child_params(),
            )
            yield from self._store_below(nested)
            resource.resource_id_set(nested.id)

    def hook(self) -> Make:
        """Return the hook's way to make hints, with an empty memory."""
        from oslo_config import cfg

        from heat_hints import hook, overrides

        # The name under which Heat loads the module that asks for the hook.
        caller = 'heat.engine.plugins.heat_hints_resources'
        types = overrides.build(cfg.CONF, caller, hook.tell)
        server = types['OS::Nova::Server']
        return lambda resource: server._scheduler_hints(resource, {})

    def in_tree(self) -> Make:
        """Return the way of Heat's own option."""
        from heat.engine.resources import scheduler_hints

        mixin = scheduler_hints.SchedulerHintsMixin
        return lambda resource: mixin._scheduler_hints(resource, {})

    def cost(
        self, servers: list[Server], next_way: Callable[[], Make]
    ) -> tuple[int, float, list[Any]]:
        """Make the hints of some servers.

        :returns: how many statements one server takes, the most of all; the
            median of the milliseconds; and the hints.
        """
        from heat.engine import stack

        counts = []
        times = []
        hints = []
        for name, stack_id in servers:
            make = next_way()
            loaded = stack.Stack.load(self.context, stack_id=stack_id)
            resource = loaded[name]
            self._statements.clear()
            start = time.thread_time()
            hints.append(make(resource))
            times.append(1e3 * (time.thread_time() - start))
            counts.append(len(self._statements))
        return max(counts), statistics.median(times), hints

    def compare(self, kind: str, servers: list[Server]) -> tuple[Any, ...]:
        """Return what stands under each head.

        :raises AssertionError: when the two sides do not say the same.
        """
        some = servers[:: max(1, len(servers) // SAMPLE)]
        # Few servers are asked about as often as many.
        sample = [*itertools.islice(itertools.cycle(some), SAMPLE)]
        in_tree = self.in_tree()
        warm = self.hook()
        self.cost(sample, lambda: warm)
        costs = [
            self.cost(sample, lambda: in_tree),
            self.cost(sample, self.hook),
            self.cost(sample, lambda: warm),
        ]
        counts, times, hints = zip(*costs, strict=True)
        if hints[0] != hints[1] or hints[0] != hints[2]:
            raise AssertionError(f'{kind}: the two sides send other hints.')
        milliseconds = [f'{taken:.3f}' for taken in times]
        return kind, *counts, *milliseconds, f'{times[0] / times[2]:.1f}'


def stacks(
    quick: bool,
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield what each row is about: its title, a template, nested ones."""
    server = templates.server()
    for level in LEVELS[:2] if quick else LEVELS:
        below = templates.template(server=server)
        files = {}
        for number in range(level):
            files[f'{number}.yaml'] = below
            below = templates.template(nested={'type': f'{number}.yaml'})
        yield f'{level} stacks above its own', below, files
    files = {'member.yaml': templates.template(server=server)}
    for count in [] if quick else MEMBERS:
        group = templates.group(count, {'type': 'member.yaml'})
        data = templates.template(group=group)
        yield f'in a group of {count} stacks', data, files


def measure(quick: bool) -> str:
    # Heat's own words would come between the lines.
    logging.getLogger().addHandler(logging.NullHandler())
    bench = Bench()
    rows = []
    for title, data, files in stacks(quick):
        common.say(title)
        servers = bench.store(f'stack-{len(rows)}', data, files)
        rows.append(bench.compare(title, servers))
    return common.table(HEADS, rows)


if __name__ == '__main__':
    code = 1
    try:
        common.command(
            'openstack-heat', __doc__, 'only two rows: a few seconds', measure
        )
        code = 0
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    # The engine's threads would keep the process.
    os._exit(code)
