# SPDX-License-Identifier: Apache-2.0

"""The host weigher ``StackAffinityWeigher``: spread or pack one stack."""

import math
from collections.abc import Sequence
from typing import Any, Final

import nova.conf
import sqlalchemy as sa
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from nova.scheduler import utils, weights
from oslo_log import log as logging

from nova_filters import conf
from nova_filters.weighers import stack_map
from os_placement_plugins import options, signature, stack_hints

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF
options.register(CONF, conf.list_opts())

_MULTIPLIER: Final = 'stack_affinity_weight_multiplier'

#: How many unknown instances one query asks for. SQLite takes 32,766
#: parameters; MySQL reads the whole table from about 36,000 values on.
READ_AT_ONCE: Final = 10_000


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def _read_roots(
    context: Any, uuids: list[str], keys: signature.Keys
) -> dict[str, str | None]:
    """Return the root stacks of instances, from the API database."""
    table = models.RequestSpec
    query = sa.select(table.instance_uuid, table.spec).where(
        table.instance_uuid.in_(uuids),
        # Leave the rows of servers that Heat did not create in the database.
        table.spec.contains(stack_hints.ROOT_STACK_ID, autoescape=True),
    )
    # A row holds some KiB, and a new scheduler asks for many rows.
    rows = context.session.execute(query.execution_options(yield_per=500))
    return {
        uuid: stack_hints.read_stored(spec, keys).root_stack_id
        for uuid, spec in rows
    }


# Nova carries no types.
class StackAffinityWeigher(weights.BaseHostWeigher):  # type: ignore[misc]
    """Prefer or avoid the hosts where a server's stack already runs.

    The preference is soft: several schedulers do not see each other's choices
    at once. For a hard rule, use OS::Nova::ServerGroup.
    """

    def __init__(self) -> None:
        super().__init__()
        # A wrong value keeps nova-scheduler from starting.
        options.check(CONF, conf.list_opts())
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        self._stacks = stack_map.StackMap(
            CONF.nova_filters.stack_map_size, READ_AT_ONCE
        )

    def weight_multiplier(self, host_state: Any) -> float:
        """Return how strongly members of a stack attract each other.

        :param host_state: Nova's HostState; its aggregates may override the
            option.
        :returns: positive to pack, negative to spread; the option's value if
            the metadata of the aggregates cannot be used.
        """
        default = float(CONF.nova_filters[_MULTIPLIER])
        try:
            value = float(
                utils.get_weight_multiplier(host_state, _MULTIPLIER, default)
            )
            wrong = '' if math.isfinite(value) else 'it is not finite'
        except Exception as exc:
            # Nova's function raises on aggregates without metadata.
            value, wrong = default, str(exc)
        if not wrong:
            return value
        LOG.warning(
            'The metadata %(name)s of an aggregate of host %(host)s cannot '
            'be used: %(error)s. The option of this name in [%(group)s] is '
            'in force there; write a number into the metadata.',
            {
                'name': _MULTIPLIER,
                'host': getattr(host_state, 'host', None),
                'error': wrong,
                'group': conf.GROUP.name,
            },
        )
        return default

    def weigh_objects(
        self, weighed_obj_list: Sequence[Any], weight_properties: Any
    ) -> list[float]:
        """Count the members of the server's root stack on each host.

        :param weighed_obj_list: Nova's WeighedHosts.
        :param weight_properties: Nova's RequestSpec.
        :returns: the counts; zeros if the server belongs to no stack or the
            stacks cannot be read; never raises.
        """
        try:
            return self._count(weighed_obj_list, weight_properties)
        except Exception as exc:
            # A database's error goes on for pages, with the whole query.
            reason = str(exc).partition('\n')[0]
            LOG.warning(
                'StackAffinityWeigher has no say in this request: the stacks '
                'of the instances could not be read. Check [api_database] '
                'connection in the nova.conf of the scheduler: %(type)s: '
                '%(error)s',
                {'type': type(exc).__name__, 'error': reason},
            )
            return [0.0] * len(weighed_obj_list)

    def _count(self, weighed: Sequence[Any], request: Any) -> list[float]:
        """Count the members of the server's root stack on each host."""
        root = stack_hints.read(
            _field(request, 'scheduler_hints'),
            _field(request, 'project_id'),
            self._keys,
        ).root_stack_id
        if root is None:
            return [0.0] * len(weighed)
        # Other threads may change the instances; list() copies them at once.
        hosts = [list(host.obj.instances or ()) for host in weighed]
        roots = self._stacks.roots(
            hosts,
            lambda uuids: _read_roots(
                nova_context.get_admin_context(), uuids, self._keys
            ),
        )
        unread = len({uuid for uuids in hosts for uuid in uuids}) - len(roots)
        if unread:
            LOG.info(
                'StackAffinityWeigher does not know the stacks of %(unread)d '
                'of the instances on these hosts yet; it reads them with the '
                'next requests.',
                {'unread': unread},
            )
        members = {uuid for uuid, found in roots.items() if found == root}
        # A server that moves keeps away from the others, not from itself.
        members.discard(_field(request, 'instance_uuid'))
        return [float(len(members.intersection(uuids))) for uuids in hosts]

    def _weigh_object(self, obj: Any, weight_properties: Any) -> float:
        """Count the members of the server's root stack on one host."""
        weighed = weights.WeighedHost(obj, 0.0)
        return self.weigh_objects([weighed], weight_properties)[0]


def _field(request: Any, name: str) -> Any:
    """Return a field of Nova's RequestSpec; None if it is not set."""
    return getattr(request, name) if name in request else None
