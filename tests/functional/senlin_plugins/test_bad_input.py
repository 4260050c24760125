# SPDX-License-Identifier: Apache-2.0

"""Input that makes no sense: a clear error each, and nothing changes.

All of it through the REST API. A webhook is the widest door: what it is
given becomes the inputs of an action without any check by Senlin's API.
"""

from testing.senlin import driver, engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

ABROAD = 'Z\u00fcrich-\u6771\u4eac'
BILLION = 10**9
HUGE = 10**30
HOOK = {'type': 'zaqar', 'params': {'queue': 'goodbye'}}

NOT_POSITIVE = "The value of 'count' is '{}': it must be a positive integer."
TOO_MANY = (
    'The target capacity ({}) is greater than the maximum number of nodes '
    'allowed per cluster (1000).'
)
NO_PLAN = 'There is no feasible plan to handle all nodes.'


#: Properties that are refused, and words of the reason. What the reader of
#: specs refuses is in its own tests.
REGIONS = (
    (None, "'regions' must be a list of regions."),
    (
        [{'name': 'Nowhere'}, {'name': '\u00dcber'}],
        "The specified regions '['Nowhere', '\u00dcber']' could not be found.",
    ),
    ([{'name': ['a']}], "'[\"['a']\"]' could not be found"),
    ([{'name': ONE, 'weight': [1]}], "is '[1]': it must be a whole"),
    ([{'name': ONE, 'weight': '\uff11\uff12'}], 'it must be a whole number'),
    ([{'name': ONE, 'cap': '1_0'}], "is '1_0': it must be a whole number"),
    ([{'name': ONE, 'weight': '9' * 5000}], 'it must be a whole number'),
)
DELETION = (
    ({'mercy': True}, "Unrecognizable spec item 'mercy'"),
    ({'criteria': None}, "'None'"),
    ({'criteria': 7}, "'criteria' is '7': it must be one of"),
    ({'criteria': ['RANDOM']}, "'criteria' is '['RANDOM']'"),
    ({'grace_period': -1}, "'grace_period' is '-1'"),
    ({'grace_period': None}, "'grace_period' is 'None': it must"),
    ({'grace_period': 'soon'}, "is 'soon': it must be a whole number"),
    ({'grace_period': 1.5}, "is '1.5': it must be a whole number"),
    ({'grace_period': False}, "'False': it must be a whole number"),
    ({'destroy_after_deletion': None}, "'None' is not a valid Boolean"),
    ({'destroy_after_deletion': 2}, "'2' is not a valid Boolean"),
    ({'reduce_desired_capacity': []}, "'[]' is not a valid Boolean"),
    ({'hooks': None}, "'None' is not a Map"),
    ({'hooks': []}, "'[]' is not a Map"),
    ({'hooks': {'type': 'zaqar', 'params': 7}}, "'7' is not a Map"),
    ({'hooks': {'params': {}}}, "must have 'queue'"),
    ({'hooks': {'params': {'queue': ['a']}}}, "'queue' of 'hooks' is '['a']'"),
    ({'grace_period': '1_0'}, "is '1_0': it must be a whole number"),
    (
        {'hooks': {'type': 'webhook', 'params': {'url': 'http://x'}}},
        "'type' of 'hooks' is 'webhook': Senlin cannot send such hooks",
    ),
    ({'hooks': HOOK | {'timeout': -1}}, "'timeout' of 'hooks'"),
    ({'hooks': {'type': 'pigeon'}}, "is 'pigeon': it must be one of"),
    ({'hooks': {'type': None}}, "'None'"),
    ({'hooks': {'type': ['zaqar']}}, "'type' of 'hooks' is '['zaqar']'"),
    ({'hooks': {'timeout': 'x'}}, "'timeout' of 'hooks' is 'x': it"),
    ({'hooks': {'params': {'queue': 'q', 't': 1}}}, "spec item 't'"),
    ({'hooks': {'params': {'queue': 'q'}, 'x': 1}}, "spec item 'x'"),
)


class TestCase(base.TestCase):
    """Requests to a cluster with a policy, which they leave as it is."""

    POLICY = base.REGION_POLICY
    SPEC = {'regions': [{'name': ONE}, {'name': TWO}]}

    def setUp(self):
        super().setUp()
        self.cluster_id = self.built(
            lambda: self.cluster(
                self.senlin.policy(self.POLICY, self.SPEC), size=1
            )
        )
        before = self.picture()
        self.addCleanup(lambda: self.assertEqual(before, self.picture()))

    def picture(self):
        """Return all that a request might change."""
        self.wait_until_free(self.cluster_id)
        shown = self.senlin.call('GET', f'/clusters/{self.cluster_id}')
        return (
            {
                key: shown['cluster'][key]
                for key in ('status', 'desired_capacity', 'nodes')
            },
            [
                (node['id'], node['status'], node['physical_id'])
                for node in self.senlin.nodes(self.cluster_id)
            ],
            self.cloud.servers_of(self.cluster_id),
        )

    def trigger(self, action, **inputs):
        """Send inputs through a webhook and return the action at its end."""
        return self.webhook(self.cluster_id, action, **inputs)


class RegionCounts(TestCase):
    """The number of nodes, under the region placement policy."""

    def test_what_is_no_number_of_nodes(self):
        exact, change = (
            {'adjustment_type': kind, 'number': HUGE}
            for kind in ('EXACT_CAPACITY', 'CHANGE_IN_CAPACITY')
        )
        out, into = 'CLUSTER_SCALE_OUT', 'CLUSTER_SCALE_IN'
        for action, inputs, reason in (
            (out, {'count': None}, NOT_POSITIVE.format(None)),
            (into, {'count': -1}, NOT_POSITIVE.format(-1)),
            (into, {'count': HUGE}, NO_PLAN),
            (out, {'count': str(BILLION)}, TOO_MANY.format(BILLION + 1)),
            (out, {'count': HUGE}, TOO_MANY.format(HUGE + 1)),
            ('CLUSTER_RESIZE', exact, TOO_MANY.format(HUGE)),
            ('CLUSTER_RESIZE', change, TOO_MANY.format(HUGE + 1)),
        ):
            ended = self.trigger(action, **inputs)
            self.assert_failed(reason, ended)
            self.assertNotIn('creation', ended['data'])
            self.assertNotIn('placement', ended['data'])

    def test_what_a_webhook_sends_that_makes_no_sense(self):
        exact, change = (
            {'adjustment_type': kind, 'number': number}
            for kind, number in (
                ('EXACT_CAPACITY', 'many'),
                ('CHANGE_IN_CAPACITY', [1]),
            )
        )
        nope = {'adjustment_type': 'NOPE', 'number': 1}
        for action, how, reason in (
            ('CLUSTER_RESIZE', exact, "'number' is 'many': it must be a"),
            ('CLUSTER_RESIZE', change, "'number' is '[1]': it must be a"),
            ('CLUSTER_RESIZE', nope, "'adjustment_type' is 'NOPE': it must"),
            ('CLUSTER_RESIZE', {'min_size': 'x'}, "'min_size' is 'x': it"),
            ('CLUSTER_RESIZE', {'max_size': 'x'}, "'max_size' is 'x': it"),
            ('CLUSTER_RECOVER', {'operation': 5}, "'operation' is '5': it"),
        ):
            ended = self.trigger(action, **how)
            self.assertIn(reason, ended['data']['reason'])
            self.assert_failed(ended['data']['reason'], ended)

    def test_numbers_that_are_texts_are_numbers(self):
        how = {'adjustment_type': 'EXACT_CAPACITY', 'number': '1'}
        ended = self.trigger('CLUSTER_RESIZE', max_size='5', **how)
        self.assert_done(ended)
        shown = self.senlin.call('GET', f'/clusters/{self.cluster_id}')
        self.assertEqual(5, shown['cluster']['max_size'])


class DeletionCandidates(TestCase):
    """The nodes to remove, under the deletion policy."""

    POLICY = base.DELETION_POLICY
    SPEC = {}

    def test_what_is_no_number_of_nodes(self):
        action = self.trigger('CLUSTER_SCALE_IN', count=[1])
        self.assert_failed(NOT_POSITIVE.format([1]), action)
        how = {'adjustment_type': 'EXACT_CAPACITY', 'number': HUGE}
        action = self.trigger('CLUSTER_RESIZE', **how)
        self.assert_failed(TOO_MANY.format(HUGE), action)

    def test_candidates_that_are_no_list_of_ids(self):
        for candidates in ('abc', {'a': 1}, [7], [['x']]):
            action = self.trigger('CLUSTER_DEL_NODES', candidates=candidates)
            reason = (
                f"The value of 'candidates' is '{candidates}': it must be a "
                'list of node ids.'
            )
            self.assert_failed(reason, action)


class Specs(base.TestCase):
    """Specs that no policy is created from."""

    def assert_no_policy(self, message, *spec):
        """Check that the API refuses a spec and keeps nothing of it."""
        before = self.senlin.call('GET', '/policies')
        with self.assertRaises(engine.ApiError) as caught:
            self.senlin.policy(*spec)
        self.assertIn(message, str(caught.exception))
        self.assertEqual(400, caught.exception.code)
        self.assertEqual(before, self.senlin.call('GET', '/policies'))

    def test_regions(self):
        for regions, message in REGIONS:
            self.assert_no_policy(
                message, base.REGION_POLICY, {'regions': regions}
            )

    def test_deletion(self):
        kind = base.DELETION_POLICY
        for properties, message in DELETION:
            self.assert_no_policy(message, kind, properties, '1.1')
        message = "'hooks' needs version 1.1"
        self.assert_no_policy(message, kind, {'hooks': HOOK})


class Unusual(base.TestCase):
    def test_a_region_with_a_name_beyond_ascii(self):
        self.cloud.regions[ABROAD] = driver.Region(ABROAD)
        self.cloud.keystone_regions.add(ABROAD)
        cluster = self.spread((ABROAD,))
        data = self.act(cluster, 'scale_out')
        self.assertEqual({ABROAD: 1}, data['creation']['regions'])
        self.assert_servers(cluster, **{ABROAD: 1})
        self.act(cluster, 'scale_in')
        self.assert_servers(cluster)
