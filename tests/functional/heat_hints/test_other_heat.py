# SPDX-License-Identifier: Apache-2.0

"""On a Heat that this package does not know, heat-engine starts all the same.

Each of these engines imports a changed copy of Heat, which takes its time.
"""

from tests.functional.heat_hints import base

NOT_STARTED = (
    base.NOT_STARTED,
    *('stack scheduler hints are off', 'for this Heat'),
)


class _StillCreates:
    """The engine starts, creates a server without hints, and logs once."""

    error = 'Install a version of os-placement-plugins'
    stacks = (base.ONE,)

    def test_one_error_says_what_to_change_and_servers_are_created(self):
        self.assert_created('root')
        self.assertIsNone(self.outcome.hints('one'))
        (error,) = self.outcome.errors()
        self.assertIn(self.error, error)
        self.assertIn('restart heat-engine', error)


class TestSeamGone(_StillCreates, base.ScenarioCase):
    """A Heat whose classes have no method of this name any more."""

    changed_heat = {'_scheduler_hints(': '_hints_for_scheduler('}
    error = (
        '"OS::Nova::Server", "AWS::EC2::Instance" gets no hints: its class '
        'has no method _scheduler_hints, because it sends no scheduler hints '
        'or this version of Heat is not supported. Remove the type from '
        '[heat_hints] resource_types, or install a version of '
        'os-placement-plugins'
    )


class TestSchedulerHintsModuleGone(_StillCreates, base.ScenarioCase):
    """A Heat that has the hints in another module."""

    changed_heat = {
        'engine.resources import scheduler_hints': 'common import for_nova'
    }
    moved_heat = {'engine/resources/scheduler_hints.py': 'common/for_nova.py'}


class TestDatabaseModelsGone(_StillCreates, base.ScenarioCase):
    """A Heat that has its database's models elsewhere."""

    changed_heat = {'context_manager': 'enginefacade_context'}

    def test_with_on_error_fail_it_does_not_start(self):
        self.assert_not_started(*NOT_STARTED, on_error='fail')


class TestLifecyclePluginGone(_StillCreates, base.ScenarioCase):
    """A Heat whose lifecycle plug-ins have another base class."""

    changed_heat = {'class LifecyclePlugin': 'class StackPlugin'}


class TestPluginDirsGone(_StillCreates, base.ScenarioCase):
    """A Heat whose option ``plugin_dirs`` has another name."""

    changed_heat = {'plugin_dirs': 'folders_of_plugins'}

    def test_with_on_error_fail_it_does_not_start(self):
        self.assert_not_started(*NOT_STARTED, on_error='fail')

    def test_a_wrong_value_is_refused_all_the_same(self):
        self.assert_not_started(*base.REFUSED, 'option scope ', scope='some')
