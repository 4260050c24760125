# SPDX-License-Identifier: Apache-2.0

"""Random sequences of what happens to servers and stacks that nodes share.

Nodes are created, and the answer may be lost. What is in the cloud is adopted,
also by two users at once. Nodes are recovered and deleted, some at the same
time, while their region is declared out and comes back.

Senlin's engine, profiles and database are the real ones. Actions and locks are
left out, so that more happens at the same time than Senlin lets happen.
"""

import contextlib
import os
import random
import types
from unittest import mock

import ddt
import eventlet
from eventlet import corolocal
from senlin.common import consts, context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.engine import cluster as cluster_mod
from senlin.engine import node as node_mod
from senlin.objects import node as node_objects

from senlin_plugins.cluster import left_behind
from senlin_plugins.profiles import failover
from testing.senlin import driver, engine
from tests.functional.senlin_plugins import test_holders
from tests.functional.senlin_plugins.base import TWO

#: How many sequences for servers and for stacks; each has so many events.
SEQUENCES = int(os.environ.get('OPP_STORMS', '10'))
EVENTS = 12


@ddt.ddt
class HolderStorms(test_holders.TestCase):
    def setUp(self):
        super().setUp()
        self.patch(left_behind, 'LIMIT', 0.5)
        self.admin = context.RequestContext(
            user_id=engine.USER, project_id=engine.PROJECT, is_admin=True
        )
        #: The node that a green thread deletes or recovers.
        self.current = corolocal.local()
        self.wrong = []

    @ddt.data(*test_holders.KINDS)
    def test_nobody_deletes_what_another_node_holds(self, type_name):
        cluster = self.make_cluster(type_name)
        copy = self.senlin.copy()
        for seed in range(SEQUENCES):
            self.senlin.restore(copy)
            self.run_sequence(cluster, seed)

    def run_sequence(self, cluster, seed):
        """Let one sequence of events happen, and check its end."""
        self.chance = random.Random(seed)  # noqa: S311
        self.cluster_id, self.story = cluster, [seed]
        profile = self.senlin.call('GET', f'/clusters/{cluster}')
        self.profile_id = profile['cluster']['profile_id']
        with self.watching():
            for _ in range(EVENTS):
                event = self.chance.choice(self.KINDS)
                self.story.append(event.__name__)
                event(self)
                self.assertEqual([], self.wrong, self.story)
            self.cloud.heal()
            self.come_back()
            self.check_that_nothing_is_lost()
            for node in self.nodes():
                self.delete(node)
            self.come_back()
        self.assertEqual([], self.wrong, self.story)
        for region in self.cloud.regions.values():
            left = getattr(region, f'{self.kind}s')
            self.assertEqual({}, left, self.story)

    def check_that_nothing_is_lost(self):
        """Check that each thing has a node that finds it."""
        held = {self.row(node).physical_id for node in self.nodes()}
        for region in self.cloud.regions.values():
            for thing in getattr(region, f'{self.kind}s').values():
                if held & {thing.id, getattr(thing, 'name', None)}:
                    continue
                maker = self.maker(thing)
                self.assertIn(maker, self.nodes(), self.story)
                self.assertIsNone(self.row(maker).physical_id, self.story)

    def maker(self, thing):
        """Return the id of the node that a thing was made for."""
        if self.kind == 'server':
            return thing.metadata['cluster_node_id']
        (tag,) = (tag for tag in thing.tags if 'cluster_node_id=' in tag)
        return tag.partition('=')[2]

    @contextlib.contextmanager
    def watching(self):
        """Look at each deletion, and let others run at each call."""
        call = driver.Client._call
        do_delete = failover.Failover.do_delete
        storm = self

        def yielding(client, method):
            eventlet.sleep(0)
            call(client, method)

        def deleting(profile, obj, **params):
            before = getattr(storm.current, 'node', None)
            storm.current.node = obj.id
            try:
                return do_delete(profile, obj, **params)
            finally:
                storm.current.node = before

        client_class = driver.Orchestration
        if self.kind == 'server':
            client_class = driver.Compute
        name = f'{self.kind}_delete'
        delete = getattr(client_class, name)

        def looking(client, thing_id, ignore_missing=True):
            eventlet.sleep(0)
            storm.look(client.region, thing_id)
            return delete(client, thing_id, ignore_missing)

        with (
            mock.patch.object(driver.Client, '_call', yielding),
            mock.patch.object(failover.Failover, 'do_delete', deleting),
            mock.patch.object(client_class, name, looking),
        ):
            yield

    def look(self, region, thing_id):
        """Note a deletion of what another node holds."""
        thing = getattr(region, f'{self.kind}s').get(thing_id)
        if thing:
            names = {thing.id, thing.name}
            with db_api.session_for_read() as session:
                holders = session.query(models.Node).filter(
                    models.Node.physical_id.in_(names),
                    models.Node.id != getattr(self.current, 'node', ''),
                    models.Node.status != consts.NS_DELETING,
                )
                self.wrong += [(thing_id, node.id) for node in holders]

    def nodes(self):
        """Return the ids of all nodes."""
        with db_api.session_for_read() as session:
            return [id_ for (id_,) in session.query(models.Node.id)]

    def row(self, node):
        """Return the row of a node."""
        return node_objects.Node.get(self.admin, node)

    def at_once(self, *calls):
        """Run some calls at the same time, whatever comes of them."""
        threads = [eventlet.spawn(call, *rest) for call, *rest in calls]
        for thread in threads:
            thread.wait()

    def some_nodes(self):
        """Return up to two nodes."""
        nodes = sorted(self.nodes())
        return self.chance.sample(nodes, min(len(nodes), 2))

    def some_thing(self):
        """Return the id of a thing, and its region."""
        things = []
        for name, region in self.cloud.regions.items():
            ids = getattr(region, f'{self.kind}s')
            things += [(thing_id, name) for thing_id in ids]
        return self.chance.choice(things) if things else None

    # What happens.

    def create(self):
        """Create a node."""
        node = self.add_row(TWO)
        node_mod.Node.load(self.admin, node).do_create(self.admin)

    def add_row(self, region, **values):
        """Write the row of a new node and return its id."""
        with db_api.session_for_read() as session:
            init_at = session.query(models.Cluster).first().init_at
        row = {
            'name': 'node',
            'index': 7,
            'role': '',
            'cluster_id': self.cluster_id,
            'profile_id': self.profile_id,
            'user': engine.USER,
            'project': engine.PROJECT,
            'status': 'INIT',
            'data': {'placement': {'region_name': region}},
            'metadata': {},
            'dependents': {},
            'init_at': init_at,
        }
        return node_objects.Node.create(self.admin, {**row, **values}).id

    def lose_creation(self):
        """Create a node, and lose the answer."""
        failures = self.cloud.regions[TWO].failures
        failures[f'{self.kind}_created'] = 'the answer is lost'
        self.create()
        failures.clear()

    def delete(self, node):
        """Delete a node."""
        if self.row(node):
            node_mod.Node.load(self.admin, node).do_delete(self.admin)

    def recover(self, node):
        """Recreate a node, also one that is well."""
        inputs = {'operation': 'RECREATE', 'replace': True}
        if self.row(node):
            node_mod.Node.load(self.admin, node).do_recover(
                self.admin, types.SimpleNamespace(inputs=inputs)
            )

    def try_to_adopt(self, thing, region):
        """Adopt a thing, which may be refused."""
        with contextlib.suppress(engine.ApiError):
            self.adopt(thing, region)

    def adopt_some(self):
        """Adopt something, once or twice at once."""
        thing = self.some_thing()
        if thing:
            users = self.chance.randint(1, 3)
            self.at_once(*[(self.try_to_adopt, *thing)] * users)

    def share(self):
        """Let a second node have a thing, as Senlin's own profiles do."""
        thing = self.some_thing()
        if thing:
            identity, region = thing
            if self.kind == 'stack' and self.chance.random() < 0.5:
                identity = self.cloud.regions[region].stacks[identity].name
            node = self.add_row(region, status='ACTIVE', cluster_id='')
            self.hold(node, identity, region)

    def delete_some(self):
        """Delete nodes at the same time."""
        self.at_once(*[(self.delete, node) for node in self.some_nodes()])

    def recover_some(self):
        """Recover nodes at the same time."""
        self.at_once(*[(self.recover, node) for node in self.some_nodes()])

    def all_at_once(self):
        """Recover a node, delete another, and adopt something meanwhile."""
        changes = (self.recover, self.delete)
        calls = list(zip(changes, self.some_nodes(), strict=False))
        thing = self.some_thing()
        if thing:
            calls.append((self.try_to_adopt, *thing))
        self.chance.shuffle(calls)
        self.at_once(*calls)

    def lose_recovery(self):
        """Recover a node, and lose the answer."""
        failures = self.cloud.regions[TWO].failures
        failures[f'{self.kind}_created'] = 'the answer is lost'
        for node in self.some_nodes()[:1]:
            self.recover(node)
        failures.clear()

    def go_out(self):
        """Declare the region out."""
        self.set_metadata(
            {'region_placement': f'{{"{TWO}": {{"out": true}}}}'}
        )

    def come_back(self):
        """Take the declaration back, and clear up."""
        self.set_metadata({})
        cluster = cluster_mod.Cluster.load(self.admin, self.cluster_id)
        left_behind.clear(cluster, left_behind.listed(cluster))

    def set_metadata(self, metadata):
        """Write the metadata of the cluster."""
        with db_api.session_for_write() as session:
            row = session.get(models.Cluster, self.cluster_id)
            row.meta_data = metadata

    KINDS = (
        create,
        lose_creation,
        lose_creation,
        lose_recovery,
        adopt_some,
        adopt_some,
        share,
        delete_some,
        recover_some,
        all_at_once,
        all_at_once,
        go_out,
        come_back,
    )
