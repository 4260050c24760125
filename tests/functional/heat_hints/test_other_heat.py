# SPDX-License-Identifier: Apache-2.0

"""On a Heat that this package does not know, heat-engine starts all the same.

Each of these engines imports a changed copy of Heat, which takes its time.
"""

from tests.functional.heat_hints import base


class _StillCreates:
    """The engine starts, creates a server without hints, and logs once."""

    error = (
        *('stack scheduler hints are off', 'for this Heat'),
        'Install a version of os-placement-plugins',
    )
    stacks = (base.ONE,)

    def test_one_error_says_what_to_change_and_servers_are_created(self):
        self.assert_created('root')
        self.assertIsNone(self.outcome.hints('one'))
        (error,) = self.outcome.lines('ERROR')
        for words in (*self.error, 'restart heat-engine'):
            self.assertIn(words, error)

    def test_with_on_error_fail_it_does_not_start(self):
        self.assert_not_started(base.NOT_STARTED, *self.error, on_error='fail')


class TestSeamGone(_StillCreates, base.ScenarioCase):
    """A Heat whose classes have no method of this name any more."""

    changed_heat = {'_scheduler_hints(': '_hints_for_scheduler('}
    error = (
        '"OS::Nova::Server", "AWS::EC2::Instance" gets no hints: its class '
        'has no method _scheduler_hints, because it sends no scheduler hints '
        'or this version of Heat is not supported. Remove the type from '
        '[heat_hints] resource_types, or install a version of '
        'os-placement-plugins',
    )


class TestDatabaseModelsGone(_StillCreates, base.ScenarioCase):
    """A Heat that has its database's models elsewhere.

    What else ``heat_hints.overrides`` imports is missed in the same way.
    """

    changed_heat = {'context_manager': 'enginefacade_context'}


class TestPluginDirsGone(_StillCreates, base.ScenarioCase):
    """A Heat whose option ``plugin_dirs`` has another name.

    Its base class of lifecycle plug-ins is missed in the same way.
    """

    changed_heat = {'plugin_dirs': 'folders_of_plugins'}

    def test_a_wrong_value_is_refused_all_the_same(self):
        self.assert_not_started(*base.REFUSED, 'option scope ', scope='some')
