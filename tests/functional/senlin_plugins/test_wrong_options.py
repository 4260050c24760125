# SPDX-License-Identifier: Apache-2.0

"""Wrong values in senlin.conf: nobody is left in the dark, nothing dies."""

import logging
import tempfile
import unittest

from oslo_config import cfg

from testing.senlin import engine
from tests.functional.senlin_plugins import base, forks

TELL_USER = (
    "Option '{}' in section [senlin_plugins] of senlin.conf has a value that "
    'cannot be used: ask the operator of this cloud to correct it.'
)

#: An option, its value, and what the user learns from which request.
CASES = (
    ('enabled_policies', 'nope', 'create 400 {}'),
    ('enabled_policies', '$nowhere', 'create 400 {}'),
    ('unaware_profile', 'maybe', 'attach FAILED {}'),
    ('check_catalog', 'perhaps', 'scale FAILED The policy check failed: {}'),
)


def ask(name, value, _wanted):
    """Print the answers of an engine with a wrong option, then its log."""
    engine.CONFIG += f'[senlin_plugins]\n{name} = {value}\n'
    with tempfile.NamedTemporaryFile('r', suffix='.log') as log:
        scale_out(
            engine.boot(log.name),
            'os.nova.server'
            if name == 'unaware_profile'
            else 'senlin_plugins.nova.server',
        )
        # As oslo.service does when it starts a service, and at SIGHUP.
        cfg.CONF.log_opt_values(logging.getLogger('options'), logging.DEBUG)
        for line in log:
            if 'ERROR senlin_plugins' in line and f'Option {name} in' in line:
                print('log', line.partition('] ')[2].strip())


def scale_out(senlin, profile_type):
    """Print the answers to a policy, its attachment and a scale-out."""
    profile = senlin.profile(profile_type, flavor='small', networks=[])
    cluster = senlin.cluster(profile)
    try:
        regions = {'regions': [{'name': base.ONE}]}
        policy = senlin.policy(base.REGION_POLICY, regions)
    except engine.ApiError as error:
        print('create', error.code, error)
        return
    attached = senlin.attach(cluster, policy)
    print('attach', attached['status'], attached['status_reason'])
    action = senlin.act(cluster, 'scale_out', count=1)
    print('scale', action['status'], action['data'].get('reason'))


class WrongOptionTest(unittest.TestCase):
    def test_user_and_log_say_which_option_is_wrong(self):
        answers = forks.run(ask, CASES)
        for (name, value, wanted), lines in zip(CASES, answers, strict=True):
            with self.subTest(name, value=value):
                self.assertIn(wanted.format(TELL_USER.format(name)), lines)
                told = [line for line in lines if line.startswith('log')]
                self.assertTrue(told, lines)
                self.assertIn('in [senlin_plugins]', told[0])
                self.assertIn(value.lstrip('$'), told[0])
