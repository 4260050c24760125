# SPDX-License-Identifier: Apache-2.0

"""Numbers of the page ``senlin``, from the Senlin that is there."""

# The first import patches the process for eventlet.
import senlin.cmd  # noqa: F401
from senlin.api.middleware import fault

from senlin_plugins import deletion_policy
from tests import numbers


class NumbersTest(numbers.NumbersCase):
    def test_the_deletion_policy(self):
        versions = len(deletion_policy.DeletionPolicy.VERSIONS)
        self.assert_told('versions of the deletion policy', (versions,) * 2)
        schema = deletion_policy.DeletionPolicy.properties_schema
        self.assert_told('grace_period', schema['grace_period'].default)

    def test_the_status_of_a_conflict(self):
        error = fault.FaultWrapper.error_map['ActionConflict']
        self.assert_told('conflict', error.code)
