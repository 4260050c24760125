# SPDX-License-Identifier: Apache-2.0

"""What the tests on the cloud share: its APIs, its databases, their wishes."""

import functools
import json
import pathlib
import signal
import uuid
from collections.abc import Iterable

import testtools
from openstack.compute.v2 import server as compute_server
from testtools import content

from tests.cloud import (
    layout,
    logs,
    mariadb,
    processes,
    readiness,
)

ONE, TWO = (region.name for region in layout.REGIONS)

Server = compute_server.Server

#: A login and the looks at what there is are made once for all tests.
connect = functools.cache(layout.connect)


class CloudTest(testtools.TestCase):
    """A test on the cloud.

    When it fails, what the services logged as errors meanwhile is shown.
    """

    #: Where a test works that is about one region.
    region = ONE

    def setUp(self) -> None:
        super().setUp()
        self.addOnException(functools.partial(self.show_logs, logs.sizes()))
        self.user = {
            region.name: connect(region.name, layout.USER)
            for region in layout.REGIONS
        }
        self.admin = {
            region.name: connect(region.name) for region in layout.REGIONS
        }

    def pause(self, *names: str) -> None:
        """Stop services where they are, at most until the test ends."""
        self.addCleanup(self.go_on, *names)
        for name in names:
            processes.send(signal.SIGSTOP, name)

    @staticmethod
    def go_on(*names: str) -> None:
        """Let services that were stopped go on."""
        for name in names:
            processes.send(signal.SIGCONT, name)

    #: Wait for an end state.
    wait_for = staticmethod(readiness.wait_until)

    def show_logs(self, before: dict[pathlib.Path, int], _: object) -> None:
        """Add the errors in the logs to what is said of the test."""
        lines = '\n'.join(logs.errors(before))
        self.addDetail('errors in the logs', content.text_content(lines))

    def servers(self, region: str) -> dict[str, Server]:
        """Return the servers of a region as Nova lists them, by id."""
        compute = self.admin[region].compute
        servers = compute.servers(all_projects=True)
        return {server.id: server for server in servers}

    def request_spec(self, region: str, server: str) -> dict | None:
        """Return what the scheduler was asked for, from Nova's API database.

        :returns: the content of the row; None when there is none.
        """
        rows = mariadb.query(
            f'nova_api_{region}',
            'SELECT spec FROM request_specs WHERE instance_uuid = %s',
            server,
        )
        return json.loads(rows[0][0])['nova_object.data'] if rows else None

    def hints(self, region: str, server: str) -> dict[str, list[str]]:
        """Return the scheduler hints that Nova has stored for a server."""
        spec = self.request_spec(region, server)
        assert spec is not None
        return spec['scheduler_hints'] or {}


def instances(
    region: str, servers: Iterable[str], condition: str = 'TRUE'
) -> set[str]:
    """Return which of some servers Nova's databases have."""
    ids: set[str] = set()
    for cell in ('nova', 'nova_cell0'):
        rows = mariadb.query(
            f'{cell}_{region}',
            f'SELECT uuid FROM instances WHERE deleted = 0 AND {condition}'  # noqa: S608
            ' AND uuid IN %s',
            # SQL knows no empty list.
            ['', *servers],
        )
        ids.update(server for (server,) in rows)
    return ids


def unique(word: str) -> str:
    """Return a name that nothing else has."""
    return f'{word}-{uuid.uuid4().hex[:8]}'
