# SPDX-License-Identifier: Apache-2.0

"""The base classes of the filters and weighers of this package."""

from collections.abc import Sequence
from typing import Any, ClassVar

import nova.conf
from nova.scheduler import weights

from nova_filters import conf
from os_placement_plugins import logger, options

LOG = logger.get_logger(__name__)
CONF = nova.conf.CONF
options.register(CONF, conf.list_opts())


class Plugin:
    """A plug-in that checks its options when Nova creates it.

    If the value of an option is wrong, nova-scheduler does not start.
    """

    def __init__(self) -> None:
        options.check(CONF, conf.list_opts())
        super().__init__()


# Nova has no type annotations, so mypy would report the base class.
class Weigher(Plugin, weights.BaseHostWeigher):  # type: ignore[misc]
    """A weigher that never makes a request fail."""

    #: The name of the option that is the weigher's multiplier.
    option: ClassVar[str]
    # With these limits, Nova's normalization does not change the weights. So
    # a weight is worth the same, however many hosts there are. It may be below
    # 0 or above 1.
    minval, maxval = 0, 1

    def __init__(self) -> None:
        super().__init__()
        # To read the option for each of many hosts would be slow.
        self.multiplier = float(CONF.nova_filters[self.option])
        if self.multiplier:
            # An operator looks for a scheduler that does not log this line.
            LOG.info(
                '%(weigher)s is on: %(option)s is %(multiplier)g.',
                {
                    'weigher': type(self).__name__,
                    'option': self.option,
                    'multiplier': self.multiplier,
                },
            )

    def weight_multiplier(self, host_state: Any) -> float:
        """Return the number by which Nova multiplies the weight of each host.

        :param host_state: Nova's HostState.
        """
        return self.multiplier

    def weigh_objects(
        self, weighed_obj_list: Sequence[Any], weight_properties: Any
    ) -> list[float]:
        """Return the weights of hosts; zeros if they cannot be computed.

        :param weighed_obj_list: Nova's WeighedHosts.
        :param weight_properties: Nova's RequestSpec.
        """
        try:
            if self.multiplier:
                return self._weigh(weighed_obj_list, weight_properties)
        except Exception:
            message = '%s is left out of this request. Report this traceback.'
            LOG.exception(message, type(self).__name__)
        return [0.0] * len(weighed_obj_list)

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        raise NotImplementedError

    def _weigh_object(self, obj: Any, weight_properties: Any) -> float:
        host = weights.WeighedHost(obj, 0.0)
        return self.weigh_objects([host], weight_properties)[0]


def field(obj: Any, name: str) -> Any:
    """Return a field of one of Nova's objects; None if it has no value."""
    if name not in obj:
        return None
    return getattr(obj, name)
