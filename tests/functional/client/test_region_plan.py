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

PLAN = 'cluster region plan'
REGIONS = '--region RegionOne:300 --region RegionTwo::2 --region RegionThree'
CAPPED = '--region A:1:2 --region B:1:2'


@ddt.ddt
class RegionPlanTest(base.CommandTestCase):
    def test_regions_have_several_spellings(self):
        yaml_file = self.write(SPEC, 'policy.yaml')
        json_file = self.write(json.dumps(yaml.safe_load(SPEC)), 'policy.json')
        for file in yaml_file, json_file:
            self.assertEqual(
                self.data(f'{PLAN} {REGIONS} --scale-out 7'),
                self.data(f'{PLAN} --spec {file} --scale-out 7'),
            )

    def test_a_region_can_be_thought_away(self):
        words = f'{PLAN} {REGIONS} --without RegionOne --scale-out 3'
        rows, sentences = self.answer(words)
        verdict, reach = sentences
        self.assertEqual(
            '3 nodes are added: 1 in RegionTwo, 2 in RegionThree.', verdict
        )
        self.assertIn('within reach, unless --without names it', reach)
        self.assertEqual(
            ['RegionOne', 'RegionTwo', 'RegionThree'],
            [row['Region'] for row in rows],
        )
        self.assertEqual([0, 1, 2], [row['Change'] for row in rows])

    def test_a_region_that_the_policy_does_not_name_has_a_row(self):
        words = '--current Old=2 --current Gone=0 --current RegionOne=1'
        rows = self.data(f'{PLAN} {REGIONS} {words} --scale-in 1')
        old = {'Region': 'Old', 'Current': 2, 'Change': -1, 'Result': 1}
        self.assertEqual(old, rows[-1])
        self.assertEqual(4, len(rows))

    def test_a_cluster_has_a_largest_size(self):
        words = f'{PLAN} {REGIONS} --scale-out 1001'
        self.assert_one_line(self.openstack(*words.split()), '1001', '(1000)')
        _, (verdict, *_) = self.answer(f'{words} --max-nodes 1001')
        self.assertIn('1001 nodes are added', verdict)

    @ddt.unpack
    @ddt.data(
        (f'{REGIONS} --scale-out 1 --max-nodes x', '--max-nodes', "'x'"),
        ('--scale-out 1', 'Which regions?', '--spec'),
        (f'{REGIONS} --scale-out 0', '--scale-out', "'0'", '1 or greater'),
        (f'{REGIONS} --scale-in 0x3', '--scale-in', 'a whole number'),
        (f'{REGIONS} --scale-in 1', 'no feasible plan', ' 0 can be removed'),
        (
            f'{CAPPED} --current A=1 --current B=3 --scale-out 2',
            *('no feasible plan', 'The caps leave room for 1.'),
        ),
        (
            f'{CAPPED} --current A=1 --current B=3 --scale-in 2 --without B',
            *('no feasible plan', '1 can be removed'),
        ),
        (f'{CAPPED} --scale-in 1 --without A --without B', 'No region'),
        (f'{REGIONS} --current RegionOne --scale-out 5', 'NAME=COUNT'),
        (f'{REGIONS} --without Four --scale-out 5', 'Four', 'RegionOne'),
    )
    def test_a_wrong_call_is_one_line(self, arguments, *words):
        command = f'{PLAN} {arguments}'
        self.assert_one_line(self.openstack(*command.split()), *words)

    @ddt.unpack
    @ddt.data(('a: [', 'line'), (SPEC.replace('300', '-3'), "'-3'"))
    def test_a_wrong_file_is_named_in_one_line(self, text, words):
        path = self.write(text, 'policy.yaml')
        command = f'{PLAN} --scale-out 1 --spec {path}'
        self.assert_one_line(self.openstack(*command.split()), path, words)
