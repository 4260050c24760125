# SPDX-License-Identifier: Apache-2.0

"""What the weighers have in common: the options, and no faults."""

from collections.abc import Sequence
from typing import Any

import nova.conf
import sqlalchemy as sa
from nova.scheduler import weights
from oslo_db import exception as db_exception
from oslo_log import log as logging

from nova_filters import conf
from os_placement_plugins import options

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF
options.register(CONF, conf.list_opts())


# Nova carries no types.
class Weigher(weights.BaseHostWeigher):  # type: ignore[misc]
    """A weigher that never makes a request fail."""

    def __init__(self) -> None:
        super().__init__()
        # A wrong value keeps nova-scheduler from starting.
        options.check(CONF, conf.list_opts())

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
        except (db_exception.DBError, sa.exc.SQLAlchemyError) as exc:
            # A database's error goes on for pages, with the whole query.
            error = f'{type(exc).__name__}: {exc}'.partition('\n')[0]
            LOG.warning(
                '%(name)s has no say in this request: the members of the '
                'stack or server group could not be read. Check '
                '[api_database] connection in the nova.conf of the '
                'scheduler: %(error)s',
                {'name': name, 'error': error},
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
