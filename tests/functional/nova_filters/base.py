# SPDX-License-Identifier: Apache-2.0

"""A cloud for the tests of the filters and of the weighers."""

import collections
import contextlib
import functools
import itertools
import logging
import unittest
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import sqlalchemy as sa
from nova import objects
from nova.db.api import api as api_db
from nova.scheduler import weights
from oslo_utils import uuidutils
from sqlalchemy import engine as sa_engine

from testing.nova import engine

#: What switches the check of the metadata on.
ON = {'force_metadata_check': 'True'}
#: The option of the stacks' weigher.
MULTIPLIER = 'stack_affinity_weight_multiplier'
#: What it takes to win over Nova's weighers, as the documentation says.
STRONG = 10.0

# What the tests look at they catch; the rest is not for the terminal.
logging.getLogger().addHandler(logging.NullHandler())


@functools.cache
def cloud() -> engine.Cloud:
    """Return the cloud of this process: Nova's databases are global."""
    return engine.Cloud()


def loaded_filter() -> Any:
    """Return the filter as a new scheduler has loaded it."""
    return cloud().scheduler(engine.OURS).host_manager.enabled_filters[-1]


@contextlib.contextmanager
def listening(
    listener: Callable[[str], object], bind: Any = sa_engine.Engine
) -> Iterator[None]:
    """Have a function called with each statement to a database meanwhile.

    :param bind: the database; by default, any.
    """

    def call(_conn, _cursor, statement, *_args) -> None:
        # Not what concerns SQLite's connection alone.
        if statement not in ('BEGIN', 'SELECT 1'):
            listener(statement)

    sa.event.listen(bind, 'before_cursor_execute', call)
    try:
        yield
    finally:
        sa.event.remove(bind, 'before_cursor_execute', call)


def failing(words: str, cause: Exception, bind: Any = None) -> Any:
    """Have a database fail meanwhile, if words stand in a statement.

    :param bind: by default, the API database.
    """

    def fail(statement: str) -> None:
        if words in statement:
            raise sa.exc.OperationalError(statement, {}, cause)

    return listening(fail, bind or api_db.get_engine())


@contextlib.contextmanager
def without_rows(bind: Any, model: Any, condition: Any) -> Iterator[None]:
    """Remove the rows of a table that meet a condition meanwhile."""
    table = model.__table__
    with bind.begin() as connection:
        query = sa.select(table).where(condition)
        rows = [dict(row) for row in connection.execute(query).mappings()]
        connection.execute(sa.delete(table).where(condition))
    try:
        yield
    finally:
        with bind.begin() as connection:
            if rows:
                connection.execute(sa.insert(table), rows)


def change(model: Any, **values: Any) -> None:
    """Change all rows of a table of the API database."""
    with api_db.get_engine().begin() as connection:
        connection.execute(sa.update(model.__table__).values(**values))


def of_stack(root: str) -> dict[str, Any]:
    """Return the hints of a server of a stack, as Heat's own option does."""
    return {'heat_root_stack_id': root, 'heat_resource_name': 'server'}


class OptionTestCase(unittest.TestCase):
    """Nova's options, until the end of the test."""

    def set_option(
        self, name: str, value: Any, group: str = 'nova_filters'
    ) -> None:
        """Set an option until the end of the test."""
        engine.CONF.set_override(name, value, group=group)
        self.addCleanup(engine.CONF.clear_override, name, group=group)


class CloudTestCase(OptionTestCase):
    """Aggregates, flavors and servers of its own for each test."""

    hosts: list[str]

    def setUp(self) -> None:
        super().setUp()
        self.cloud = cloud()
        self.addCleanup(self.cloud.clear)
        self._numbers = itertools.count()
        self._hosts = itertools.count()

    def restart(self) -> None:
        """Start a scheduler that has the options of now, and knows nothing."""
        self.scheduler = self.cloud.scheduler(engine.OURS)

    def add_host(self, *metadata: dict[str, str]) -> str:
        """Return a host, in one new aggregate per metadata.

        The hosts themselves serve all tests: making one takes time.
        """
        host = f'host-{next(self._hosts)}'
        if host not in self.cloud.hosts:
            self.cloud.add_host(host)
        for data in metadata:
            self.add_aggregate([host], data)
        return host

    def add_aggregate(self, hosts: list[str], metadata: dict[str, str]) -> Any:
        name = f'aggregate-{next(self._numbers)}'
        return self.cloud.add_aggregate(name, hosts, metadata)

    def add_flavor(self, extra_specs: dict[str, str]) -> Any:
        return self.cloud.add_flavor(
            f'flavor-{next(self._numbers)}', extra_specs
        )

    def states(self, request: Any) -> list[Any]:
        """Return what the scheduler knows of the test's hosts, in order."""
        states = self.cloud.states(self.scheduler, request)
        by_host = {state.host: state for state in states}
        return [by_host[host] for host in self.hosts]

    def choose(self, request: Any) -> str:
        states = self.states(request)
        best, *_ = self.scheduler._get_sorted_hosts(request, states, 0)
        return best.host

    def choose_all(self, requests: Iterable[Any]) -> list[int]:
        """Return for how many requests each of the hosts is chosen."""
        chosen = collections.Counter(map(self.choose, requests))
        return [chosen[host] for host in self.hosts]


class StackTestCase(CloudTestCase):
    """Four hosts, and the servers of stacks."""

    def setUp(self) -> None:
        super().setUp()
        self.hosts = [self.add_host() for _ in range(4)]
        self.flavor = self.add_flavor({})
        self.restart()
        # By default, the weigher is off.
        self.set_option(MULTIPLIER, -STRONG)

    def set_option(
        self, name: str, value: Any, group: str = 'nova_filters'
    ) -> None:
        """Set an option until the end of the test.

        For a multiplier, start a scheduler, which reads it only then.
        """
        super().set_option(name, value, group)
        if name.endswith('_multiplier') and hasattr(self, 'scheduler'):
            self.restart()

    def request(self, hints: Any, project: str = 'p1', group: Any = None):
        return self.cloud.request(
            self.flavor, self.hosts, hints, project, group=group
        )

    def place(self, hints: Any, *counts: int, project: str = 'p1') -> None:
        """Run so many servers with these hints on each of the hosts."""
        for host, count in zip(self.hosts, counts, strict=False):
            for _ in range(count):
                self.cloud.place(self.request(hints, project), host)

    def see(self, request: Any) -> Any:
        """Return the members that count for the request's team."""
        weigher, states = self.weigher(), self.states(request)
        return weigher.count_members(
            weigher.find_team(request), states, request
        )

    def members(self, request: Any) -> list[int]:
        """Return how many members of the stack each of the hosts has."""
        counts = self.cloud.members(self.scheduler, request)
        return [counts[host] for host in self.hosts]

    def weigh(self, request: Any, states: Any = None) -> list[float]:
        weighed = [
            weights.WeighedHost(state, 0.0)
            for state in (states or self.states(request))
        ]
        return self.weigher().weigh_objects(weighed, request)

    def add_cell(self, url: str, uuid: str = '') -> Any:
        """Return a new cell, which has no hosts."""
        cell = objects.CellMapping(
            self.cloud.context,
            uuid=uuid or uuidutils.generate_uuid(),
            name='cell2',
            transport_url='none:///',
            database_connection=url,
        )
        cell.create()
        self.addCleanup(cell.destroy)
        return cell

    def weigher(self) -> Any:
        return engine.stack_weigher(self.scheduler)
