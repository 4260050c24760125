# SPDX-License-Identifier: Apache-2.0

"""Wrong values in senlin.conf: nobody is left in the dark, nothing dies."""

import tempfile
import unittest

import ddt

from tests import processes

#: Senlin reads its configuration once per process, so each case has its own.
#: Prints the answer to a new policy, to its attachment and to a scale-out;
#: then the ERROR lines that this package wrote.
PROGRAM = """
import logging, os, sys
from oslo_config import cfg
from testing.senlin import engine

option, log = sys.argv[1:]
engine.CONFIG += f'[senlin_plugins]\\n{option}\\n'
senlin = engine.boot(log)
profile_type = 'senlin_plugins.nova.server'
if option.startswith('unaware_profile'):
    profile_type = 'os.nova.server'
profile = senlin.profile(profile_type, flavor='small', networks=[])
cluster = senlin.cluster(profile)
try:
    policy = senlin.policy(
        'senlin_plugins.policy.region_placement',
        {'regions': [{'name': 'RegionOne'}]},
    )
except engine.ApiError as error:
    print('create', error.code, error)
else:
    attached = senlin.attach(cluster, policy)
    print('attach', attached['status'], attached['status_reason'])
    action = senlin.act(cluster, 'scale_out', count=1)
    print('scale', action['status'], action['data'].get('reason'))
# As oslo.service does when it starts a service, and at SIGHUP.
cfg.CONF.log_opt_values(logging.getLogger('options'), logging.DEBUG)
with open(log) as lines:
    for line in lines:
        if 'ERROR senlin_plugins' in line and 'in [senlin_plugins]' in line:
            print('log', line.partition('] ')[2].strip())
# The engine's green threads would go on.
sys.stdout.flush()
os._exit(0)
"""

TELL_USER = (
    "Option '{}' in section [senlin_plugins] of senlin.conf has a value that "
    'cannot be used: ask the operator of this cloud to correct it.'
)


@ddt.ddt
class WrongOptionTest(unittest.TestCase):
    @ddt.data(
        ('enabled_policies', 'nope', 'create 400 {}'),
        ('enabled_policies', '$nowhere', 'create 400 {}'),
        ('unaware_profile', 'maybe', 'attach FAILED {}'),
        (
            'check_catalog',
            'perhaps',
            'scale FAILED The policy check failed: {}',
        ),
    )
    @ddt.unpack
    def test_user_and_log_say_which_option_is_wrong(self, name, value, wanted):
        with tempfile.NamedTemporaryFile(suffix='.log') as log:
            lines = processes.run_python(
                PROGRAM, f'{name} = {value}', log.name
            )
        self.assertIn(wanted.format(TELL_USER.format(name)), lines)
        told = [line for line in lines if line.startswith('log')]
        self.assertTrue(told, lines)
        self.assertIn(f'Option {name} in [senlin_plugins]', told[0])
        self.assertIn(value.lstrip('$'), told[0])
