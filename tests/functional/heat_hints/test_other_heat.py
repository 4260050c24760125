# SPDX-License-Identifier: Apache-2.0

"""On a Heat that this package does not know, heat-engine starts all the same.

The engines lack what another release of Heat may have elsewhere. A constraint
takes it away, which Heat loads before the hook.
"""

from testing.heat.templates import stack, template
from tests.functional.heat_hints import base

GONE = """
import sys
from heat import engine

vars(engine).pop('lifecycle_plugin', None)
sys.modules['heat.engine.lifecycle_plugin'] = None
"""
METHOD_GONE = """
from heat.engine.resources.scheduler_hints import SchedulerHintsMixin

del SchedulerHintsMixin._scheduler_hints
"""


class _Gone:
    entry_points = {'heat.constraints': {'gone': 'gone'}}
    #: What an error says.
    error = ()

    def test_with_on_error_fail_it_does_not_start(self):
        self.assert_not_started(base.NOT_STARTED, *self.error, on_error='fail')


class TestMethodGone(_Gone, base.ScenarioCase):
    """No class has the method that Heat asks for the hints."""

    files = {'gone.py': METHOD_GONE}
    stacks = (stack('root', template()),)
    error = (
        '"OS::Nova::Server" gets no hints: Heat has no such type, or its '
        'class has no method _scheduler_hints. Install a version of '
        'os-placement-plugins',
    )

    def test_one_error_for_each_type_says_what_to_change(self):
        self.assert_created('root')
        of_openstack, of_amazon = self.outcome.lines('ERROR')
        self.assertIn(*self.error, of_openstack)
        self.assertIn('"AWS::EC2::Instance" gets no hints', of_amazon)


class TestBaseClassGone(_Gone, base.ScenarioCase):
    """The module is gone in which Heat defines ``plugin_dirs``."""

    files = {'gone.py': GONE}
    stacks = (base.ONE,)
    error = (
        'stack scheduler hints are off',
        'for this Heat',
        'Install a version of os-placement-plugins',
    )

    def test_one_error_says_what_to_change_and_servers_are_created(self):
        self.assert_created('root')
        self.assertIsNone(self.outcome.hints('web'))
        (error,) = self.outcome.lines('ERROR')
        for words in (*self.error, 'restart heat-engine'):
            self.assertIn(words, error)

    def test_a_wrong_value_is_refused_all_the_same(self):
        self.assert_not_started(
            *base.REFUSED, 'option on_error ', on_error='stop'
        )
