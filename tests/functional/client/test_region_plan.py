# SPDX-License-Identifier: Apache-2.0

"""``openstack cluster region plan`` from options and files, in the shell."""

import json

import ddt
import yaml

from tests.functional.client import base

SPEC = """
type: senlin_plugins.policy.region_placement
version: 1.0
properties:
  regions:
    - name: RegionOne
      weight: 300
    - name: RegionTwo
      cap: 2
    - name: RegionThree
"""

REGIONS = '--region RegionOne:300 --region RegionTwo::2 --region RegionThree'


@ddt.ddt
class RegionPlanTest(base.CommandTestCase):
    def plan(self, words):
        """Return a plan as data."""
        return self.data('cluster', 'region', 'plan', *words.split())

    def test_a_plan_has_several_spellings(self):
        yaml_file = self.write(SPEC, 'policy.yaml')
        json_file = self.write(json.dumps(yaml.safe_load(SPEC)), 'policy.json')
        now = '--current RegionOne=9'
        for words, same in (
            ('--count +7', f'--spec {yaml_file} --scale-out 7'),
            ('--count +7', f'--spec {json_file} --scale-out 7'),
            (f'{now} --count -2', f'{REGIONS} {now} --scale-in 2'),
        ):
            self.assertEqual(self.plan(f'{REGIONS} {words}'), self.plan(same))

    def test_a_region_can_be_thought_away(self):
        plan = self.plan(f'{REGIONS} --without RegionOne --count +3')
        self.assertEqual(
            '3 nodes are added: 1 in RegionTwo, 2 in RegionThree.',
            plan['verdict'],
        )
        first, *_ = plan['regions']
        self.assertEqual(
            {
                'region': 'RegionOne', 'weight': 300, 'cap': None,
                'current': 0, 'change': 0, 'result': 0, 'target': 1.8,
                'why': 'out of reach: left as it is',
            },
            first,
        )  # fmt: skip

    @ddt.unpack
    @ddt.data(
        ('--scale-out 1', 'Which regions?', '--spec'),
        (f'{REGIONS} --count 3', "'3'", '+3'),
        (f'{REGIONS} --count +0', "'0'", 'positive'),
        (f'{REGIONS} --scale-out many', "'many'", 'positive'),
        (
            f'{REGIONS} --scale-in 1',
            'no feasible plan',
            '1 node is to be removed, and 0 can be',
        ),
        (
            '--region a:1:2 --scale-out 5',
            'no feasible plan',
            '5 nodes',
            'room for 2',
        ),
        ('--region a:1:2:3 --scale-out 5', 'NAME:WEIGHT:CAP'),
        ('--region a:-1 --scale-out 5', "'-1'", 'from 0 to'),
        (f'{REGIONS} {REGIONS} --scale-out 5', '2 times'),
        (
            f'{REGIONS} --current RegionOne --scale-out 5',
            "'RegionOne'",
            'NAME=COUNT',
        ),
        (
            f'{REGIONS} --without RegionFour --scale-out 5',
            'RegionFour',
            'RegionOne, RegionTwo',
        ),
        ('--spec /nowhere/policy.yaml --scale-out 5', '/nowhere'),
        ('--spec / --scale-out 5', "'/'", 'directory'),
    )
    def test_a_wrong_call_is_one_line(self, arguments, *words):
        command = ['cluster', 'region', 'plan', *arguments.split()]
        self.assert_one_line(self.openstack(*command), *words)

    @ddt.unpack
    @ddt.data(
        ('a: [', 'line'),
        ('- a', 'not a mapping'),
        (SPEC.replace('cap', 'cup'), "'cup'", 'name, weight, cap'),
        (SPEC.replace('300', '-3'), "'-3'", 'from 0 to'),
    )
    def test_a_wrong_file_is_one_line(self, text, *words):
        path = self.write(text, 'policy.yaml')
        command = ['cluster', 'region', 'plan', '--count', '+1']
        result = self.openstack(*command, '--spec', path)
        self.assert_one_line(result, path, *words)
