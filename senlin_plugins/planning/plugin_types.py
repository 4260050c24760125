# SPDX-License-Identifier: Apache-2.0

"""The types of policies and profiles that this package publishes."""

from typing import Final

REGION_PLACEMENT: Final = 'senlin_plugins.policy.region_placement'
DELETION: Final = 'senlin_plugins.policy.deletion'
SERVER: Final = 'senlin_plugins.nova.server'
STACK: Final = 'senlin_plugins.heat.stack'

#: Policy type -> Senlin's own type for the same purpose.
RIVALS: Final = {
    REGION_PLACEMENT: 'senlin.policy.region_placement',
    DELETION: 'senlin.policy.deletion',
}
#: Profile type -> Senlin's own type, which the profile type extends.
EXTENDED: Final = {SERVER: 'os.nova.server', STACK: 'os.heat.stack'}
