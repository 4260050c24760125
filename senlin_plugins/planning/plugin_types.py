# SPDX-License-Identifier: Apache-2.0

"""The types of policies and profiles that this package publishes."""

from typing import Final

REGION_PLACEMENT: Final = 'senlin_plugins.policy.region_placement'
DELETION: Final = 'senlin_plugins.policy.deletion'
SERVER: Final = 'senlin_plugins.nova.server'
STACK: Final = 'senlin_plugins.heat.stack'

#: Policy type -> the type of Senlin's own that does the same work.
RIVALS: Final = {
    REGION_PLACEMENT: 'senlin.policy.region_placement',
    DELETION: 'senlin.policy.deletion',
}
#: Profile type -> the type of Senlin's own that it extends.
EXTENDED: Final = {SERVER: 'os.nova.server', STACK: 'os.heat.stack'}
