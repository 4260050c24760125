# SPDX-License-Identifier: Apache-2.0

"""What else Heat does to stacks goes as without this package."""

import collections
import json

from os_placement_plugins import signature
from testing.heat.templates import (
    autoscaling,
    server,
    stack,
    template,
    volume,
)
from tests.functional.heat_hints import base


def member(name, tier='one'):
    """Return a server whose request has nothing random."""
    return server(name=name, user_data_format='RAW', hints={'tier': tier})


class _Control:
    settings = {
        'DEFAULT': {
            'enable_stack_abandon': 'true',
            'enable_stack_adopt': 'true',
        }
    }
    stacks = (
        stack(
            'restored',
            template(one=member('kept'), two=member('changed')),
            steps=[
                ('snapshot', None),
                (
                    'update',
                    template(one=member('kept'), two=member('new', 'two')),
                ),
                ('restore', None),
            ],
        ),
        stack(
            'scaled',
            autoscaling(1, member('scaled')),
            steps=[
                ('signal', ('out', 2)),
                ('signal', ('out', 3)),
                ('signal', ('in', 2)),
                ('signal', ('out', 3)),
            ],
        ),
        stack(
            'adopted',
            template(one=member('left')),
            steps=[
                ('abandon', None),
                (
                    'update',
                    template(one=member('left'), two=member('added')),
                ),
            ],
        ),
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
                [s for s in told['steps'] if s.endswith('COMPLETE')],
                self.outcome.told[name]['steps'],
                told,
            )
        self.assertEqual(self.bodies(stock), self.bodies(self.outcome))
        self.assert_quiet()

    def test_each_server_has_the_hints_that_heat_itself_tells(self):
        sent = {r.hints['heat_resource_uuid']: r for r in self.outcome.sent}
        # An abandoned stack has other ids when it is adopted.
        for name, count in (('restored', 2), ('scaled', 3), ('adopted', 1)):
            told = self.outcome.told[name]
            found = [r for r in told['resources'] if r['uuid'] in sent]
            self.assertEqual(count, len(found))
            for resource in found:
                self.assertEqual(
                    {**self.outcome.wanted(name, resource), 'tier': 'one'},
                    sent[resource['uuid']].hints,
                )


class TestConvergence(_Control, base.ScenarioCase):
    """Heat's engine of today."""


class TestLegacyEngine(_Control, base.ScenarioCase):
    """``convergence_engine = false``."""

    convergence = False


class TestKeyRotation(base.ScenarioCase):
    """The steps of the page, while a stack grows."""

    OLD = 'older-key-0123456789abcdef0123456789'
    NEW = 'newer-key-0123456789abcdef0123456789'
    options = {
        'signing_key': OLD,
        'user_hints': 'reject',
        'resource_types': 'OS::Nova::Server,OS::Cinder::Volume',
    }
    stacks = (stack('root', autoscaling(1, server(), disk=volume())),)
    restarts = tuple(
        (
            {'signing_key': key},
            (
                {
                    'name': 'root',
                    'steps': [
                        ('signal', ('out', count)),
                        (
                            'update',
                            autoscaling(
                                count + 1,
                                server(),
                                disk=volume(),
                                **{f'disk{count}': volume()},
                            ),
                        ),
                    ],
                },
                stack(f'stack{count}', template(one=server())),
            ),
        )
        for key, count in ((f'{OLD},{NEW}', 2), (f'{NEW},{OLD}', 4), (NEW, 6))
    )

    def test_nothing_is_refused_and_all_of_it_is_believed(self):
        # nova-scheduler has both keys all the time.
        both = signature.Keys([self.OLD, self.NEW])
        for told in self.outcome.told.values():
            for step in told['steps']:
                self.assertTrue(step.endswith('COMPLETE'), told)
        used = []
        for request in self.outcome.sent:
            self.assertTrue(both.signed(request.hints, request.project))
            used.append(signature.key_id(request.hints))
        old, new = both.ids
        # The first engine signs two, and each other one four.
        self.assertEqual([old] * 6 + [new] * 8, used)
