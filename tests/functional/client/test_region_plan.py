# SPDX-License-Identifier: Apache-2.0

"""``openstack cluster region plan`` from options and files, in the shell."""

import json
import pathlib
import sys
from unittest import mock

import ddt
import yaml

from tests.functional.client import base, rest_stub

COMMAND = ('cluster', 'region', 'plan')

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

REGIONS = (
    ('--region', 'RegionOne:300')
    + ('--region', 'RegionTwo::2')
    + ('--region', 'RegionThree')
)


@ddt.ddt
class RegionPlanTest(base.CommandTestCase):
    def plan(self, *arguments):
        """Return the rows of a plan as data."""
        return self.data(*COMMAND, *arguments)

    def spec(self, text):
        """Write a spec file and return its path."""
        path = pathlib.Path(self.folder) / 'policy.yaml'
        path.write_text(text)
        return str(path)

    def test_a_plan_shows_distribution_target_and_reason(self):
        rows = self.plan(
            *REGIONS, '--current', 'RegionOne=3', '--current', 'Old=1',
            '--count', '+11',
        )  # fmt: skip
        self.assertEqual(
            [
                {
                    'Region': 'RegionOne',
                    'Weight': 300,
                    'Cap': None,
                    'Current': 3,
                    'Change': 6,
                    'Result': 9,
                    'Target': 9.0,
                    'Why': '',
                },
                {
                    'Region': 'RegionTwo',
                    'Weight': 100,
                    'Cap': 2,
                    'Current': 0,
                    'Change': 2,
                    'Result': 2,
                    'Target': 3.0,
                    'Why': 'its cap of 2 binds: 1 more would come here',
                },
                {
                    'Region': 'RegionThree',
                    'Weight': 100,
                    'Cap': None,
                    'Current': 0,
                    'Change': 3,
                    'Result': 3,
                    'Target': 3.0,
                    'Why': '',
                },
                {
                    'Region': 'Old',
                    'Weight': None,
                    'Cap': None,
                    'Current': 1,
                    'Change': 0,
                    'Result': 1,
                    'Target': 0.0,
                    'Why': 'not in the policy: gets no nodes',
                },
            ],
            rows,
        )

    def test_a_spec_file_says_the_same_as_options(self):
        wanted = self.plan(*REGIONS, '--scale-out', '7')
        path = self.spec(SPEC)
        self.assertEqual(wanted, self.plan('--spec', path, '--scale-out', '7'))
        path = self.spec(json.dumps(yaml.safe_load(SPEC)))
        self.assertEqual(wanted, self.plan('--spec', path, '--scale-out', '7'))

    @ddt.unpack
    @ddt.data(
        (('--count', '+2'), ('--scale-out', '2')),
        (('--count', '-2'), ('--scale-in', '2')),
    )
    def test_a_count_has_two_spellings(self, one, other):
        current = ('--current', 'RegionOne=9')
        self.assertEqual(
            self.plan(*REGIONS, *current, *one),
            self.plan(*REGIONS, *current, *other),
        )

    def test_steps_show_each_node(self):
        rows = self.plan(
            *('--region', 'a:200', '--region', 'b', '--scale-out', '3'),
            '--steps',
        )
        self.assertEqual(
            [
                (1, 'a', {'a': 1, 'b': 0}),
                (2, 'b', {'a': 1, 'b': 1}),
                (3, 'a', {'a': 2, 'b': 1}),
            ],
            [
                (row['Step'], row['Region'], row['Distribution'])
                for row in rows
            ],
        )

    def test_a_region_can_be_thought_away(self):
        rows = self.plan(*REGIONS, '--without', 'RegionOne', '--count', '+3')
        found = {row['Region']: (row['Change'], row['Why']) for row in rows}
        self.assertEqual(
            (0, 'out of reach: left as it is'), found['RegionOne']
        )
        self.assertEqual(1, found['RegionTwo'][0])
        self.assertEqual(2, found['RegionThree'][0])

    @ddt.data('table', 'yaml', 'csv', 'value')
    def test_every_formatter_shows_the_plan(self, formatter):
        result = self.openstack(
            *COMMAND, *REGIONS, '--scale-out', '7', '-f', formatter
        )
        self.assertEqual((0, ''), (result.status, result.error))
        self.assertIn('RegionThree', result.output)

    def test_the_command_runs_as_a_process_without_a_cloud(self):
        result = self.openstack_process(
            *COMMAND, *REGIONS, '--count', '-1', '--current', 'RegionTwo=1'
        )
        self.assertEqual((0, ''), (result.status, result.error))
        self.assertIn('| RegionTwo ', result.output)

    def test_a_comparison_without_senlin_is_one_line(self):
        # One of the environments of these tests has it.
        with mock.patch.dict(sys.modules, {'senlin': None}):
            result = self.openstack(
                *COMMAND, *REGIONS, '--scale-out', '5', '--compare'
            )
        self.assert_one_line(
            result, 'Senlin is not installed', 'os-placement-plugins[senlin]'
        )

    @ddt.unpack
    @ddt.data(
        (('--scale-out', '1'), ('Which regions?', '--spec')),
        ((*REGIONS, '--count', '3'), ("'3'", '+3')),
        ((*REGIONS, '--count', '+0'), ("'0'", 'positive')),
        ((*REGIONS, '--scale-out', 'many'), ("'many'", 'positive')),
        (
            (*REGIONS, '--scale-in', '1'),
            ('no feasible plan', '1 node is to be removed, and 0 can be'),
        ),
        (
            ('--region', 'a:1:2', '--scale-out', '5'),
            ('no feasible plan', '5 nodes', 'room for 2'),
        ),
        (('--region', 'a:1:2:3', '--scale-out', '5'), ('NAME:WEIGHT:CAP',)),
        (('--region', 'a:-1', '--scale-out', '5'), ("'-1'", '0 or greater')),
        ((*REGIONS, *REGIONS, '--scale-out', '5'), ('2 times',)),
        (
            (*REGIONS, '--current', 'RegionOne', '--scale-out', '5'),
            ("'RegionOne'", 'NAME=COUNT'),
        ),
        (
            (*REGIONS, '--without', 'RegionFour', '--scale-out', '5'),
            ('RegionFour', 'RegionOne, RegionTwo'),
        ),
        (
            ('--spec', '/nowhere/policy.yaml', '--scale-out', '5'),
            ('/nowhere',),
        ),
        (('--spec', '/', '--scale-out', '5'), ("'/'", 'directory')),
        (('--cluster', 'web', '--scale-out', '5'), ('auth',)),
    )
    def test_a_wrong_call_is_one_line(self, arguments, words):
        self.assert_one_line(self.openstack(*COMMAND, *arguments), *words)

    @ddt.unpack
    @ddt.data(
        ('a: [', ('policy.yaml', 'line')),
        ('- a', ('no mapping',)),
        (SPEC.replace('cap', 'cup'), ("'cup'", 'name, weight, cap')),
        (SPEC.replace('300', '-3'), ("'-3'", '0 or greater')),
    )
    def test_a_wrong_file_is_one_line(self, text, words):
        result = self.openstack(
            *COMMAND, '--spec', self.spec(text), '--count', '+1'
        )
        self.assert_one_line(result, 'policy.yaml', *words)

    def test_a_cloud_that_does_not_answer_is_one_line(self):
        result = self.openstack(
            *COMMAND, '--cluster', 'web', '--scale-out', '1',
            OS_AUTH_TYPE='admin_token', OS_TOKEN='t',
            OS_ENDPOINT='http://127.0.0.1:9/',
        )  # fmt: skip
        self.assert_one_line(result, '127.0.0.1')

    def test_a_keystone_that_does_not_answer_is_one_line(self):
        login = rest_stub.LOGIN | {'OS_AUTH_URL': 'http://127.0.0.1:9/v3'}
        arguments = ('--cluster', 'web', '--scale-out', '1')
        result = self.openstack(*COMMAND, *arguments, **login)
        self.assert_one_line(result, '127.0.0.1:9')
        # Who asks for more gets more.
        result = self.openstack('-v', *COMMAND, *arguments, **login)
        self.assertGreater(len(result.error.splitlines()), 1)
