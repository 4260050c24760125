# SPDX-License-Identifier: Apache-2.0

"""What the tests with clusters share."""

import collections
import contextlib
import functools
import time
from collections.abc import Callable

from openstack import connection, exceptions

from tests.cloud import base, layout, mariadb, readiness

SERVER = 'senlin_plugins.nova.server-1.0'
REGIONS = 'senlin_plugins.policy.region_placement-1.0'
DELETION = 'senlin_plugins.policy.deletion-1.1'

#: Seconds after which Senlin is asked for something else, and again: see
#: :meth:`Senlin.wake`.
FORGOTTEN = 15.0

#: The statuses of an action with which Senlin has something to do.
ACTIVE = ('READY', 'WAITING', 'RUNNING')

#: The statuses of an action that has ended.
ENDED = ('SUCCEEDED', 'FAILED', 'CANCELLED')


class Senlin:
    """Senlin as a user knows it, by its REST API."""

    def __init__(self, user: connection.Connection) -> None:
        self._api = user.clustering

    def get(self, path: str) -> dict:
        """Return what is found under a path behind ``/v1``."""
        return _answer(self._api.get(path)).json()

    def create(self, kind: str, **values: object) -> dict:
        """Make a profile, a policy or a cluster.

        :returns: it, with the id of the action that makes it, if there is
            one, under ``action``.
        """
        answer = _answer(
            self._api.post(f'/{plural(kind)}', json={kind: values})
        )
        return {**answer.json()[kind], 'action': _action_of(answer)}

    def act(self, cluster: str, name: str, **values: object) -> dict:
        """Carry out an action on a cluster, and return it at its end.

        Senlin refuses the request while another action is in the way.
        """
        path = f'/clusters/{cluster}/actions'
        answer = readiness.wait_until(
            lambda: _answer(self._api.post(path, json={name: values})),
            not_yet=exceptions.ConflictException,
        )
        return self.wait(answer.json()['action'])

    def delete(self, path: str) -> str:
        """Delete something; return the action's id, if there is one."""
        return _action_of(_answer(self._api.delete(path)))

    def nodes(self, cluster: str) -> list[dict]:
        """Return the nodes of a cluster, with their data."""
        listed = self.get(f'/nodes?cluster_id={cluster}')['nodes']
        return [self.get(f'/nodes/{node["id"]}')['node'] for node in listed]

    def wait(self, action: str) -> dict:
        """Wait for an action to end, and return it.

        :raises NotReady: when it does not end in time.
        """
        self.wait_until(functools.partial(_check_ended, action))
        return self.get(f'/actions/{action}')['action']

    def wait_until(self, check: Callable[[], None]) -> None:
        """Wait until a check raises nothing, and wake Senlin now and then.

        :raises NotReady: when the time is over, with the check's last words.
        """
        woken = time.monotonic()

        def check_or_wake() -> None:
            nonlocal woken
            try:
                check()
            except Exception:
                if time.monotonic() > woken + FORGOTTEN:
                    # What the check says matters more.
                    with contextlib.suppress(readiness.NotReady):
                        self.wake()
                    woken = time.monotonic()
                raise

        readiness.wait_until(check_or_wake)

    def wake(self) -> None:
        """Ask Senlin for something if an action waits to be looked at.

        Senlin 16.0.0 can forget an action that got no lock, or whose message
        the bus has lost, until the next request, whatever that is about.
        """
        if self.get('/actions?status=READY')['actions']:
            profile = self.get('/profiles')['profiles'][0]['id']
            made = self.create(
                'cluster',
                name='wake',
                profile_id=profile,
                desired_capacity=0,
            )
            # These waits wake nobody: each would begin another one.
            readiness.wait_until(
                functools.partial(_check_ended, made['action'])
            )
            deletion = self.delete(f'/clusters/{made["id"]}')
            readiness.wait_until(functools.partial(_check_ended, deletion))


def plural(kind: str) -> str:
    """Return the name of a collection."""
    return 'policies' if kind == 'policy' else f'{kind}s'


def _answer(response):
    """Return an answer of Senlin's API; raise if it is a refusal."""
    exceptions.raise_from_response(response)
    return response


def _check_ended(action: str) -> None:
    """Raise unless an action has ended."""
    # The database is asked: Senlin's answer takes three processes.
    ((status, name, owner),) = mariadb.query(
        'senlin',
        'SELECT status, action, owner FROM action WHERE id = %s',
        action,
    )
    if status not in ENDED:
        raise readiness.NotReady(f'{name} {action} of {owner} is in {status}')


def _action_of(response) -> str:
    """Return the id of the action that an answer points at."""
    location = response.headers.get('Location', '')
    return location.rpartition('/')[2] if '/actions/' in location else ''


class ClusterTest(base.CloudTest):
    """A test with clusters, which are deleted behind it."""

    def setUp(self) -> None:
        super().setUp()
        self.senlin = Senlin(self.user[base.ONE])

    def make(self, kind: str, type_name: str, **properties: object) -> str:
        """Make a profile or a policy of a type and version; return its id."""
        name, _, version = type_name.rpartition('-')
        spec = {'type': name, 'version': version, 'properties': properties}
        unique = base.unique(kind)
        made = self.senlin.create(kind, name=unique, spec=spec)['id']
        self.addCleanup(self.senlin.delete, f'/{plural(kind)}/{made}')
        return made

    def make_profile(self) -> str:
        """Make a profile of servers without a network; return its id."""
        return self.make(
            'profile',
            SERVER,
            flavor=layout.FLAVOR,
            image=layout.IMAGE,
            networks=[],
        )

    def make_region_policy(self, **regions: dict[str, int]) -> str:
        """Make a region policy; return its id.

        :param regions: weight and cap by name.
        """
        entries = [{'name': name, **more} for name, more in regions.items()]
        return self.make('policy', REGIONS, regions=entries)

    def make_cluster(self, profile: str, *policies: str) -> str:
        """Make an empty cluster with policies attached; return its id."""
        made = self.senlin.create(
            'cluster',
            name=base.unique('cluster'),
            profile_id=profile,
            desired_capacity=0,
        )
        self.addCleanup(self.remove_cluster, made['id'])
        self.assert_succeeds(made['action'])
        for policy in policies:
            self.do(
                made['id'], 'policy_attach', policy_id=policy, enabled=True
            )
        return made['id']

    def do(self, cluster: str, name: str, **values: object) -> dict:
        """Carry out an action on a cluster; it must succeed; return it."""
        action = self.senlin.act(cluster, name, **values)
        self.assert_done(action)
        return action

    def assert_succeeds(self, action_id: str) -> None:
        """Wait for an action, and fail if it does."""
        self.assert_done(self.senlin.wait(action_id))

    def assert_done(self, action: dict) -> None:
        """Fail with the reason of an action unless it succeeded."""
        self.assertEqual(
            'SUCCEEDED', action['status'], action['status_reason']
        )

    def wait_until_idle(self) -> None:
        """Wait until Senlin works at no cluster and no node."""
        self.senlin.wait_until(self.check_idle)

    def check_idle(self) -> None:
        """Raise if Senlin has anything to do, or if anything is locked."""
        actions = mariadb.query(
            'senlin',
            'SELECT id, action, target, status FROM action WHERE status IN %s',
            ACTIVE,
        )
        self.assertEqual([], actions, 'actions that have not ended')
        for table in ('cluster_lock', 'node_lock'):
            self.assertEqual(
                [],
                mariadb.query('senlin', f'SELECT * FROM {table}'),  # noqa: S608
                table,
            )

    def remove_cluster(self, cluster: str) -> None:
        """Delete a cluster, whose policies must be detached before."""
        bindings = self.senlin.get(f'/clusters/{cluster}/policies')
        for binding in bindings['cluster_policies']:
            policy = binding['policy_id']
            self.do(cluster, 'policy_detach', policy_id=policy)
        # The deletion would take the nodes away from their actions.
        self.wait_until_idle()
        self.assert_succeeds(self.senlin.delete(f'/clusters/{cluster}'))

    def assert_spread(
        self, cluster: str, **counts: int
    ) -> dict[str, dict[str, str]]:
        """Assert where the servers of a cluster are.

        Nova's list in each region and the data of Senlin's nodes must say the
        same.

        :param counts: the number of servers by region.
        :returns: the servers' ids by the nodes' ids, by region.
        """
        by_node = collections.defaultdict(dict)
        for node in self.senlin.nodes(cluster):
            self.assertEqual('ACTIVE', node['status'], node['status_reason'])
            region = node['data']['placement']['region_name']
            by_node[region][node['id']] = node['physical_id']
        self.assertEqual(
            {region: count for region, count in counts.items() if count},
            {region: len(servers) for region, servers in by_node.items()},
            "by the data of Senlin's nodes",
        )
        for region in (base.ONE, base.TWO):
            servers = {
                server.id
                for server in self.servers(region).values()
                if server.metadata.get('cluster_id') == cluster
            }
            listed = f"by Nova's list in {region}"
            self.assertEqual(set(by_node[region].values()), servers, listed)
        return by_node
