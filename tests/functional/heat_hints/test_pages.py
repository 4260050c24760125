# SPDX-License-Identifier: Apache-2.0

"""The templates and the configuration of the pages, in a real heat-engine."""

import configparser
import json
from unittest import mock

import ddt
import yaml

from os_placement_plugins import signature
from testing.heat import loopback, stack_hints
from testing.heat.templates import server, stack, template
from tests import pages
from tests.functional.heat_hints import base

NESTED = stack(
    'web',
    template(database={'type': 'nested.yaml'}),
    files={'nested.yaml': template(db=server(name='db'))},
)


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
    scenario = type('Scenario', (base.ScenarioCase,), names)
    return scenario.run_scenario(blocked=blocked)


@ddt.ddt
class PagesTest(pages.Walk):
    suite = 'heat'

    @ddt.data(*pages.select('heat'))
    def test_the_page_is_true(self, page):
        self.walk(page)

    def check_stock_hints(self, run):
        sections = read_sections(run())
        stock = run_engine((base.ONE,), blocked=True, **sections)
        ours = run_engine((base.ONE,))
        for outcome in stock, ours:
            resource = outcome.only('root', 'web')
            expected = outcome.expected_hints('root', resource)
            path = expected['heat_path_in_stack']
            self.assertEqual(6, len(expected))
            self.assert_says('is on, Heat sends six hints.')
            self.assert_says('sends these six hints for each server. By')
            self.assertEqual(expected, outcome.hints('web'), path)
        self.log = ours.log

    def check_path_list(self, run):
        path = run_engine((NESTED,)).hints('db')['heat_path_in_stack']
        text = json.dumps(path)
        self.assertTrue(pages.agrees(run().strip(), text), text)

    def check_started(self, run):
        lines = [
            line for line in self.log.splitlines() if ' INFO heat_' in line
        ]
        shown = f'...{run()}'.strip()
        self.assertTrue(
            any(pages.agrees(shown, line) for line in lines), lines
        )

    def check_signed_hints(self, run):
        data = yaml.safe_load(run())
        version = 'heat_template_version'
        data[version] = str(data[version])
        flavor = data['resources']['servers']['properties']['resource_def'][
            'properties'
        ]['flavor']
        sections = read_sections(self.files['heat.conf'])
        with mock.patch.dict(loopback._FLAVOR, name=flavor):
            outcome = run_engine((stack('nine', data),), **sections)
        nine = outcome.stacks['nine']
        self.assertEqual('CREATE_COMPLETE', nine['status'], nine['reason'])
        nova = read_sections(self.files['nova.conf'])['heat_hints']
        keys = signature.Keys([nova['signing_key']])
        requests = outcome.sent_for('nine')
        self.assertEqual(9, len(requests))
        for request in requests:
            self.assertEqual(nine['root'], request.hints['heat_root_stack_id'])
            self.assertLess({*stack_hints.SIX}, {*request.hints})
            self.assertTrue(keys.signed(request.hints, request.project))
