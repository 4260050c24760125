# SPDX-License-Identifier: Apache-2.0

"""Random sequences of actions, while regions fail, fill up and come back.

Creations lose the race for the lock, floating IPs run out, and engines die.
Keystone fails, the clocks of the engines differ, the profile of the cluster
changes, and its owner declares regions out and lets go of servers. What must
hold after each sequence, whatever happened: nothing is lost, a recovery
replaces nothing that is well, nothing that a node has is deleted, and after
the return of all regions one check leaves nothing behind. Without the cluster,
no server and no port is left, but what its owner has let go of.
"""

import json
import os
import random

import ddt
from eventlet import debug

from testing.senlin import driver, engine
from tests.functional.senlin_plugins import (
    base,
    failing_regions,
    test_waiting_nodes,
)
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

#: How many sequences; each has so many events.
SEQUENCES = int(os.environ.get('OPP_STORMS', '4'))
EVENTS = 12
CAPS = {ONE: 4, TWO: 4, THREE: 4}
#: Calls in which an engine may die.
DEADLY = (
    'server_create',
    'server_created',
    'wait_for_server',
    'server_delete',
    'port on front',
    'port on back',
    'floatingip_create',
)
#: What a user does with a cluster.
ACTIONS = (
    *(('scale_out', {'count': count}) for count in (1, 2, 3)),
    *(('scale_in', {'count': count}) for count in (1, 2)),
    ('check', {}),
    ('recover', {}),
    *2 * [('recover', {'check': True})],
)
#: How a call to a region goes wrong.
FAILURES = (
    ('server_created', 'the answer is lost'),
    ('server_create', failing_regions.QUOTA),
    ('floatingip_create', 'No more IP addresses'),
)


@ddt.ddt
class Storms(test_waiting_nodes.TestCase):
    @ddt.data(*range(SEQUENCES))
    def test_nothing_is_lost(self, seed):
        self.chance = random.Random(seed)  # noqa: S311
        # Threads that die are no news.
        debug.hub_exceptions(False)
        self.addCleanup(debug.hub_exceptions, True)
        self.set_option('full_time', 0)
        self.story = []
        self.metadata = {}
        self.declared = set()
        self.forgotten = set()
        self.forgotten_servers = set()
        self.profile_id = self.make_profile()
        regions = ((name, 100, cap) for name, cap in CAPS.items())
        self.cluster_id = self.cluster(
            self.policy(*regions), profile=self.profile_id
        )
        self.act(self.cluster_id, 'scale_out', count=3)
        self.assertEqual(3, len(self.senlin.nodes(self.cluster_id)))
        for _ in range(EVENTS):
            event = self.chance.choice(self.KINDS)
            self.story.append(event.__name__)
            # The clocks of three engines.
            with self.clock_ahead(self.chance.choice((0, 3600, -3600))):
                event(self)
            self.check_invariants()
        self.cloud.heal()
        self.declared.clear()
        self.set_metadata()
        self.settle(self.cluster_id)
        self.check(self.cluster_id)
        self.senlin.act(self.cluster_id, 'recover', check=True)
        self.check(self.cluster_id)
        self.wait_until(lambda: not self.servers_left(self.cluster_id))
        nodes = self.senlin.nodes(self.cluster_id)
        held = [node['physical_id'] for node in nodes if node['physical_id']]
        # Others wait for room.
        self.assertEqual(
            min(len(nodes), sum(CAPS.values())), len(held), self.story
        )
        regions = self.cloud.regions.values()
        kept = self.kept_servers(nodes)
        self.assertEqual(
            sorted(held), sorted({*self.servers()} - kept), self.story
        )
        if not kept:
            ports = []
            for region in regions:
                ports += region.ports
            self.assertEqual(
                sorted(self.ports(nodes)), sorted(ports), self.story
            )
        self.assert_done(self.senlin.delete(f'/clusters/{self.cluster_id}'))
        self.assertEqual(kept, {*self.servers()}, self.story)
        self.assertLessEqual(self.forgotten_servers, kept, self.story)
        for region in regions:
            if not kept:
                self.assertEqual({}, region.ports, self.story)
                self.assertEqual({}, region.floating, self.story)

    def servers(self):
        """Return the servers of all regions, by their ids."""
        servers = {}
        for region in self.cloud.regions.values():
            servers.update(region.servers)
        return servers

    def kept_servers(self, nodes):
        """Return the servers that run on because their owner says so."""
        held = {node['physical_id'] for node in nodes}
        kept = set()
        for id_, server in self.servers().items():
            names = {id_, server.metadata['cluster_node_id']}
            if names & self.forgotten and id_ not in held:
                kept.add(id_)
        return kept

    def make_profile(self, **properties):
        """Create a profile whose servers have two ports each."""
        return self.senlin.profile(
            flavor='small',
            networks=[
                {'network': 'front', 'floating_network': 'out'},
                {'network': 'back'},
            ],
            **properties,
        )

    def ports(self, nodes):
        """Return the ids of the ports in the nodes' data."""
        ids = []
        for node in nodes:
            ports = node['data'].get('internal_ports') or ()
            ids += [port['id'] for port in ports]
        return ids

    def check_invariants(self):
        """Check what must hold at any time."""
        nodes = self.senlin.nodes(self.cluster_id)
        held = {node['physical_id'] for node in nodes}
        left = self.servers_left(self.cluster_id)
        noted = {entry.server for entry in left}
        unknown = {entry.node for entry in left if not entry.server}
        unknown |= {n['id'] for n in nodes if not n['physical_id']}
        for region in self.cloud.regions.values():
            for server in region.servers.values():
                node = server.metadata['cluster_node_id']
                if {server.id, node} & self.forgotten:
                    continue
                if server.id not in held | noted:
                    self.assertIn(node, unknown, self.story)
        for node in nodes:
            if node['status'] == 'ACTIVE':
                region = self.cloud.regions[base.region_of(node)]
                self.assertIn(node['physical_id'], region.servers, self.story)
        for name, cap in CAPS.items():
            count = sum(base.region_of(node) == name for node in nodes)
            self.assertLessEqual(count, cap, self.story)
        # A node may have found its server again.
        self.forgotten_servers -= held
        self.assertLessEqual(
            self.forgotten_servers, {*self.servers()}, self.story
        )

    def calm_down(self):
        """Wait until nothing goes on."""
        self.wait_until_free(self.cluster_id)
        self.wait_until(lambda: not self.senlin.is_busy())

    def act_on_cluster(self):
        """Run an action, whatever comes of it."""
        name, arguments = self.chance.choice(ACTIONS)
        self.story.append(name)
        well = self.nodes_that_are_well()
        self.senlin.act(self.cluster_id, name, **arguments)
        self.calm_down()
        if name == 'recover':
            self.check_not_replaced(well)

    def nodes_that_are_well(self):
        """Return node id -> server, where nobody can have a reason to move."""
        nodes = {}
        for node in self.senlin.nodes(self.cluster_id):
            region = base.region_of(node)
            if node['status'] != 'ACTIVE' or region in self.declared:
                continue
            if not self.cloud.regions[region].failures:
                nodes[node['id']] = node['physical_id']
        return nodes

    def check_not_replaced(self, well):
        """Raise if a recovery has replaced a server that was well."""
        for node in self.senlin.nodes(self.cluster_id):
            server = well.get(node['id'], node['physical_id'])
            self.assertEqual(server, node['physical_id'], self.story)

    def lose_keystone(self):
        """Recover the cluster while Keystone fails, from some moment on."""
        well = self.nodes_that_are_well()
        failure = 'Keystone is on fire'
        if self.chance.random() < 0.5:
            self.cloud.keystone_failure = failure
        action = self.senlin.start(self.cluster_id, 'recover', check=True)
        self.cloud.keystone_failure = failure
        self.senlin.wait(action)
        self.calm_down()
        self.cloud.keystone_failure = ''
        self.check_not_replaced(well)

    def set_metadata(self):
        """Say what the owner of the cluster wants."""
        declared = {name: {'out': True} for name in sorted(self.declared)}
        metadata = {
            'region_placement': json.dumps(declared),
            'region_forget': ' '.join(sorted(self.forgotten)),
        }
        # Senlin refuses an update that changes nothing.
        if metadata != self.metadata:
            self.update(f'/clusters/{self.cluster_id}', metadata=metadata)
            self.metadata = metadata

    def declare_out(self):
        """Declare a region out, or take all declarations back."""
        if self.declared:
            self.declared.clear()
        else:
            self.declared.add(self.chance.choice(sorted(CAPS)))
        self.set_metadata()

    def forget(self):
        """Let go of something that is left behind."""
        left = self.servers_left(self.cluster_id)
        if left:
            entry = self.chance.choice(left)
            self.forgotten.add(entry.server or entry.node)
            self.set_metadata()
            if entry.server in self.servers():
                self.forgotten_servers.add(entry.server)

    def change_profile(self):
        """Let new nodes have another profile."""
        self.update(
            f'/clusters/{self.cluster_id}',
            profile_id=self.make_profile(name=self.chance.choice('abc')),
            profile_only=True,
        )

    def act_on_nodes(self):
        """Recover or delete some nodes at the same time."""
        nodes = self.senlin.nodes(self.cluster_id)
        chosen = self.chance.sample(nodes, min(len(nodes), 2))
        started = []
        for node in chosen:
            path = f'/nodes/{node["id"]}'
            delete = self.chance.random() < 0.5
            # Senlin does not delete what an engine that died was at.
            if delete and node['status'] not in ('CREATING', 'RECOVERING'):
                answer = self.senlin.call('DELETE', path)
                started.append(answer['started'])
            else:
                answer = self.senlin.call(
                    'POST', f'{path}/actions', {'recover': {}}
                )
                started.append(answer['action'])
        for action in started:
            self.senlin.wait(action)
        self.calm_down()

    def some_failures(self):
        """Return the failures of some region."""
        return self.cloud.regions[self.chance.choice(sorted(CAPS))].failures

    def go(self):
        """Let a region fall silent, if it is the only one."""
        regions = self.cloud.regions
        if not any(regions[name].failures for name in CAPS):
            self.fall_silent(self.chance.choice(sorted(CAPS)))

    def lose_answers(self):
        """Let a region lose answers, or refuse what it is asked for."""
        self.some_failures().setdefault(*self.chance.choice(FAILURES))

    def blip(self):
        """Let a region be away for a moment, in the middle of a recovery."""
        name = self.chance.choice(sorted(CAPS))
        failures = self.cloud.regions[name].failures
        before = dict(failures)
        self.fall_silent(name)
        action = self.senlin.start(self.cluster_id, 'recover', check=True)
        failures.clear()
        failures.update(before)
        self.senlin.wait(action)
        self.calm_down()

    def wait_in_vain(self):
        """Create a node that loses the race for the lock."""
        if len(self.senlin.nodes(self.cluster_id)) < sum(CAPS.values()):
            self.lose(self.cluster_id, self.profile_id)

    def create(self):
        """Create two nodes at the same time."""
        started = [
            self.senlin.start_node(self.cluster_id, self.profile_id)[0]
            for _ in range(2)
        ]
        for action in started:
            self.senlin.wait(action)
        self.calm_down()

    def die(self):
        """Let an engine die while it creates a server, or what it needs."""
        failures = self.some_failures()
        call = self.chance.choice(DEADLY)
        if call in failures:
            return
        fault = failures[call] = driver.Fault(
            dies=True, on=self.chance.randint(1, 2)
        )
        # A node that is well is replaced.
        nodes = [
            f'/nodes/{n["id"]}' for n in self.senlin.nodes(self.cluster_id)
        ]
        node = self.chance.choice([*nodes, ''])
        cluster = f'/clusters/{self.cluster_id}'
        path, body = self.chance.choice(
            [
                (cluster, {'scale_out': {'count': 3}}),
                (cluster, {'recover': {'check': True}}),
                (node or cluster, {'recover': {}}),
            ]
        )
        action = self.senlin.call('POST', f'{path}/actions', body)['action']
        self.wait_until(
            lambda: (
                fault.calls >= fault.on
                or self.senlin.action(action)['status'] in engine.ENDS
            )
        )
        failures.pop(call)
        self.senlin.die()
        self.calm_down()

    def end(self):
        """Let all regions come back."""
        self.cloud.heal()

    KINDS = (
        *5 * [act_on_cluster],
        act_on_nodes,
        wait_in_vain,
        create,
        die,
        die,
        lose_keystone,
        declare_out,
        declare_out,
        forget,
        forget,
        change_profile,
        go,
        go,
        lose_answers,
        lose_answers,
        lose_answers,
        blip,
        end,
        end,
    )
