# SPDX-License-Identifier: Apache-2.0

"""What the weighers have in common: no faults."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Final

import nova.conf
import sqlalchemy as sa
from nova.scheduler import utils, weights
from oslo_db import exception as db_exception
from oslo_log import log as logging

from nova_filters import plugin
from nova_filters.weighers import reader

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF
#: What a request may meet without a mistake in this package.
AWAY: Final = (
    db_exception.DBError,
    sa.exc.SQLAlchemyError,
    reader.Incomplete,
)


# Nova carries no types.
class Weigher(plugin.Plugin, weights.BaseHostWeigher):  # type: ignore[misc]
    """A weigher that never makes a request fail."""

    #: The option, and the metadata key of aggregates.
    multiplier: ClassVar[str]

    def weight_multiplier(self, host_state: Any) -> float:
        """Return how strongly this weigher counts beside others.

        :param host_state: Nova's HostState; its aggregates may override the
            option.
        """
        default = float(CONF.nova_filters[self.multiplier])
        value = utils.get_weight_multiplier(
            host_state, self.multiplier, default
        )
        if math.isfinite(value):
            return float(value)
        LOG.warning(
            'An aggregate of host %(host)s has %(name)s=%(value)s, which is '
            'not finite. The option of this name in [nova_filters] is in '
            'force there; write a number into the metadata.',
            {'host': host_state.host, 'name': self.multiplier, 'value': value},
        )
        return default

    def weigh_objects(
        self, weighed_obj_list: Sequence[Any], weight_properties: Any
    ) -> list[float]:
        """Return the weights of hosts; zeros if the weigher has no say.

        :param weighed_obj_list: Nova's WeighedHosts.
        :param weight_properties: Nova's RequestSpec.
        """
        hosts = [host.obj for host in weighed_obj_list]
        name = type(self).__name__
        try:
            return self._weigh(hosts, weight_properties)
        except AWAY as exc:
            LOG.warning(
                '%(name)s has no say in this request: the members of the '
                'stack or server group could not be read. Check '
                '[api_database] connection in the nova.conf of the '
                'scheduler: %(error)s',
                {'name': name, 'error': cause(exc)},
            )
        except Exception:
            message = '%s has no say in this request. Report this traceback.'
            LOG.exception(message, name)
        return [0.0] * len(hosts)

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return the weights of Nova's HostStates."""
        raise NotImplementedError

    def _weigh_object(self, obj: Any, weight_properties: Any) -> float:
        """Return the weight of one host."""
        return self._weigh([obj], weight_properties)[0]


def cause(exc: Exception) -> str:
    """Return an error in one line.

    A database's error goes on for pages, with the whole query.
    """
    return f'{type(exc).__name__}: {exc}'.partition('\n')[0]
