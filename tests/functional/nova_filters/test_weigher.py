# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The servers of a stack, placed by the real scheduler and its weighers."""

import collections
import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from nova.db.api import api as api_db

from demo.nova import engine
from tests.functional.nova_filters import test_scheduler

_OPTION = 'stack_affinity_weight_multiplier'


@contextlib.contextmanager
def statements() -> Iterator[list[str]]:
    """Collect the SELECTs of request specs, by the columns they read."""
    found: list[str] = []

    def record(_conn, _cursor, statement, *_args) -> None:
        if 'FROM request_specs' in statement:
            found.append(statement)

    bind = api_db.get_engine()
    sa.event.listen(bind, 'before_cursor_execute', record)
    try:
        yield found
    finally:
        sa.event.remove(bind, 'before_cursor_execute', record)


class StackTest(test_scheduler.SchedulerTestCase):
    """Twelve servers, four hosts."""

    def setUp(self) -> None:
        super().setUp()
        self.hosts = [self.add_host() for _ in range(4)]
        self.flavor = self.add_flavor({})
        self.scheduler = self.cloud.scheduler(engine.OURS)

    def set_multiplier(self, value: float) -> None:
        """Set the option until the end of the test."""
        group = 'nova_filters'
        engine.CONF.set_override(_OPTION, value, group=group)
        self.addCleanup(engine.CONF.clear_override, _OPTION, group=group)

    def boot_one(self, hints: dict[str, Any] | None) -> str:
        """Return the host of a new server."""
        request = self.cloud.request(self.flavor, self.hosts, hints)
        host = self.cloud.boot(self.scheduler, request).host
        self.assertIsNotNone(host)
        self.cloud.place(request, host)
        return host

    def boot_stack(self, root: str) -> list[int]:
        """Return how many of twelve servers each host got, most first."""
        counts = collections.Counter(dict.fromkeys(self.hosts, 0))
        for _ in range(12):
            counts[self.boot_one({'heat_root_stack_id': [root]})] += 1
        return sorted(counts.values(), reverse=True)

    def test_a_negative_multiplier_spreads_a_stack(self) -> None:
        self.set_multiplier(-100.0)
        self.assertEqual([3, 3, 3, 3], self.boot_stack('a'))

    def test_a_positive_multiplier_packs_a_stack(self) -> None:
        self.set_multiplier(100.0)
        self.assertEqual([12, 0, 0, 0], self.boot_stack('a'))

    def test_stacks_do_not_see_each_other(self) -> None:
        self.set_multiplier(-100.0)
        for root in ('a', 'b'):
            self.assertEqual([3, 3, 3, 3], self.boot_stack(root))

    def test_an_aggregate_overrides_the_option(self) -> None:
        self.set_multiplier(100.0)
        self.add_aggregate(self.hosts, {_OPTION: '-100'})
        self.scheduler = self.cloud.scheduler(engine.OURS)
        self.assertEqual([3, 3, 3, 3], self.boot_stack('a'))

    def test_the_weigher_has_no_say_without_a_stack(self) -> None:
        self.set_multiplier(-100.0)
        self.boot_stack('a')
        for hints in (None, {}, {'heat_root_stack_id': ['', 'x']}):
            request = self.cloud.request(self.flavor, self.hosts, hints)
            self.assertEqual({0.0}, set(self.weigh(request)))

    def weigh(self, request: Any) -> list[float]:
        """Return the raw weights of the four hosts."""
        manager = self.scheduler.host_manager
        states = manager.get_host_states_by_uuids(
            self.cloud.context, None, request
        )
        weighed = [
            manager.weight_handler.object_class(state, 0.0)
            for state in states
            if state.host in self.hosts
        ]
        return self.weigher().weigh_objects(weighed, request)

    def weigher(self) -> Any:
        """Return the scheduler's weigher."""
        return next(
            weigher
            for weigher in self.scheduler.host_manager.weighers
            if type(weigher).__name__ == 'StackAffinityWeigher'
        )

    def test_stacks_are_read_once(self) -> None:
        self.boot_stack('a')
        request = self.cloud.request(
            self.flavor, self.hosts, {'heat_root_stack_id': ['a']}
        )
        self.scheduler = self.cloud.scheduler(engine.OURS)
        with statements() as cold:
            weights = self.weigh(request)
        with statements() as warm:
            self.assertEqual(sorted(weights), sorted(self.weigh(request)))
        self.assertEqual(12.0, sum(weights))
        self.assertEqual((1, 0), (len(cold), len(warm)))

    def test_a_database_that_fails_costs_the_weigher_its_say_only(
        self,
    ) -> None:
        self.boot_stack('a')
        self.scheduler = self.cloud.scheduler(engine.OURS)
        request = self.cloud.request(
            self.flavor, self.hosts, {'heat_root_stack_id': ['a']}
        )

        def fail(_conn, _cursor, statement, *_args) -> None:
            if 'FROM request_specs' in statement:
                raise RuntimeError('the database is gone')

        bind = api_db.get_engine()
        sa.event.listen(bind, 'before_cursor_execute', fail)
        self.addCleanup(sa.event.remove, bind, 'before_cursor_execute', fail)
        logger = 'nova_filters.weighers.stack_affinity'
        with self.assertLogs(logger, logging.WARNING) as logs:
            boot = self.cloud.boot(self.scheduler, request)
        self.assertIn(boot.host, self.hosts)
        self.assertEqual(1, len(logs.records))
        self.assertIn('the database is gone', logs.output[0])
