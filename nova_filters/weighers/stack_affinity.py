# SPDX-License-Identifier: Apache-2.0

"""The host weigher ``StackAffinityWeigher``: spread or pack one stack."""

import math
import threading
import time
from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

import nova.conf
import sqlalchemy as sa
from keystoneauth1 import exceptions as ks_exc
from nova import context as nova_context
from nova import exception
from nova import weights as nova_weights
from nova.scheduler import utils, weights
from nova.scheduler.client import report
from oslo_db import exception as db_exception
from oslo_log import log as logging

from nova_filters import conf
from nova_filters.weighers import places, stack_members, stack_rows
from os_placement_plugins import options, signature, stack_hints

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF
options.register(CONF, conf.list_opts())

_MULTIPLIER: Final = 'stack_affinity_weight_multiplier'
#: How many members one request asks Placement about at most.
_ASK_AT_ONCE: Final = 20


# Nova carries no types.
class StackAffinityWeigher(weights.BaseHostWeigher):  # type: ignore[misc]
    """Prefer or avoid the places where a server's stack already is.

    The preference is soft: two schedulers that decide in the same instant do
    not see each other's choices. For a hard rule, use OS::Nova::ServerGroup.
    """

    #: Returns the time in seconds.
    clock = staticmethod(time.monotonic)

    def __init__(self) -> None:
        super().__init__()
        # A wrong value keeps nova-scheduler from starting.
        options.check(CONF, conf.list_opts())
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        self._levels = tuple(CONF.nova_filters.stack_spread_over)
        self._members = stack_members.StackMembers(stack_rows.READ_AT_ONCE)
        self._new_rows = stack_rows.NewRows()
        # Many requests at once would read the same rows.
        self._reading = threading.Lock()
        #: Also of hosts that are no candidates now.
        self._places: dict[str, stack_members.Places] = {}

    def weight_multiplier(self, host_state: Any) -> float:
        """Return how strongly members of a stack attract each other.

        :param host_state: Nova's HostState; its aggregates may override the
            option.
        :returns: positive to pack, negative to spread; the option's value if
            the metadata of the aggregates cannot be used.
        """
        value, wrong = _multiplier(host_state)
        if wrong:
            LOG.warning(
                'The metadata %(name)s of an aggregate of host %(host)s '
                'cannot be used: %(error)s. The option of this name in '
                '[%(group)s] is in force there; write a number into the '
                'metadata.',
                {
                    'name': _MULTIPLIER,
                    'host': getattr(host_state, 'host', None),
                    'error': wrong,
                    'group': conf.GROUP.name,
                },
            )
        return value

    def weigh_objects(
        self, weighed_obj_list: Sequence[Any], weight_properties: Any
    ) -> list[float]:
        """Count the members of the server's stack in the place of each host.

        :param weighed_obj_list: Nova's WeighedHosts.
        :param weight_properties: Nova's RequestSpec.
        :returns: the counts; zeros if the server belongs to no stack or the
            stacks cannot be read; never raises.
        """
        try:
            return self._weigh(weighed_obj_list, weight_properties)
        except (db_exception.DBError, sa.exc.SQLAlchemyError) as exc:
            # A database's error goes on for pages, with the whole query.
            reason = str(exc).partition('\n')[0]
            LOG.warning(
                'StackAffinityWeigher has no say in this request: the stacks '
                'of the instances could not be read. Check [api_database] '
                'connection in the nova.conf of the scheduler: %(type)s: '
                '%(error)s',
                {'type': type(exc).__name__, 'error': reason},
            )
        except Exception:
            LOG.exception(
                'StackAffinityWeigher has no say in this request. Report '
                'this with the traceback.'
            )
        return [0.0] * len(weighed_obj_list)

    def _weigh(self, weighed: Sequence[Any], request: Any) -> list[float]:
        """Read what is new, and count."""
        hints = stack_hints.read_request(request, self._keys)
        found = [0.0] * len(weighed)
        if hints.root_stack_id is None:
            return found
        stack = hints.root_stack_id, hints.project_id
        uuid: Any = (
            request.instance_uuid if 'instance_uuid' in request else None
        )
        # Other threads may change the instances; list() copies them at once.
        lists: dict[str, set[str]] = {
            host.obj.uuid: set(list(host.obj.instances or ()))
            for host in weighed
        }
        self._read(lists)
        self._locate(stack, uuid)
        for host in weighed:
            self._places[host.obj.uuid] = _places(host.obj, self._levels)

        ids = list(lists)
        multipliers = [_multiplier(host.obj)[0] for host in weighed]

        def choose(counts: Mapping[str, int]) -> str:
            found[:] = stack_members.weigh(counts, ids, self._places)
            # The best host, if no weigher comes after this one.
            totals = [
                host.weight + multiplier * own
                for host, multiplier, own in zip(
                    weighed,
                    multipliers,
                    nova_weights.normalize(found),
                    strict=True,
                )
            ]
            return ids[totals.index(max(totals))]

        self._members.choose(stack, uuid, choose, self.clock())
        return found

    def _read(self, lists: Mapping[str, Set[str]]) -> None:
        """Read what hosts list, and the rows that nova-api has added."""
        context = nova_context.get_admin_context()
        now = self.clock()
        with self._reading:
            unread = self._members.follow(
                lists,
                lambda uuids: stack_rows.of_instances(
                    context, uuids, self._keys
                ),
                now,
            )
            added = self._new_rows.read(context, self._keys)
            self._members.announce(added, now)
        if unread:
            LOG.info(
                'StackAffinityWeigher does not know the stacks of %(unread)d '
                'of the instances on these hosts yet; it reads them with the '
                'next requests.',
                {'unread': unread},
            )

    def _locate(self, stack: stack_members.Stack, uuid: str) -> None:
        """Ask Placement where other members are that no host lists."""
        context = nova_context.get_admin_context()
        unasked = self._members.unasked(stack) - {uuid}
        ready = stack_rows.in_a_cell(context, unasked) if unasked else set()
        now = self.clock()
        due = self._members.take_due(stack, ready, _ASK_AT_ONCE, now)
        client = report.report_client_singleton()
        try:
            while due:
                answer = client.get_allocs_for_consumer(context, due[0])
                hosts = frozenset(answer['allocations'])
                self._members.found(due.pop(0), hosts)
        except (exception.NovaException, ks_exc.ClientException) as exc:
            self._members.ask_again(due, now)
            LOG.warning(
                'StackAffinityWeigher does not see all servers that are '
                'still starting: Placement does not say where they are. '
                'Check Placement and [placement] in the nova.conf of the '
                'scheduler: %(type)s: %(error)s',
                {'type': type(exc).__name__, 'error': exc},
            )

    def _weigh_object(self, obj: Any, weight_properties: Any) -> float:
        """Count the members of the server's stack in the place of a host."""
        weighed = weights.WeighedHost(obj, 0.0)
        return self.weigh_objects([weighed], weight_properties)[0]


def _multiplier(host_state: Any) -> tuple[float, str]:
    """Return the multiplier of a host, and what is wrong with it."""
    default = float(CONF.nova_filters[_MULTIPLIER])
    try:
        value = float(
            utils.get_weight_multiplier(host_state, _MULTIPLIER, default)
        )
    except Exception as exc:
        # Nova's function raises on aggregates without metadata.
        return default, str(exc)
    if math.isfinite(value):
        return value, ''
    return default, 'it is not finite'


def _places(host_state: Any, levels: Sequence[str]) -> stack_members.Places:
    """Return the places that a host is in; a host without a key is its own."""
    return tuple(
        places.names(host_state, level) or host_state.uuid for level in levels
    )
