# SPDX-License-Identifier: Apache-2.0

"""The function that Heat calls for the resource types of this package."""

from collections.abc import Mapping
from typing import Any

from heat_hints import hook


def available_resource_mapping() -> Mapping[str, type[Any]]:
    """Return the overriding class for each type that gets hints."""
    return hook.resource_mapping(__name__)
