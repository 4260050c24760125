# SPDX-License-Identifier: Apache-2.0

"""Load policies and profiles as senlin-engine does when it starts.

Run by path in an environment that holds Senlin alone; prints each type's
name and the module it comes from.
"""

# The import patches the process for eventlet, so it stands first.
import senlin.cmd  # noqa: F401  isort: skip

from senlin.common import config
from senlin.engine import environment

config.parse_args(['senlin-engine'], 'senlin-engine', [])
environment.initialize()
loaded = environment.global_env()
for policy in (
    'senlin_plugins.policy.region_placement-1.0',
    'senlin_plugins.policy.deletion-1.0',
    'senlin_plugins.policy.deletion-1.1',
    'senlin.policy.region_placement-1.0',
):
    print(policy, loaded.get_policy(policy).__module__)
for profile in (
    'senlin_plugins.nova.server-1.0',
    'senlin_plugins.heat.stack-1.0',
    'os.nova.server-1.0',
):
    print(profile, loaded.get_profile(profile).__module__)
