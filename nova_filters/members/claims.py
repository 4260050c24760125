# SPDX-License-Identifier: Apache-2.0

"""Read from Placement on which hosts pending members are."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from keystoneauth1 import exceptions as ks_exceptions
from nova import context as nova_context
from nova import exception
from nova.scheduler.client import report

from nova_filters.spread import teams

#: The errors of a Placement that does not answer, or answers with an error.
AWAY: Final = (
    ks_exceptions.ClientException,
    exception.ConsumerAllocationRetrievalFailed,
)


class Claims:
    """The hosts that servers have claimed, for one scheduler process.

    A scheduler claims a host in Placement as soon as it has chosen the host,
    seconds before the database of the cell knows it.
    """

    def __init__(self) -> None:
        #: The hosts of the compute nodes that were candidates once, by the id
        #: of the node, which is that of its resource provider.
        self._hosts: dict[str, str] = {}

    def find_hosts(
        self, pending: Iterable[teams.Pending], candidates: Iterable[Any]
    ) -> dict[str, str | None]:
        """Return the hosts that pending members have claimed.

        :param candidates: the candidates, as Nova's HostStates.
        :returns: the host of each member, by the id of its server; None for a
            host that was never a candidate. Members without a claim are left
            out, and so are those that only claim the host they leave.
        :raises keystoneauth1.exceptions.ClientException:
        :raises nova.exception.ConsumerAllocationRetrievalFailed:
        """
        self._hosts |= {state.uuid: state.host for state in candidates}
        context = nova_context.get_admin_context()
        client = report.report_client_singleton()
        claimed: dict[str, str | None] = {}
        for member in pending:
            answer = client.get_allocs_for_consumer(context, member.server)
            hosts = self._list_hosts(answer['allocations'])
            chosen = [host for host in hosts if host != member.origin]
            if chosen:
                claimed[member.server] = min(chosen)
            elif answer['allocations'] and member.origin is None:
                claimed[member.server] = None
        return claimed

    def _list_hosts(self, allocations: Mapping[str, Any]) -> list[str]:
        return [
            self._hosts[provider]
            for provider in allocations
            # Others are inside a compute node, or shared by several.
            if provider in self._hosts
        ]
