# SPDX-License-Identifier: Apache-2.0

"""What else Heat does to stacks goes as without this package."""

import collections
import json

from testing.heat.templates import server, stack, template
from tests.functional.heat_hints import base


def member(name, tier='one'):
    """Return a server whose request has nothing random."""
    return server(name=name, user_data_format='RAW', hints={'tier': tier})


OLD = template(kept=member('kept'), changed=member('changed'))
NEW = template(kept=member('kept'), changed=member('new', 'two'))


class _Control:
    settings = {
        'DEFAULT': {
            'enable_stack_abandon': 'true',
            'enable_stack_adopt': 'true',
        }
    }
    stacks = (
        stack(
            'actions',
            OLD,
            steps=[
                *((act, None) for act in ('check', 'suspend', 'resume')),
                ('snapshot', None),
                ('update', NEW),
                ('restore', None),
            ],
        ),
        # An abandoned stack has other ids when it is adopted.
        stack('adopted', OLD, steps=[('abandon', None), ('update', NEW)]),
    )

    def bodies(self, outcome):
        """Return what was asked for, but for the hints of this package."""
        found = []
        for request in outcome.sent:
            data = request.data
            hints = data.pop('os:scheduler_hints')
            found.append(json.dumps([data, hints['tier']], sort_keys=True))
        return collections.Counter(found)

    def test_it_goes_as_without_the_package(self):
        stock = self.run_scenario(blocked=True)
        self.assertIn('Not using heat_hints', stock.log)
        for name, told in stock.told.items():
            self.assertEqual(
                [s for s in stock.statuses(name) if s.endswith('COMPLETE')],
                self.outcome.statuses(name),
                told,
            )
        self.assertEqual(self.bodies(stock), self.bodies(self.outcome))
        self.assert_quiet()

    def test_each_server_has_the_hints_that_heat_itself_tells(self):
        sent = {r.hints['heat_resource_uuid']: r for r in self.outcome.sent}
        # Two and two, and three replacements: nothing is adopted by asking.
        self.assertEqual(7, len(sent))
        for name, count, tier in (
            ('actions', 2, 'one'),
            ('adopted', 1, 'two'),
        ):
            found = [
                r
                for r in self.outcome.told[name]['resources']
                if r['uuid'] in sent
            ]
            self.assertEqual(count, len(found))
            for resource in found:
                self.assertEqual(
                    {**self.outcome.wanted(name, resource), 'tier': tier},
                    sent[resource['uuid']].hints,
                )


class TestConvergence(_Control, base.ScenarioCase):
    """Heat's engine of today."""


class TestLegacyEngine(_Control, base.ScenarioCase):
    """``convergence_engine = false``."""

    convergence = False
