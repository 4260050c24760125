# SPDX-License-Identifier: Apache-2.0

"""What the weighers have in common: no faults."""

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from nova.scheduler import weights
from oslo_db import exception as db_exception
from oslo_log import log as logging

from nova_filters.weighers import reader

LOG = logging.getLogger(__name__)
#: What a request may meet without a mistake in this package.
AWAY: Final = (
    db_exception.DBError,
    sa.exc.SQLAlchemyError,
    reader.Incomplete,
)


# Nova carries no types.
class Weigher(weights.BaseHostWeigher):  # type: ignore[misc]
    """A weigher that never makes a request fail."""

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
