# SPDX-License-Identifier: Apache-2.0

"""Random sequences of actions, while regions fail, fill up and come back.

What must hold after each sequence, whatever happened: nothing is lost,
nothing that a node has is deleted, and after the return of all regions one
check leaves nothing behind.
"""

import os
import random

import ddt

from tests.functional.senlin_plugins import base, test_failover
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

#: How many sequences; each has so many events.
SEQUENCES = int(os.environ.get('OPP_STORMS', '4'))
EVENTS = 12
CAPS = {ONE: 4, TWO: 4, THREE: 4}


@ddt.ddt
class Storms(test_failover.TestCase):
    @ddt.data(*range(SEQUENCES))
    def test_nothing_is_lost(self, seed):
        self.chance = random.Random(seed)  # noqa: S311
        self.set_option('full_time', 0)
        self.story = []
        self.cluster_id = self.spread_out(
            3, *((name, 100, cap) for name, cap in CAPS.items())
        )
        self.assertEqual(3, len(self.senlin.nodes(self.cluster_id)))
        for _ in range(EVENTS):
            event = self.chance.choice(self.KINDS)
            self.story.append(event.__name__)
            event(self)
            self.check_invariants()
        for name in CAPS:
            self.come_back(name)
        self.settle(self.cluster_id)
        self.check(self.cluster_id)
        self.senlin.act(self.cluster_id, 'recover', check=True)
        self.check(self.cluster_id)
        self.wait_until(lambda: not self.known(self.cluster_id)[1])
        nodes = self.senlin.nodes(self.cluster_id)
        self.assertEqual(
            sorted(node['physical_id'] for node in nodes),
            sorted(
                server
                for region in self.cloud.regions.values()
                for server in region.servers
            ),
            self.story,
        )

    def check_invariants(self):
        """Check what must hold at any time."""
        nodes = self.senlin.nodes(self.cluster_id)
        held = {node['physical_id'] for node in nodes}
        _, left = self.known(self.cluster_id)
        noted = {entry.server for entry in left}
        unknown = {entry.node for entry in left if not entry.server}
        unknown |= {n['id'] for n in nodes if not n['physical_id']}
        for region in self.cloud.regions.values():
            for server in region.servers.values():
                if server.id not in held | noted:
                    node = server.metadata['cluster_node_id']
                    self.assertIn(node, unknown, self.story)
        for node in nodes:
            if node['status'] == 'ACTIVE':
                region = self.cloud.regions[base.region_of(node)]
                self.assertIn(node['physical_id'], region.servers, self.story)
        for name, cap in CAPS.items():
            count = sum(base.region_of(node) == name for node in nodes)
            self.assertLessEqual(count, cap, self.story)

    def run_to_the_end(self, name, **arguments):
        """Run an action, whatever comes of it."""
        self.senlin.act(self.cluster_id, name, **arguments)
        self.wait_until_free(self.cluster_id)

    def grow(self):
        """Scale out."""
        self.run_to_the_end('scale_out', count=self.chance.randint(1, 3))

    def shrink(self):
        """Scale in."""
        self.run_to_the_end('scale_in', count=self.chance.randint(1, 2))

    def look(self):
        """Check."""
        self.run_to_the_end('check')

    def mend(self):
        """Recover what is not well in Senlin's database."""
        self.run_to_the_end('recover')

    def look_and_mend(self):
        """Recover what is not well."""
        self.run_to_the_end('recover', check=True)

    def act_on_nodes(self):
        """Recover or delete some nodes at the same time."""
        nodes = self.senlin.nodes(self.cluster_id)
        chosen = self.chance.sample(nodes, min(len(nodes), 2))
        started = []
        for node in chosen:
            path = f'/nodes/{node["id"]}'
            if self.chance.random() < 0.5:
                answer = self.senlin.call('DELETE', path)
                started.append(answer['started'])
            else:
                answer = self.senlin.call(
                    'POST', f'{path}/actions', {'recover': {}}
                )
                started.append(answer['action'])
        for action in started:
            self.senlin.wait(action)
        self.wait_until_free(self.cluster_id)

    def go(self):
        """Let a region fall silent, if it is the only one."""
        regions = self.cloud.regions
        if not any(regions[name].failures for name in CAPS):
            self.fall_silent(self.chance.choice(sorted(CAPS)))

    def lose_answers(self):
        """Let a region create servers, and lose the answers."""
        failures = self.cloud.regions[self.chance.choice(sorted(CAPS))]
        failures.failures.setdefault('server_created', 'lost')

    def fill(self):
        """Let a region refuse servers."""
        failures = self.cloud.regions[self.chance.choice(sorted(CAPS))]
        failures.failures.setdefault('server_create', test_failover.QUOTA)

    def blip(self):
        """Let a region be away for a moment, in the middle of a recovery."""
        name = self.chance.choice(sorted(CAPS))
        before = dict(self.cloud.regions[name].failures)
        self.fall_silent(name)
        action = self.senlin.start(self.cluster_id, 'recover', check=True)
        self.cloud.regions[name].failures.clear()
        self.cloud.regions[name].failures.update(before)
        self.senlin.wait(action)
        self.wait_until_free(self.cluster_id)

    def end(self):
        """Let all regions come back."""
        for name in CAPS:
            self.come_back(name)

    KINDS = (
        *(grow, shrink, look, mend, look_and_mend, act_on_nodes),
        *(go, go, lose_answers, fill, blip, end, end),
    )
