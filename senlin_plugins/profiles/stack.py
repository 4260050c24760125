# SPDX-License-Identifier: Apache-2.0

"""Senlin's stack profile, with each stack in its node's region."""

from senlin.common import consts
from senlin.profiles.os.heat import stack

from senlin_plugins.planning import plugin_types, requirements
from senlin_plugins.profiles import region_aware


class StackProfile(
    region_aware.RegionAware,
    stack.StackProfile,  # type: ignore[misc]  # untyped base
):
    """Profile ``senlin_plugins.heat.stack``.

    Takes the same spec as ``os.heat.stack``.
    """

    EXTENDS = plugin_types.EXTENDED[plugin_types.STACK]
    CLIENT = requirements.MAKERS[plugin_types.STACK]

    VERSION = '1.0'
    VERSIONS = {'1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}
