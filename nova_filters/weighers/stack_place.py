# SPDX-License-Identifier: Apache-2.0

"""The host weigher ``StackPlaceWeigher``: keep the plan for a stack."""

from collections.abc import Sequence
from typing import Any

import nova.conf
from oslo_log import log as logging

from nova_filters.weighers import base, teams
from os_placement_plugins import quoting, stack_hints

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF


class StackPlaceWeigher(base.Weigher, teams.Teams):
    """Prefer the hosts in the place that a provider planned for a server."""

    multiplier = 'stack_place_weight_multiplier'

    def weight_multiplier(self, host_state: Any) -> float:
        """Return the option: a place is planned for the whole cloud."""
        return float(CONF.nova_filters[self.multiplier])

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return 1 for each host in the planned place, 0 for others."""
        hints = stack_hints.read_request(request, self._keys)
        if hints.place is None:
            return [0.0] * len(hosts)
        found = [
            any(
                hints.place == self.shared(host.aggregates or (), level)
                for level in self._levels
            )
            for host in hosts
        ]
        if not any(found):
            LOG.info(
                'No candidate host of resource %(resource)s of stack '
                '%(stack)s is in the planned place %(place)s. Nova uses '
                'another place.',
                {
                    'resource': quoting.quote(hints.resource_name),
                    'stack': quoting.quote(hints.stack_id),
                    'place': quoting.quote(hints.place),
                },
            )
        return [float(one) for one in found]
