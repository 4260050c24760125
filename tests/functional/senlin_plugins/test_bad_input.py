# SPDX-License-Identifier: Apache-2.0

"""Input that makes no sense: a clear error each, and nothing changes.

A webhook is the widest door: its data become the inputs of an action without
any check by Senlin's API.
"""

from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import EXACTLY, ONE, TWO

HUGE = 10**30
TOO_MANY = (
    'The target capacity ({}) is greater than the maximum number of nodes '
    'allowed per cluster (1000).'
)
TOO_FEW = "The target capacity (1) is less than the cluster's min_size (2)."
#: The action of a webhook, what is sent, and the reason of the refusal.
WEBHOOKS = (
    ('CLUSTER_SCALE_OUT', {'count': str(HUGE)}, TOO_MANY.format(HUGE + 2)),
    (
        'CLUSTER_SCALE_OUT',
        {'count': 'many'},
        "'count' is 'many': it must be a whole number.",
    ),
    ('CLUSTER_SCALE_IN', {'count': 1}, TOO_FEW),
    ('CLUSTER_RESIZE', EXACTLY | {'number': HUGE}, TOO_MANY.format(HUGE)),
    (
        'CLUSTER_RECOVER',
        {'operation': 5},
        "'operation' is '5': it must be one of REBOOT, REBUILD, RECREATE.",
    ),
    (
        'CLUSTER_DEL_NODES',
        {'candidates': ['nobody']},
        "The 'candidates' 'nobody' are not in the cluster.",
    ),
)
#: Properties that the readers of specs, Keystone or Senlin's schema refuse.
SPECS = (
    (
        base.REGION_POLICY,
        {'regions': [{'name': ONE, 'weight': [1]}]},
        "is '[1]': it must be a whole number.",
    ),
    (
        base.REGION_POLICY,
        {'regions': [{'name': 'Nowhere'}, {'name': '\u00dcber'}]},
        "The specified regions '['Nowhere', '\u00dcber']' could not be found.",
    ),
    (
        base.DELETION_POLICY,
        {'destroy_after_deletion': 2},
        "'2' is not a valid Boolean",
    ),
)


class Webhooks(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cluster_id = self.cluster(
            self.region_policy((ONE,), (TWO,)), self.deletion_policy()
        )
        self.act(self.cluster_id, 'scale_out', count=2)
        self.act(self.cluster_id, 'resize', min_size=2)

    def test_what_makes_no_sense_changes_nothing(self):
        before = self.held(self.cluster_id)
        for name, inputs, reason in WEBHOOKS:
            action = self.senlin.run(self.cluster_id, name, **inputs)
            self.assert_failed(reason, action)
            self.assertNotIn('creation', action['data'])
            self.assertNotIn('placement', action['data'])
            self.assert_capacity(self.cluster_id, 2)
        self.assertEqual(before, self.held(self.cluster_id))
        self.assert_servers(self.cluster_id, **{ONE: 1, TWO: 1})

    def test_the_deletion_policy_keeps_the_smallest_size(self):
        # Senlin checks it only after other policies have acted: then a server
        # has left its load balancer.
        nodes = self.ids(self.cluster_id)
        for action in (
            self.senlin.run(
                self.cluster_id, 'CLUSTER_DEL_NODES', candidates=nodes[:1]
            ),
            self.senlin.delete(f'/nodes/{nodes[0]}'),
        ):
            self.assert_failed(TOO_FEW, action)
        self.assert_servers(self.cluster_id, **{ONE: 1, TWO: 1})


class Specs(base.TestCase):
    def test_no_policy_is_created_from_a_wrong_spec(self):
        for type_name, properties, message in SPECS:
            with self.assertRaises(engine.ApiError) as caught:
                self.senlin.policy(type_name, properties)
            self.assertIn(message, str(caught.exception))
            self.assertEqual(400, caught.exception.code)
