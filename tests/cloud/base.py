# SPDX-License-Identifier: Apache-2.0

"""What the tests on the cloud share: its APIs, its databases, their wishes."""

import functools
import json
import pathlib
import uuid
from collections.abc import Callable, Iterable

import testtools
from openstack.compute.v2 import server as compute_server
from testtools import content

from tests.cloud import cleaning, clients, layout, logs, mariadb, readiness

ONE, TWO = (region.name for region in layout.REGIONS)

#: How long a test waits for anything before it gives up, in seconds. Nothing
#: takes as long if all goes well.
PATIENCE = 100.0

Server = compute_server.Server


class CloudTest(testtools.TestCase):
    """A test on the cloud, which it leaves as empty as it found it.

    When it fails, what the services logged as errors meanwhile is shown.
    """

    #: Where a test works that is about one region.
    region = ONE

    def setUp(self) -> None:
        super().setUp()
        self.addOnException(functools.partial(self.show_logs, logs.sizes()))
        self.user = {
            region.name: clients.connect(region.name, layout.USER)
            for region in layout.REGIONS
        }
        self.admin = {
            region.name: clients.connect(region.name)
            for region in layout.REGIONS
        }
        # The last thing that is done, when what a test made is gone.
        self.addCleanup(self.assert_nothing_left)

    def show_logs(self, before: dict[pathlib.Path, int], _: object) -> None:
        """Add the errors in the logs to what is said of the test.

        :param before: how long the logs were when it began.
        """
        lines = '\n'.join(logs.errors_since(before))
        self.addDetail('errors in the logs', content.text_content(lines))

    # What is there, by three sources.

    def servers(self, region: str) -> dict[str, Server]:
        """Return the servers of a region as Nova lists them, by id."""
        compute = self.admin[region].compute
        return {one.id: one for one in compute.servers(all_projects=True)}

    def request_spec(self, region: str, server: str) -> dict | None:
        """Return what the scheduler was asked for, from Nova's API database.

        :param region: whose database.
        :param server: the server's id.
        :returns: the content of the row; None when there is none.
        """
        rows = mariadb.query(
            f'nova_api_{region}',
            'SELECT spec FROM request_specs WHERE instance_uuid = %s',
            server,
        )
        if not rows:
            return None
        return json.loads(rows[0][0])['nova_object.data']

    def hints(self, region: str, server: str) -> dict[str, list[str]]:
        """Return the scheduler hints that Nova has stored for a server."""
        spec = self.request_spec(region, server)
        assert spec is not None
        return spec['scheduler_hints'] or {}

    def assert_nothing_left(self) -> None:
        """Fail if anything of a test is still on the cloud.

        What is there is thrown away, so that the next test has a chance.
        """
        try:
            readiness.wait_until(self.check_nothing_left, 30)
            self.assertEqual([], cleaning.definitions())
        except (readiness.NotReady, AssertionError) as exc:
            try:
                cleaning.sweep()
            finally:
                self.fail(str(exc))

    def check_nothing_left(self) -> None:
        """Raise unless the cloud is empty, save for what is only defined.

        :raises AssertionError: says what is there.
        """
        for region in (ONE, TWO):
            self.assertEqual({}, self.servers(region), region)
            self.assertEqual(
                [],
                mariadb.query(
                    f'placement_{region}',
                    'SELECT consumer_id FROM allocations',
                ),
                f'Placement of {region} has allocations of nobody',
            )
        for table in ('cluster', 'node', 'receiver'):
            self.assertEqual(
                [],
                mariadb.query(
                    'senlin',
                    f'SELECT name, status FROM `{table}`'  # noqa: S608
                    if table != 'receiver'
                    else 'SELECT name FROM receiver',
                ),
                f'Senlin has a {table}',
            )
        self.assertEqual(
            [],
            mariadb.query(
                'senlin', 'SELECT cluster_id, action_ids FROM cluster_lock'
            ),
            'Senlin has a locked cluster',
        )
        self.assertEqual(
            [],
            mariadb.query(
                'heat',
                'SELECT name, status FROM stack WHERE deleted_at IS NULL',
            ),
            'Heat has a stack',
        )

    # Waiting.

    def wait_for(
        self, check: Callable[[], object], timeout: float = PATIENCE
    ) -> None:
        """Wait until a check raises nothing.

        :param check: asks for something.
        :param timeout: seconds before the test fails.
        """
        try:
            readiness.wait_until(check, timeout)
        except readiness.NotReady as exc:
            self.fail(str(exc))

    def wait_for_servers(
        self, region: str, servers: Iterable[str]
    ) -> dict[str, Server]:
        """Wait until servers run, or have failed.

        :param region: where they are.
        :param servers: their ids.
        :returns: the servers by id; those that failed with their fault.
        """
        wanted = list(servers)
        found = {}

        def check_ended() -> None:
            found.update(self.servers(region))
            states = {one: found[one].status for one in wanted}
            self.assertLessEqual(set(states.values()), {'ACTIVE', 'ERROR'})

        self.wait_for(check_ended)
        compute = self.admin[region].compute
        return {
            # A list does not say what went wrong.
            one: found[one]
            if found[one].status == 'ACTIVE'
            else compute.get_server(one)
            for one in wanted
        }


def unique(word: str) -> str:
    """Return a name that nothing else has."""
    return f'{word}-{uuid.uuid4().hex[:8]}'
