# SPDX-License-Identifier: Apache-2.0

"""The host weigher ``StackPlaceWeigher``: keep the plan for a stack."""

from collections.abc import Sequence
from typing import Any

import nova.conf
from nova.scheduler import weights
from oslo_log import log as logging

from nova_filters import conf
from nova_filters.weighers import places
from os_placement_plugins import options, quoting, signature, stack_hints

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF
options.register(CONF, conf.list_opts())


# Nova carries no types.
class StackPlaceWeigher(weights.BaseHostWeigher):  # type: ignore[misc]
    """Prefer the hosts in the place that a provider planned for a server."""

    def __init__(self) -> None:
        super().__init__()
        # A wrong value keeps nova-scheduler from starting.
        options.check(CONF, conf.list_opts())
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        self._levels = tuple(CONF.nova_filters.stack_spread_over)

    def weight_multiplier(self, host_state: Any) -> float:
        """Return how strongly the plan counts beside other weighers."""
        return float(CONF.nova_filters.stack_place_weight_multiplier)

    def weigh_objects(
        self, weighed_obj_list: Sequence[Any], weight_properties: Any
    ) -> list[float]:
        """Return 1 for each host in the planned place, and 0 for the others.

        :param weighed_obj_list: Nova's WeighedHosts.
        :param weight_properties: Nova's RequestSpec.
        :returns: zeros if there is no plan for the server; never raises.
        """
        try:
            return self._weigh(weighed_obj_list, weight_properties)
        except Exception:
            LOG.exception(
                'StackPlaceWeigher has no say in this request. Report this '
                'with the traceback.'
            )
        return [0.0] * len(weighed_obj_list)

    def _weigh(self, weighed: Sequence[Any], request: Any) -> list[float]:
        """Compare the places of the hosts with the planned one."""
        hints = stack_hints.read_request(request, self._keys)
        if hints.place is None:
            return [0.0] * len(weighed)
        found = [
            any(
                hints.place in places.names(host.obj, level)
                for level in self._levels
            )
            for host in weighed
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

    def _weigh_object(self, obj: Any, weight_properties: Any) -> float:
        """Return 1 if a host is in the planned place, else 0."""
        weighed = weights.WeighedHost(obj, 0.0)
        return self.weigh_objects([weighed], weight_properties)[0]
