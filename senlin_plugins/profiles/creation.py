# SPDX-License-Identifier: Apache-2.0

"""Record the resources that are created for a node.

Senlin records what it has created only when all of it is ready, which may be
minutes after the first part exists. If an engine is killed or a call fails in
between, this part stays, and no node knows it. The clients here record each
part in the node's row as soon as the service has given its id.
"""

import contextlib
import re
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import consts
from senlin.common import exception as exc

from senlin_plugins import conf
from senlin_plugins.cluster import (
    cluster_row,
    holders,
    node_records,
    region_watcher,
)
from senlin_plugins.cluster.holders import Resource
from senlin_plugins.planning.snapshot import recorded_region

LOG = logging.getLogger(__name__)

#: How Nova, Neutron and Cinder say that a region has no room. A word such as
#: "quota" may also be part of a name.
FULL = re.compile(
    'quota exceeded|over quota|exceeds allowed .* quota|exceeded for quota|'
    'over (a|its) limit|maximum number of ports exceeded|no valid host|'
    'exhausted all hosts|no more ip addresses',
    re.IGNORECASE,
)


class Recorder:
    """A client that records what it creates for a node.

    :param client: Senlin's client.
    :param node: the engine's node object.
    """

    def __init__(self, client: Any, node: Any) -> None:
        self._client = client
        self._node = node

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


class Maker(Recorder):
    """The client by which a node's server or stack is created."""

    #: Its id, once there is one.
    made: str | None = None

    def server_create(self, **attrs: Any) -> Any:
        """Create a server."""
        return self._record('server', self._client.server_create(**attrs))

    def stack_create(self, **attrs: Any) -> Any:
        """Create a stack."""
        return self._record('stack', self._client.stack_create(**attrs))

    def wait_for_server(self, server: str, **how: Any) -> Any:
        """Wait, and add what Nova says of a server that fails."""
        try:
            return self._client.wait_for_server(server, **how)
        except exc.InternalError as ex:
            with contextlib.suppress(exc.InternalError):
                failed_server = self._client.server_get(server)
                fault = getattr(failed_server, 'fault', None) or {}
                if fault.get('message'):
                    ex.message += f' {fault["message"]}'
            raise

    def _record(self, kind: str, thing: Any) -> Any:
        """Record an id, or delete what belongs to a node that is gone."""
        # Only in the database: Senlin compares the node's own id with the new
        # one to see that a recovery has recreated it.
        values: dict[str, Any] = {'physical_id': thing.id}
        if self._node.status == consts.NS_RECOVERING:
            # Senlin writes this only when the recovery ends. If the engine
            # dies earlier, no load balancer would get the server as a member.
            recovery = {'recovery': consts.RECOVER_RECREATE}
            values['data'] = {**self._node.data, **recovery}
        try:
            node_records.update(self._node, **values)
        except exc.ResourceNotFound as ex:
            LOG.warning(
                'Node %s was deleted while its %s %s was being created: '
                'deleting the %s, too.',
                self._node.id,
                kind,
                thing.id,
                kind,
            )
            if not holders.is_held(Resource(thing.id)):
                getattr(self._client, f'{kind}_delete')(thing.id)
            raise exc.EResourceCreation(
                type=kind, message='its node was deleted meanwhile'
            ) from ex
        self.made = thing.id
        return thing


class Ports(Recorder):
    """The client by which ports and floating IPs are created for a node.

    They are recorded in the form that Senlin uses to delete them.
    """

    def __init__(self, client: Any, node: Any) -> None:
        super().__init__(client, node)
        self._made: list[dict[str, Any]] = []

    def port_create(self, **attrs: Any) -> Any:
        """Create a port."""
        port = self._client.port_create(**attrs)
        self._made.append({'id': port.id, 'remove': True})
        self._store(self._made)
        return port

    def floatingip_create(self, **attrs: Any) -> Any:
        """Create a floating IP of a port."""
        floating_ip = self._client.floatingip_create(**attrs)
        port = self._find_port(attrs['port_id'])
        port['floating'] = {'id': floating_ip.id, 'remove': True}
        self._store(self._made)
        return floating_ip

    def _find_port(self, port_id: str) -> dict[str, Any]:
        """Return what is recorded of a port."""
        for port in self._made:
            if port['id'] == port_id:
                return port
        # A port that is not Senlin's stays.
        port = {'id': port_id}
        self._made.append(port)
        return port

    def take_back(self) -> None:
        """Delete what was created, and remember what cannot be deleted."""
        left = []
        for port in self._made:
            try:
                delete_port(self._client, port)
            except exc.InternalError as ex:
                left.append(port)
                LOG.warning(
                    'Port %s of node %s could not be deleted: %s It is '
                    'deleted with the node.',
                    port['id'],
                    self._node.id,
                    ex,
                )
        if self._made:
            self._node.data = self._with(left)
            self._store(left)

    def _with(self, made: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the data of the node with a part of the created resources."""
        ids = {port['id'] for port in self._made}
        before = self._node.data.get('internal_ports') or ()
        ports = [port for port in before if port['id'] not in ids]
        return {**self._node.data, 'internal_ports': [*ports, *made]}

    def _store(self, made: list[dict[str, Any]]) -> None:
        """Write ports into the node's row, if there still is one."""
        # Senlin has a list of its own in memory, and writes it in the end.
        with contextlib.suppress(exc.ResourceNotFound):
            node_records.update(self._node, data=self._with(made))


def delete_port(client: Any, port: Mapping[str, Any]) -> None:
    """Delete a node's port and floating IP, if they were created for it.

    :param client: Senlin's client for Neutron.
    :param port: the port as Senlin records it.
    :raises: ``InternalError`` if Neutron cannot delete them.
    """
    floating = port.get('floating') or {}
    if floating.get('remove'):
        client.floatingip_delete(floating['id'])
    if port.get('remove'):
        client.port_delete(port['id'])


def fail(
    profile: Any, node: Any, made: str | None, error: Exception
) -> exc.EResourceCreation:
    """Delete an incomplete resource, and return the error for Senlin.

    :param made: the id of the created server or stack, if there is one.
    :param error: what went wrong.
    :returns: the only error with which Senlin sets the node to ERROR, with the
        id of the resource that may be left.
    """
    _note_failure(node, str(error))
    failure = error
    if not isinstance(failure, exc.EResourceCreation):
        failure = exc.EResourceCreation(type='node', message=str(error))
    # Senlin's server profile has cleaned up itself if it names an id.
    if made and not failure.resource_id:
        failure.resource_id = node.physical_id = made
        try:
            profile.do_delete(node)
        except exc.SenlinException as ex:
            LOG.warning(
                'What was created for node %s could not be deleted: %s It is '
                'deleted with the node.',
                node.id,
                ex,
            )
        # None if another node has adopted it meanwhile.
        failure.resource_id = node.physical_id
    return failure


def _note_failure(node: Any, error: str) -> None:
    """Record that no node was recovered, and whether the region is full."""
    if 'recovery' not in (node.data or {}):
        # Only :class:`Maker` has written it.
        node_records.forget_recovery(node)
    region = recorded_region(node)
    if not region or not FULL.search(error):
        return
    policy_and_cluster = region_watcher.find(node)
    if not policy_and_cluster:
        return
    _, cluster = policy_and_cluster
    seconds = cfg.CONF[conf.GROUP].full_time
    cluster_row.update_notes(
        cluster,
        lambda notes, now: notes.refuse(region, now, seconds),
    )
    LOG.warning(
        "Region '%s' is full for cluster %s: %s",
        region,
        cluster.id,
        ' '.join(error.split()),
    )
