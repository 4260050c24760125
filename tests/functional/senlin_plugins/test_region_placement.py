# SPDX-License-Identifier: Apache-2.0

"""The region placement policy on the real engine.

Each test looks at the action's data, at the nodes' data and at where the
clouds hold the servers.
"""

import collections
from unittest import mock

import ddt
from senlin import objects
from senlin.common import context

from senlin_plugins import regions
from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

NO_PLAN = 'There is no feasible plan to handle all nodes.'
NO_REGION = 'No region is found usable.'


class Growing(base.TestCase):
    def test_s2_a_plan_is_written_beside_decisions_of_other_policies(self):
        zones = {'zones': [{'name': 'nova'}]}
        group = {'servergroup': {'name': 'apart'}}
        cluster = self.cluster(
            self.senlin.policy('senlin.policy.zone_placement', zones),
            self.senlin.policy('senlin.policy.affinity', group),
            self.region_policy((TWO, 200), (THREE, 100), (ONE, 100, 0)),
        )
        data = self.act(cluster, 'scale_out', count=3)
        self.assertEqual('OK', data['status'])
        counts = {TWO: 2, THREE: 1}
        self.assertEqual(
            {'count': 3, 'zones': {'nova': 3}, 'regions': counts},
            data['creation'],
        )
        self.assertEqual(
            [
                {'servergroup': 'group apart', 'region_name': name}
                for name in (THREE, TWO, TWO)
            ],
            data['placement']['placements'],
        )
        self.assert_servers(cluster, **counts)

    def test_senlins_own_region_policy_attached_afterwards_does_no_harm(self):
        cluster = self.spread((ONE, 100), (TWO, 200))
        in_tree = self.senlin.policy(
            'senlin.policy.region_placement',
            {'regions': [{'name': ONE, 'weight': 500}, {'name': THREE}]},
        )
        self.attach(cluster, in_tree)
        data = self.act(cluster, 'scale_out', count=6)
        self.assertEqual({ONE: 2, TWO: 4}, data['creation']['regions'])
        self.assert_servers(cluster, **{ONE: 2, TWO: 4})
        data = self.act(cluster, 'scale_in', count=3)
        self.assertEqual({ONE: 1, TWO: 2}, data['deletion']['regions'])
        self.assert_servers(cluster, **{ONE: 1, TWO: 2})

    def test_s3_resize_grows_and_shrinks(self):
        cluster = self.cluster(
            self.region_policy((ONE, 100, 2), (TWO,), (THREE,)),
            self.deletion_policy(),
        )
        data = self.act(
            cluster, 'resize', adjustment_type='EXACT_CAPACITY', number=8
        )
        plan = {ONE: 2, TWO: 3, THREE: 3}
        self.assertEqual({'count': 8, 'regions': plan}, data['creation'])
        self.assertNotIn('deletion', data)
        self.assert_servers(cluster, **plan)
        data = self.act(
            cluster, 'resize', adjustment_type='CHANGE_IN_CAPACITY', number=-5
        )
        self.assertEqual(
            {ONE: 1, TWO: 2, THREE: 2}, data['deletion']['regions']
        )
        # One that changes nothing plans nothing.
        data = self.act(cluster, 'resize', max_size=9)
        self.assertNotIn('regions', data.get('creation', {}))
        self.assert_servers(cluster, **{ONE: 1, TWO: 1, THREE: 1})


class SingleNodes(base.TestCase):
    def test_s4_node_create_goes_to_the_best_region(self):
        profile = self.senlin.profile()
        policy = self.region_policy((ONE, 100, 1), (THREE, 50), (TWO, 49))
        cluster = self.cluster(policy, profile=profile)
        for region in (ONE, THREE, TWO):
            action, node = self.senlin.start_node(cluster, profile)
            data = self.senlin.wait(action)['data']
            self.assertEqual(
                {'count': 1, 'regions': {region: 1}}, data['creation']
            )
            self.assertEqual(region, base.region_of(self.shown(node)))
        self.assert_servers(cluster, **{ONE: 1, TWO: 1, THREE: 1})

    def test_s4_actions_at_one_moment_do_not_exceed_a_cap(self):
        profile = self.senlin.profile()
        policy = self.region_policy((ONE, 100, 5), (TWO, 1))
        cluster = self.cluster(policy, profile=profile)
        find_faults = regions.find_faults
        readers = []

        def read_together(*args, **kwargs):
            faults = find_faults(*args, **kwargs)
            readers.append(args)
            self.wait_until(lambda: len(readers) > 1)
            return faults

        with mock.patch.object(regions, 'find_faults', read_together):
            started = [
                self.senlin.start_node(cluster, profile)[0] for _ in range(20)
            ]
            for action in started:
                self.assert_done(self.senlin.wait(action))
        self.assert_servers(cluster, **{ONE: 5, TWO: 15})

    def test_s4_the_region_of_the_profile_takes_precedence(self):
        profile = self.senlin.profile(
            flavor='small', networks=[], context={'region_name': TWO}
        )
        policy = self.region_policy((ONE,), (TWO, 100, 1))
        cluster = self.cluster(policy, profile=profile)
        for _ in range(2):
            action, _ = self.senlin.start_node(cluster, profile)
            data = self.senlin.wait(action)['data']
            self.assertNotIn('creation', data)
        self.assert_servers(cluster, **{TWO: 2})

    def test_s2_a_scaling_is_planned_whatever_the_profile_says(self):
        profile = self.senlin.profile(
            flavor='small', networks=[], context={'region_name': THREE}
        )
        policy = self.region_policy((ONE,), (TWO, 100, 1))
        cluster = self.cluster(policy, profile=profile)
        data = self.act(cluster, 'scale_out', count=3)
        self.assertEqual({ONE: 2, TWO: 1}, data['creation']['regions'])
        for node in self.ids(cluster):
            self.act_node(node, 'recover', operation='RECREATE')
        self.assert_servers(cluster, **{ONE: 2, TWO: 1})


class Recovering(base.TestCase):
    """A deletion that keeps the desired capacity leaves a gap."""

    def setUp(self):
        super().setUp()
        deletion = self.deletion_policy(reduce_desired_capacity=False)
        self.cluster_id = self.cluster(
            deletion, self.region_policy((TWO,), (THREE,))
        )
        self.act(self.cluster_id, 'scale_out', count=2)
        (gone,) = self.ids(self.cluster_id, TWO)
        self.assert_done(self.senlin.delete(f'/nodes/{gone}'))

    def test_missing_nodes_are_placed_and_the_others_mended(self):
        self.cloud.keystone_regions = {ONE}
        self.cloud.regions[THREE].servers.clear()
        self.act(self.cluster_id, 'check')
        action = self.senlin.act(
            self.cluster_id, 'recover', check_capacity=True
        )
        self.assert_failed(NO_REGION, action)
        self.assertIs(True, action['inputs']['check_capacity'])
        self.assert_nodes(self.cluster_id, **{THREE: 1})
        self.assert_servers(self.cluster_id, **{THREE: 1})
        self.cloud.keystone_regions = {ONE, TWO, THREE}
        data = self.act(self.cluster_id, 'recover', check_capacity=True)
        self.assertEqual(
            [{'region_name': TWO}], data['placement']['placements']
        )
        self.assert_servers(self.cluster_id, **{TWO: 1, THREE: 1})


class Shrinking(base.TestCase):
    def test_s1_note_the_deletion_policy_of_senlin_follows_the_plan(self):
        in_tree = self.senlin.policy(
            'senlin.policy.deletion', {'criteria': 'OLDEST_FIRST'}
        )
        cluster = self.cluster(in_tree, self.region_policy((ONE, 1), (TWO, 2)))
        self.act(cluster, 'scale_out', count=6)
        region_of = base.regions_of(self.senlin.nodes(cluster))
        oldest_first = self.senlin.by_age(cluster)
        data = self.act(cluster, 'scale_in', count=3)
        plan = {ONE: 1, TWO: 2}
        self.assertEqual(plan, data['deletion']['regions'])
        # Its candidates, and not those of this package's policy.
        oldest = []
        for region, count in plan.items():
            here = [n for n in oldest_first if region_of[n] == region]
            oldest += here[:count]
        self.assertEqual(oldest, data['deletion']['candidates'])
        self.assert_servers(cluster, **plan)

    def test_s1_without_deletion_policy_candidates_follow_the_plan(self):
        cluster = self.spread((TWO, 100), (THREE, 200))
        # A disabled one does not choose.
        disabled = {'policy_id': self.deletion_policy(), 'enabled': False}
        self.act(cluster, 'policy_attach', **disabled)
        self.act(cluster, 'scale_out', count=6)
        region_of = base.regions_of(self.senlin.nodes(cluster))
        data = self.act(cluster, 'scale_in', count=3)
        plan = {TWO: 1, THREE: 2}
        self.assertEqual(3, data['deletion']['count'])
        self.assertEqual(plan, data['deletion']['regions'])
        self.assertNotIn('grace_period', data['deletion'])
        candidates = data['deletion']['candidates']
        self.assertEqual(
            plan, collections.Counter(region_of[c] for c in candidates)
        )
        self.assertEqual({*candidates}, {*region_of} - {*self.ids(cluster)})
        self.assert_servers(cluster, **{TWO: 1, THREE: 2})


class Ties(base.TestCase):
    """Equal regions: the one with a node of no use loses it."""

    def test_an_error_node_leaves_and_the_healthy_one_stays(self):
        for deletion, broken in ((False, ONE), (False, TWO), (True, ONE)):
            cluster = self.spread((ONE,), (TWO,))
            if deletion:
                self.attach(cluster, self.deletion_policy())
            self.act(cluster, 'scale_out', count=2)
            (useless,) = self.ids(cluster, broken)
            self.spoil(useless)
            data = self.act(cluster, 'scale_in')
            self.assertEqual({broken: 1}, data['deletion']['regions'])
            self.assertEqual([useless], data['deletion']['candidates'])

    def spoil(self, node_id):
        """Set a node to ERROR, as after a failed check."""
        admin = context.get_admin_context()
        objects.Node.update(admin, node_id, {'status': 'ERROR'})


VOLUME = {
    'uuid': 'a volume',
    'source_type': 'volume',
    'destination_type': 'volume',
    'volume_size': 1,
}
SNAPSHOT = VOLUME | {'source_type': 'snapshot'}
BOOT = VOLUME | {'uuid': 'cirros', 'source_type': 'image'}
FLOATING = {
    'network': 'front',
    'floating_network': 'out',
    'floating_ip': '192.0.2.7',
}


@ddt.ddt
class Needing(base.TestCase):
    """What a region must offer."""

    def test_what_the_profile_names(self):
        profile = self.senlin.profile(
            flavor='small',
            image='cirros',
            networks=[{'network': 'front'}],
            block_device_mapping_v2=[BOOT],
        )
        cluster = self.cluster(
            self.region_policy((ONE,), (TWO,)), profile=profile
        )
        offered = self.cloud.regions[ONE].catalog
        for service in ('compute', 'image', 'network', 'block-storage'):
            offered.discard(service)
            with self.assertLogs('senlin_plugins', 'WARNING') as warned:
                data = self.act(cluster, 'scale_out')
            self.assertIn(f'offers no {service}', str(warned.output))
            self.assertEqual({TWO: 1}, data['creation']['regions'])
            offered.add(service)
        self.assert_servers(cluster, **{TWO: 4})

    def test_a_region_gives_nodes_up_without_what_a_new_one_needs(self):
        profile = self.senlin.profile(
            flavor='small', image='cirros', networks=[]
        )
        cluster = self.cluster(
            self.region_policy((ONE,), (TWO,)), profile=profile
        )
        self.act(cluster, 'scale_out', count=4)
        self.cloud.regions[ONE].catalog.discard('image')
        data = self.act(cluster, 'scale_in', count=2)
        self.assertEqual({ONE: 1, TWO: 1}, data['deletion']['regions'])
        # Nothing can be deleted without this one.
        self.cloud.regions[ONE].catalog.discard('compute')
        data = self.act(cluster, 'scale_in')
        self.assertEqual({TWO: 1}, data['deletion']['regions'])
        self.assert_servers(cluster, **{ONE: 1})
        # The catalog is not asked when told not to.
        self.set_option('check_catalog', False)
        self.act(cluster, 'scale_out', count=3)
        self.assert_servers(cluster, **{ONE: 2, TWO: 2})

    @ddt.data(
        ("'port' of 'networks'", {'networks': [{'port': 'p'}]}),
        ("'floating_ip' of 'networks'", {'networks': [FLOATING]}),
        (
            "a volume in 'block_device_mapping_v2'",
            {'block_device_mapping_v2': [VOLUME], 'networks': []},
        ),
        (
            "a snapshot in 'block_device_mapping_v2'",
            {'block_device_mapping_v2': [SNAPSHOT], 'networks': []},
        ),
    )
    @ddt.unpack
    def test_what_is_named_by_id_needs_its_region(self, tie, properties):
        with self.assertRaisesRegex(
            engine.ApiError, f'{tie} exists in one region only: .*region_name'
        ):
            self.senlin.profile(flavor='small', **properties)


class Refusing(base.TestCase):
    """Errors reach the API with their reason, and change nothing."""

    def test_s3_a_refused_resize_leaves_nothing_of_the_parser(self):
        cluster = self.spread((ONE, 100, 0))
        action = self.senlin.act(
            cluster, 'resize', adjustment_type='EXACT_CAPACITY', number=1
        )
        self.assert_failed(NO_PLAN, action)
        self.assertEqual({'status', 'reason'}, action['data'].keys())
        self.assertEqual([], self.senlin.nodes(cluster))

    def test_a_profile_that_ignores_regions_is_refused(self):
        cluster = self.cluster(profile=self.senlin.profile('os.nova.server'))
        policy = self.region_policy((TWO,))
        for words in (
            "'os.nova.server-1.0'",
            "use a profile of type 'senlin_plugins.nova.server'",
        ):
            self.assert_not_attached(words, cluster, policy)

    def test_a_cluster_whose_nodes_have_no_region_is_refused(self):
        profile = self.senlin.profile('os.nova.server')
        cluster = self.cluster(profile=profile, size=1)
        policy = self.region_policy((TWO,))
        self.set_option('default_region_name', '', None)
        self.assert_not_attached('has no region', cluster, policy)

    def test_a_second_policy_of_a_kind_is_refused(self):
        spec = {'regions': [{'name': TWO}]}
        for first, second in (
            (
                self.senlin.policy('senlin.policy.region_placement', spec),
                self.region_policy((TWO,)),
            ),
            (self.deletion_policy('1.0'), self.deletion_policy('1.1')),
            (
                self.senlin.policy('senlin.policy.deletion', {}),
                self.deletion_policy(),
            ),
        ):
            cluster = self.cluster(first)
            self.assert_not_attached('detach it first', cluster, second)


class Types(base.TestCase):
    """The properties that the documents list, with their defaults."""

    def listed(self, type_name):
        """Return the path of each property, its type and its default."""
        shown = self.senlin.call('GET', f'/policy-types/{type_name}')
        properties = {}

        def read(path, schema):
            for name, entry in schema.items():
                default = entry.get('default', entry['required'])
                properties[f'{path}{name}'] = entry['type'], default
                read(f'{path}{name}.', entry.get('schema') or {})

        read('', shown['policy_type']['schema'])
        return properties

    def test_region_placement(self):
        properties = {
            'regions': ('List', True),
            'regions.*': ('Map', False),
            'regions.*.name': ('String', True),
            'regions.*.weight': ('Integer', 100),
            'regions.*.cap': ('Integer', -1),
        }
        self.assertEqual(properties, self.listed(f'{base.REGION_POLICY}-1.0'))

    def test_deletion(self):
        properties = {
            'criteria': ('String', 'RANDOM'),
            'destroy_after_deletion': ('Boolean', True),
            'grace_period': ('Integer', 0),
            'reduce_desired_capacity': ('Boolean', True),
            'hooks': ('Map', {}),
            'hooks.type': ('String', 'zaqar'),
            'hooks.params': ('Map', {}),
            'hooks.params.queue': ('String', ''),
            'hooks.params.url': ('String', ''),
            'hooks.timeout': ('Integer', 0),
        }
        for version in ('1.0', '1.1'):
            type_name = f'{base.DELETION_POLICY}-{version}'
            self.assertEqual(properties, self.listed(type_name))
