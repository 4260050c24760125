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
#: Two regions have room for two nodes each.
CAPPED = """
type: senlin_plugins.policy.region_placement
version: 1.0
properties:
  regions:
    - name: A
      cap: 2
    - name: B
      cap: 2
"""

PLAN = 'cluster region plan'


@ddt.ddt
class RegionPlanTest(base.CommandTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.spec = f'--spec {self.write(SPEC, "policy.yaml")}'

    def test_a_spec_may_be_json(self) -> None:
        file = self.write(json.dumps(yaml.safe_load(SPEC)), 'policy.json')
        self.assertEqual(
            self.data(f'{PLAN} {self.spec} --scale-out 7'),
            self.data(f'{PLAN} --spec {file} --scale-out 7'),
        )

    def test_a_region_can_be_thought_away(self) -> None:
        words = f'{PLAN} {self.spec} --without RegionOne --scale-out 3'
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

    def test_a_region_that_the_policy_does_not_name_has_a_row(self) -> None:
        words = '--current Old=2 --current Gone=0 --current RegionOne=1'
        rows = self.data(f'{PLAN} {self.spec} {words} --scale-in 1')
        old = {'Region': 'Old', 'Current': 2, 'Change': -1, 'Result': 1}
        self.assertEqual(old, rows[-1])
        self.assertEqual(4, len(rows))

    @ddt.unpack
    @ddt.data(
        ('--scale-out 0', '--scale-out', "'0'", '1 or greater'),
        ('--scale-in 0x3', '--scale-in', 'a whole number'),
        ('--scale-out 100001', '--scale-out', '100000 or less'),
        ('--current RegionOne --scale-out 5', 'NAME=COUNT'),
        ('--without Four --scale-out 5', 'Four', 'RegionOne'),
    )
    def test_a_wrong_call_is_one_line(self, arguments, *words) -> None:
        command = f'{PLAN} {self.spec} {arguments}'
        self.assert_one_line(self.openstack(*command.split()), *words)

    def test_a_policy_must_be_named(self) -> None:
        result = self.openstack(*PLAN.split(), '--scale-out', '1')
        self.assert_one_line(result, 'Which regions?', '--spec')

    @ddt.unpack
    @ddt.data(
        ('--scale-in 1', 'no feasible plan', ' 0 can be removed'),
        (
            '--current A=1 --current B=3 --scale-out 2',
            *('no feasible plan', 'The caps leave room for 1.'),
        ),
        (
            '--current A=1 --current B=3 --scale-in 2 --without B',
            *('no feasible plan', ' 1 can be removed'),
        ),
        ('--scale-in 1 --without A --without B', 'No region is found usable'),
    )
    def test_a_refusal_has_its_numbers(self, arguments, *words) -> None:
        spec = self.write(CAPPED, 'capped.yaml')
        command = f'{PLAN} --spec {spec} {arguments}'
        self.assert_one_line(self.openstack(*command.split()), *words)

    @ddt.unpack
    @ddt.data(('a: [', 'line'), (SPEC.replace('300', '-3'), "'-3'"))
    def test_a_wrong_file_is_named_in_one_line(self, text, words):
        path = self.write(text, 'policy.yaml')
        command = f'{PLAN} --scale-out 1 --spec {path}'
        self.assert_one_line(self.openstack(*command.split()), path, words)
