# SPDX-License-Identifier: Apache-2.0

"""What the tests of the commands share: the real shell, logged in."""

from collections.abc import Mapping

from tests.cloud import base, layout
from tests.functional.client import base as client_base


class CommandTest(client_base.CommandTestCase, base.CloudTest):
    """A test that runs commands, as the administrator unless it says."""

    who = layout.ADMIN
    # What the commands say is compared as a whole.
    maxDiff = None

    @property
    def login(self) -> Mapping[str, str]:
        """Return what the user sets to log in."""
        # A proxy of the caller's does not lead to the cloud.
        return {
            'no_proxy': layout.ADDRESS,
            **layout.login(self.who, self.region),
        }
