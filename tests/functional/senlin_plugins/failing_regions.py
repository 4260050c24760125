# SPDX-License-Identifier: Apache-2.0

"""Clusters with version 1.1 of the region policy, whose regions fail."""

import contextlib
import datetime
from unittest import mock

from senlin_plugins.cluster import cluster_row, left_behind
from senlin_plugins.planning import region_state
from senlin_plugins.regions import endpoints, health
from tests.functional.senlin_plugins import base

#: What fails in a region that is out.
CALLS = (
    'probe compute',
    'servers',
    'server_create',
    'server_get',
    'server_delete',
    'server_update',
)
QUOTA = 'Quota exceeded for instances: Requested 1, but already used 2 of 2'


class TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.began = datetime.datetime.now(datetime.UTC)
        # A region is out at the second look that finds it silent.
        self.set_option('region_out_after', 0)
        self.patch(endpoints, 'PAUSES', (0, 0))
        self.patch(left_behind, 'PAUSE', 0.05)

    def policy(self, *regions, version='1.1', **properties):
        """Create a region policy that knows of regions that fail."""
        return self.region_policy(*regions, version=version, **properties)

    def spread_out(self, count, *regions, networks=(), **properties):
        """Create a cluster with so many nodes and return its id."""
        profile = self.senlin.profile(
            flavor='small', networks=[{'network': name} for name in networks]
        )
        policy = self.policy(*regions, **properties)
        cluster = self.cluster(policy, profile=profile)
        self.act(cluster, 'scale_out', count=count)
        return cluster

    def fall_silent(self, name, calls=CALLS):
        """Let a region fall silent."""
        failures = self.cloud.regions[name].failures
        failures.update(dict.fromkeys(calls, f'{name} is dead'))

    def go_out(self, name, cluster, calls=CALLS):
        """Let a region go out, which a cluster notices."""
        self.fall_silent(name, calls)
        self.check(cluster)
        self.assertEqual({name: 'silent'}, self.region_states(cluster))

    def check(self, cluster):
        """Check a cluster, whatever comes of it, and let it clear up."""
        self.senlin.act(cluster, 'check')
        self.settle(cluster)

    def settle(self, cluster):
        """Wait until nothing goes on, also not behind the actions."""
        self.wait_until_free(cluster)
        self.wait_until(lambda: cluster not in left_behind.at_work)

    @contextlib.contextmanager
    def at(self, seconds):
        """Let it be some seconds later."""
        with mock.patch.object(
            cluster_row,
            'read_clock',
            lambda time: base.now(seconds, self.began),
        ):
            yield

    @contextlib.contextmanager
    def clock_ahead(self, seconds):
        """Let the clock of this engine be ahead, or behind."""
        time_of = region_state.show_time
        shift = datetime.timedelta(seconds=seconds)
        with mock.patch.object(
            health,
            'now',
            lambda: time_of(datetime.datetime.now(datetime.UTC) + shift),
        ):
            yield

    def declare(self, cluster, name):
        """Declare a region out."""
        declared = f'{{"{name}": {{"out": true}}}}'
        self.update(
            f'/clusters/{cluster}', metadata={'region_placement': declared}
        )

    def notes(self, cluster):
        """Return what the cluster's data note, as the API shows them."""
        self.wait_until(lambda: cluster not in left_behind.at_work)
        shown = self.senlin.call('GET', f'/clusters/{cluster}')['cluster']
        return region_state.read(shown['data'])

    def region_states(self, cluster):
        """Return region name -> its state, without regions that are well."""
        states = self.notes(cluster).in_force((), base.now())
        return {name: state.state for name, state in states.items()}

    def servers_left(self, cluster):
        """Return the entries of the servers that are left behind."""
        return list(self.notes(cluster).left)

    def assert_nothing_noted(self, cluster):
        """Check that all regions are well, and nothing is left behind."""
        self.assertEqual({}, self.region_states(cluster))
        self.assertEqual([], self.servers_left(cluster))

    def assert_forgotten(self, cluster, **counts):
        """Let all regions come back: nothing is left behind."""
        self.cloud.heal()
        self.act(cluster, 'check')
        self.assert_nothing_noted(cluster)
        self.assert_servers(cluster, **counts)
