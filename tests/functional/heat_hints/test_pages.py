# SPDX-License-Identifier: Apache-2.0

"""The templates and the configuration of the pages, in a real heat-engine."""

import configparser
import json
from typing import Any
from unittest import mock

import ddt
import yaml

from os_placement_plugins import signature
from testing.heat import loopback, stack_hints
from testing.heat.templates import server, stack, template
from tests import pages, signing
from tests.functional.heat_hints import base, test_failures

NESTED = stack(
    'web',
    template(database={'type': 'nested.yaml'}),
    files={'nested.yaml': template(db=server(name='db'))},
)

#: Hides the entry points of this package, as if it were not installed.
NO_WHEEL = {
    'os_placement_plugins-0.dist-info/METADATA': (
        'Metadata-Version: 2.1\nName: os-placement-plugins\nVersion: 0\n'
    )
}


def read_sections(text):
    parser = configparser.ConfigParser(
        interpolation=None, default_section='', strict=False
    )
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


def run_engine(stacks, *, blocked=False, **sections):
    """Return what a new engine does with stacks.

    :param sections: lines of ``heat.conf``.
    """
    options = sections.pop('heat_hints', {})
    names = {'stacks': stacks, 'options': options, 'settings': sections}
    scenario: Any = type('Scenario', (base.ScenarioCase,), names)
    return scenario.run_scenario(blocked=blocked)


@ddt.ddt
class PagesTest(pages.Walk):
    suite = 'heat'

    @ddt.data(*pages.select('heat'))
    def test_the_page_is_true(self, page):
        self.walk(page)

    def test_an_engine_without_the_wheel(self):
        names = {
            'stacks': (base.ONE,),
            'options': {'signing_key': signing.KEY},
            'files': NO_WHEEL,
        }
        scenario: Any = type('Scenario', (base.ScenarioCase,), names)
        outcome = scenario.run_scenario()
        self.assertIsNone(outcome.hints('web'))
        self.assertNotIn('heat_hints', outcome.log)

    def check_sends_hints(self, run):
        sections = read_sections(self.files['heat.conf'])
        outcome = run_engine((base.ONE,), **sections)
        self.assertIn(stack_hints.SIGNATURE, outcome.hints('web'))
        self.assert_logged(run(), outcome.lines('INFO'))

    def check_no_root(self, run):
        outcome = base.outcome_of(test_failures.TestIgnored)
        self.assert_logged(run(), outcome.lines('WARNING'))
        self.assertNotIn('heat_root_stack_id', outcome.hints('inner'))
        outcome = base.outcome_of(test_failures.TestFail)
        self.assertIn('could not be looked up', str(outcome.lines('ERROR')))

    def assert_logged(self, shown, lines):
        """Fail unless the log has a line as the page shows it."""
        text = f'...{shown}'.strip()
        self.assertTrue(any(pages.agrees(text, line) for line in lines), lines)

    def check_stock_hints(self, run):
        sections = read_sections(run())
        stock = run_engine((base.ONE,), blocked=True, **sections)
        ours = run_engine((base.ONE, NESTED))
        for outcome in stock, ours:
            resource = outcome.only('root', 'web')
            expected = outcome.expected_hints('root', resource)
            path = expected['heat_path_in_stack']
            self.assertEqual(6, len(expected))
            self.assertEqual(expected, outcome.hints('web'), path)
        self.log = ours.log
        self.nested_hints = ours.hints('db')

    def check_path_list(self, run):
        path = self.nested_hints['heat_path_in_stack']
        text = json.dumps(path)
        self.assertTrue(pages.agrees(run().strip(), text), text)

    def check_started(self, run):
        lines = [
            line for line in self.log.splitlines() if ' INFO heat_' in line
        ]
        self.assert_logged(run(), lines)

    def check_signed_hints(self, run):
        data = yaml.safe_load(run())
        version = 'heat_template_version'
        data[version] = str(data[version])
        flavor = data['resources']['servers']['properties']['resource_def'][
            'properties'
        ]['flavor']
        files = pages.files('doc/source/quickstart-stack.rst')
        sections = read_sections(files['heat.conf'])
        with mock.patch.dict(loopback._FLAVOR, name=flavor):
            outcome = run_engine((stack('nine', data),), **sections)
        nine = outcome.stacks['nine']
        self.assertEqual('CREATE_COMPLETE', nine['status'], nine['reason'])
        nova = read_sections(files['nova.conf'])['heat_hints']
        keys = signature.Keys([nova['signing_key']])
        requests = outcome.sent_for('nine')
        self.assertEqual(9, len(requests))
        for request in requests:
            self.assertEqual(nine['root'], request.hints['heat_root_stack_id'])
            self.assertLess({*stack_hints.SIX}, {*request.hints})
            self.assertTrue(keys.signed(request.hints, request.project))
