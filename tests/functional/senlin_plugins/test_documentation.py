# SPDX-License-Identifier: Apache-2.0

"""The examples of the documentation, as an operator would use them."""

import yaml
from senlin.engine import environment

from tests import console
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO


class Examples(base.TestCase):
    def setUp(self):
        super().setUp()
        blocks = [
            yaml.safe_load(block.text)
            for block in console.blocks('senlin.rst', 'yaml')
        ]
        self.specs = {}
        for block in blocks:
            if 'type' in block:
                self.specs.setdefault(block['type'], []).append(block)
        (self.environment,) = (b for b in blocks if 'type' not in b)

    def policy(self, type_name, number=0):
        """Create a policy from the page.

        :param number: which of the specs of this type, in their order.
        """
        spec = self.specs[type_name][number]
        return self.senlin.policy(
            type_name, spec['properties'], spec['version']
        )

    def test_the_worked_example_gives_the_numbers_of_the_page(self):
        type_name = 'senlin_plugins.nova.server'
        profile = self.senlin.profile(
            type_name, **self.specs[type_name][0]['properties']
        )
        cluster = self.cluster(
            self.policy(base.REGION_POLICY), profile=profile
        )
        self.act(cluster, 'scale_out', count=6)
        self.assert_servers(cluster, **{ONE: 1, TWO: 3, THREE: 2})
        self.act(cluster, 'scale_out', count=3)
        self.assert_servers(cluster, **{ONE: 2, TWO: 4, THREE: 3})
        self.act(cluster, 'scale_out')
        self.assert_servers(cluster, **{ONE: 2, TWO: 4, THREE: 4})
        self.attach(cluster, self.policy(base.DELETION_POLICY))
        regions = base.regions_of(self.senlin.nodes(cluster))
        by_age = self.senlin.by_age(cluster)
        data = self.act(cluster, 'scale_in', count=4)
        self.assert_servers(cluster, **{ONE: 1, TWO: 3, THREE: 2})
        plan = {ONE: 1, TWO: 1, THREE: 2}
        self.assertEqual(plan, data['deletion']['regions'])
        # The oldest of each region.
        oldest = []
        for region, count in plan.items():
            oldest += [n for n in by_age if regions[n] == region][:count]
        self.assertEqual(
            sorted(oldest), sorted(data['deletion']['candidates'])
        )

    def test_the_policy_with_hooks_can_be_created(self):
        policy = self.policy(base.DELETION_POLICY, 1)
        shown = self.senlin.call('GET', f'/policies/{policy}')['policy']
        self.assertEqual(f'{base.DELETION_POLICY}-1.1', shown['type'])

    def test_the_environment_file_hides_the_type_of_senlin(self):
        env = environment.global_env()
        (name,) = self.environment['custom_policies']
        plugin = env.get_policy(name)
        self.addCleanup(env.register_policy, name, plugin)
        env.load(env.parse(yaml.safe_dump(self.environment)))
        names = [
            f'{entry["name"]}-{entry["version"]}'
            for entry in self.senlin.call('GET', '/policy-types')[
                'policy_types'
            ]
        ]
        self.assertNotIn(name, names)
        self.assertIn(f'{base.REGION_POLICY}-1.0', names)
