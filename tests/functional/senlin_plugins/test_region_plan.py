# SPDX-License-Identifier: Apache-2.0

"""``openstack cluster region plan`` on a running Senlin, and beside it."""

from senlin.common import context
from senlin.db.sqlalchemy import api as db_api
from senlin.policies import base as policy_base

from senlin_plugins import conversion
from senlin_plugins.planning import spec as policy_specs
from tests.functional.senlin_plugins import (
    base,
    gateway,
    test_region_placement,
)
from tests.functional.senlin_plugins.base import ONE, THREE, TWO


class LivePlanTest(gateway.ShellTestCase):
    """Plans for clusters of the engine in this process."""

    def plan(self, *arguments):
        """Return what changes in each region, and what is said of it."""
        document = self.run_region('plan', *arguments)
        self.regions = {row['region']: row for row in document['regions']}
        changes = {
            name: row['change']
            for name, row in self.regions.items()
            if row['change']
        }
        return changes, '\n'.join(document['unjudged'])

    def assert_refused(self, words, *arguments):
        """Check that the command fails with one clear line."""
        result = self.shell('plan', *arguments, '--count', '+2')
        self.assert_one_line(result, *words)

    def test_the_plan_is_what_the_policy_then_does(self):
        cluster = self.spread((ONE, 300), (TWO, 100, 1), (THREE,))
        planned, _ = self.plan('--cluster', cluster, '--count', '+7')
        data = self.act(cluster, 'scale_out', count=7)
        self.assertEqual(data['creation']['regions'], planned)
        planned, remarks = self.plan('--cluster', cluster, '--count', '-4')
        self.assertEqual('', remarks)
        data = self.act(cluster, 'scale_in', count=4)
        self.assertEqual(
            data['deletion']['regions'],
            {region: -n for region, n in planned.items()},
        )
        # Nothing but reading, after the logins.
        requests = set(self.gateway.requests)
        requests.discard(('POST', '/identity/v3/auth/tokens'))
        self.assertEqual({'GET'}, {method for method, _ in requests})

    def test_a_policy_without_a_cluster(self):
        policy = self.region_policy((ONE, 100, 1), (TWO, 100), (THREE, 100))
        planned, remarks = self.plan(
            '--policy',
            policy,
            '--current',
            f'{TWO}=1',
            '--scale-out',
            '5',
        )
        self.assertEqual({ONE: 1, TWO: 1, THREE: 3}, planned)
        self.assertEqual('', remarks)

    def test_an_id_from_the_default_region_ties_a_converted_profile(self):
        profile = self.senlin.profile(
            'os.nova.server',
            flavor='small',
            block_device_mapping_v2=[test_region_placement.VOLUME],
            networks=[],
        )
        with db_api.session_for_write() as session:
            conversion.convert_profile(session, profile, False, True)
        policy = self.region_policy((ONE,), (TWO,))
        cluster = self.cluster(policy, profile=profile)
        asked = ('--cluster', cluster, '--count', '+2')
        unknown = self.shell('plan', *asked)
        self.assertEqual(1, unknown.status)
        self.assertIn('say with --default-region', unknown.error)
        planned, remarks = self.plan(*asked, '--default-region', ONE)
        self.assertEqual({ONE: 2}, planned)
        tie = (
            "the profile names the id of a volume in 'block_device_mapping_v2'"
        )
        self.assertIn(f'The policy leaves {TWO} out: {tie}.', remarks)
        # The policy plans the same, and the stub cloud has no volumes.
        action = self.senlin.act(cluster, 'scale_out', count=2)
        self.assertEqual({ONE: 2}, action['data']['creation']['regions'])

    def test_a_plan_without_effect_is_told(self):
        in_tree = self.senlin.policy(
            'senlin.policy.region_placement', {'regions': [{'name': TWO}]}
        )
        cluster = self.cluster(
            in_tree, profile=self.senlin.profile('os.nova.server')
        )
        planned, remarks = self.plan('--cluster', cluster, '--count', '+2')
        self.assertEqual({TWO: 2}, planned)
        self.assertIn("The policy is Senlin's own", remarks)
        self.assertIn("type 'os.nova.server' are not from this", remarks)
        # With both policies attached the effective one counts.
        cluster = self.spread((ONE,))
        self.attach(cluster, in_tree)
        planned, remarks = self.plan('--cluster', cluster, '--count', '+2')
        self.assertEqual(({ONE: 2}, ''), (planned, remarks))

    def test_nodes_without_a_region_need_the_default_region(self):
        # Created by the in-tree profile, before there was a policy.
        profile = self.senlin.profile('os.nova.server')
        cluster = self.cluster(profile=profile, size=2)
        policy = self.region_policy((ONE,), (TWO,))
        arguments = ('--cluster', cluster, '--policy', policy)
        self.assert_refused(('2 node(s)', '--default-region'), *arguments)
        planned, _ = self.plan(
            *arguments, '--count', '+2', '--default-region', ONE
        )
        self.assertEqual({TWO: 2}, planned)


class SpecRulesTest(base.TestCase):
    """Senlin's own schema takes what the reader of specs takes.

    The policy asks the reader first, so it refuses what the reader refuses.
    """

    def test_specs_are_accepted_by_both(self):
        spec = {'type': base.REGION_POLICY, 'version': '1.0'}
        plain = {'regions': [{'name': ONE}]}
        texts = {'regions': [{'name': 1, 'weight': '3', 'cap': '-1'}]}
        for entries in (
            {'properties': texts},
            {'properties': plain, 'version': 1.0},
            {'properties': plain, 'description': 'text'},
        ):
            regions = policy_specs.parse_regions(spec | entries).regions
            policy = policy_base.Policy('policy', spec | entries)
            valid = policy.validate(context.RequestContext())
            self.assertTrue(valid, regions)
