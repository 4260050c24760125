# SPDX-License-Identifier: Apache-2.0

"""The weigher for the preferences of flavors and aggregates."""

from collections.abc import Sequence
from typing import Any

import nova.conf

from nova_filters import plugin
from nova_filters.matching import preferences
from os_placement_plugins import logger
from os_placement_plugins.text import listed

LOG = logger.get_logger(__name__)
CONF = nova.conf.CONF


class PreferenceWeigher(plugin.Weigher):
    """Prefer hosts by the preferences of flavors and aggregates."""

    option = 'preference_weight_multiplier'

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return the weights of Nova's WeighedHosts.

        The weight of a host follows from its points; see ``preferences``.
        """
        aggregates = [host.obj.aggregates or () for host in hosts]
        preferred = preferences.Preferences(
            plugin.field(request.flavor, 'extra_specs'),
            set().union(*aggregates),
            tuple(CONF.nova_filters.exempt_metadata_keys),
        )
        if preferred.problems:
            LOG.warning(
                'Instance %(instance)s: these preferences do not count; '
                'correct the flavor: %(problems)s',
                {
                    'instance': request.instance_uuid,
                    'problems': listed(preferred.problems, mark='; '),
                },
            )
        weights = []
        for host in hosts:
            points = preferred.score(host.obj.aggregates or ())
            weights.append(preferences.weight(points))
        return weights
