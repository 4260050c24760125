# SPDX-License-Identifier: Apache-2.0

"""Input that makes no sense: a clear error each, and nothing changes.

A webhook is the widest door: its data become the inputs of an action without
any check by Senlin's API.
"""

from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import EXACTLY, NO_PLAN, ONE, TWO

HUGE = 10**30
TOO_MANY = (
    'The target capacity ({}) is greater than the maximum number of nodes '
    'allowed per cluster (1000).'
)
#: The action of a webhook, what is sent, and the reason of the refusal.
WEBHOOKS = (
    ('CLUSTER_SCALE_OUT', {'count': str(HUGE)}, TOO_MANY.format(HUGE + 1)),
    (
        'CLUSTER_SCALE_IN',
        {'count': -1},
        "The value of 'count' is '-1': it must be a positive integer.",
    ),
    ('CLUSTER_SCALE_IN', {'count': HUGE}, NO_PLAN),
    ('CLUSTER_RESIZE', EXACTLY | {'number': HUGE}, TOO_MANY.format(HUGE)),
    (
        'CLUSTER_RESIZE',
        EXACTLY | {'number': 'many'},
        "'number' is 'many': it must be a whole number.",
    ),
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
    (
        'CLUSTER_DEL_NODES',
        {'candidates': 'abc'},
        "The value of 'candidates' is 'abc': it must be a list of node ids.",
    ),
)
#: Properties that the readers of specs, Keystone or Senlin's schema refuse.
SPECS = (
    (
        base.REGION_POLICY,
        '1.0',
        {'regions': [{'name': ONE, 'weight': [1]}]},
        "is '[1]': it must be a whole number.",
    ),
    (
        base.REGION_POLICY,
        '1.0',
        {'regions': [{'name': 'Nowhere'}, {'name': '\u00dcber'}]},
        "The specified regions '['Nowhere', '\u00dcber']' could not be found.",
    ),
    (
        base.DELETION_POLICY,
        '1.1',
        {'mercy': True},
        "Unrecognizable spec item 'mercy'",
    ),
    (
        base.DELETION_POLICY,
        '1.1',
        {'destroy_after_deletion': 2},
        "'2' is not a valid Boolean",
    ),
    (base.DELETION_POLICY, '1.1', {'hooks': None}, "'None' is not a Map"),
)


class Webhooks(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cluster_id = self.cluster(
            self.region_policy((ONE,), (TWO,)), self.deletion_policy(), size=1
        )

    def trigger(self, action, inputs, params=None):
        """Send inputs through a webhook and return the action at its end.

        :param params: the inputs of the receiver.
        """
        # Where a receiver's URL points to; nobody asks it.
        self.set_option('host', 'senlin.example', 'receiver')
        receiver = {'name': 'door', 'type': 'webhook', 'action': action}
        receiver |= {'cluster_id': self.cluster_id, 'params': params}
        answer = self.senlin.call('POST', '/receivers', {'receiver': receiver})
        path = f'/webhooks/{answer["receiver"]["id"]}/trigger'
        answer = self.senlin.call('POST', path, inputs)
        return self.senlin.wait(answer['action'])

    def test_what_makes_no_sense_changes_nothing(self):
        before = self.held(self.cluster_id)
        for name, inputs, reason in WEBHOOKS:
            action = self.trigger(name, inputs)
            self.assert_failed(reason, action)
            self.assertNotIn('creation', action['data'])
            self.assertNotIn('placement', action['data'])
            self.assert_capacity(self.cluster_id, 1)
        self.assertEqual(before, self.held(self.cluster_id))
        self.assert_servers(self.cluster_id, **{ONE: 1})

    def test_numbers_that_are_texts_are_numbers(self):
        # The data of the request override the receiver's.
        action = self.trigger(
            'CLUSTER_SCALE_OUT', {'count': '3'}, {'count': '8'}
        )
        self.assert_done(action)
        self.assert_servers(self.cluster_id, **{ONE: 2, TWO: 2})
        inputs = EXACTLY | {'number': '2', 'max_size': '5'}
        self.assert_done(self.trigger('CLUSTER_RESIZE', inputs))
        self.assert_servers(self.cluster_id, **{ONE: 1, TWO: 1})
        path = f'/clusters/{self.cluster_id}'
        cluster = self.senlin.call('GET', path)['cluster']
        self.assertEqual(5, cluster['max_size'])


class Specs(base.TestCase):
    def test_no_policy_is_created_from_a_wrong_spec(self):
        for type_name, version, properties, message in SPECS:
            with self.assertRaises(engine.ApiError) as caught:
                self.senlin.policy(type_name, properties, version)
            self.assertIn(message, str(caught.exception))
            self.assertEqual(400, caught.exception.code)
        self.assertEqual([], self.senlin.call('GET', '/policies')['policies'])
