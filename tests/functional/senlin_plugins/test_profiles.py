# SPDX-License-Identifier: Apache-2.0

"""The region-aware profiles: what they do beyond Senlin's own."""

from senlin import objects
from senlin.common import context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models

from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

#: What Senlin cannot adopt from a server without networks and a key pair.
OVERRIDES = {'networks': [], 'key_name': 'none'}


class Validation(base.TestCase):
    def test_a_profile_is_validated_in_the_region_of_its_nodes(self):
        properties = {'flavor': 'small', 'networks': [{'network': 'front'}]}
        self.cloud.regions[ONE].failures['find front'] = 'Not in the first'
        with self.assertRaisesRegex(engine.ApiError, 'Not in the first'):
            self.senlin.profile(**properties)
        self.senlin.profile(context={'region_name': TWO}, **properties)


class Adoption(base.TestCase):
    def adopt(self, server, **overrides):
        """Make a node of a server and return the node."""
        body = {
            'type': 'senlin_plugins.nova.server-1.0',
            'identity': server,
            'name': 'foundling',
            'overrides': overrides,
        }
        return self.senlin.call('POST', '/nodes/adopt', body)['node']

    def test_an_adopted_server_is_kept_in_the_region_of_the_overrides(self):
        cluster = self.spread((TWO,), (THREE,), count=2)
        (there,) = self.ids(cluster, THREE)
        server = self.held(cluster)[there]
        # As if somebody else had created it.
        self.act(cluster, 'del_nodes', nodes=[there])
        objects.Node.delete(context.get_admin_context(), there)
        node = self.adopt(server, context={'region_name': THREE}, **OVERRIDES)
        self.act_node(node['id'], 'check')
        self.act(cluster, 'add_nodes', nodes=[node['id']])
        self.assertIn(server, self.held(cluster).values())
        self.assertEqual(
            {ONE: 0, TWO: 1, THREE: 1}, self.cloud.servers_of(cluster)
        )
        # The server counts where it is.
        data = self.act(cluster, 'scale_in', count=2)
        self.assertEqual({TWO: 1, THREE: 1}, data['deletion']['regions'])
        self.assertIsNone(self.cloud.region_of_server(server))

    def test_a_node_whose_profile_is_not_shown_is_not_counted(self):
        cluster = self.spread((ONE,), (TWO,))
        foundling = self.senlin.profile(
            flavor='small', networks=[], context={'region_name': TWO}
        )
        node = self.add_node(cluster, foundling)
        # As if Senlin had not placed it.
        admin = context.get_admin_context()
        objects.Node.update(admin, node, {'data': {}})
        # As a database shows it that is behind.
        with db_api.session_for_write() as session:
            session.query(models.Profile).filter_by(id=foundling).delete()
        reason = base.UNEXPECTED.replace('InternalError', 'ResourceNotFound')
        for name in ('scale_out', 'recover'):
            with self.subTest(name):
                self.assert_failed(reason, self.senlin.act(cluster, name))

    def test_a_context_that_is_no_map_is_refused(self):
        with self.assertRaisesRegex(engine.ApiError, 'not a map') as caught:
            self.adopt('another', context=TWO)
        self.assertEqual(400, caught.exception.code)


class Recovery(base.TestCase):
    def test_a_lost_stack_is_created_again_by_default(self):
        profile = self.senlin.profile(
            'senlin_plugins.heat.stack',
            template={'heat_template_version': '2021-04-16'},
        )
        cluster = self.spread((TWO,), profile=profile, count=1)
        self.cloud.regions[TWO].stacks.clear()
        self.act(cluster, 'recover', check=True)
        self.assert_nodes(cluster, **{TWO: 1})
        self.assertEqual(1, len(self.cloud.regions[TWO].stacks))
