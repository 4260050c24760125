# SPDX-License-Identifier: Apache-2.0

"""What Heat asks for the resource types of this package."""

from collections.abc import Mapping
from typing import Any

from heat_hints import hook


def available_resource_mapping() -> Mapping[str, type[Any]]:
    """Return the overriding class for each configured resource type.

    :returns: nothing when hints are disabled or cannot be had.
    :raises ConfigFileValueError: if an option has a wrong value; heat-engine
        then does not start.
    """
    return hook.resource_mapping(__name__)


hook.prepare(__name__)
