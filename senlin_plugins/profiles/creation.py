# SPDX-License-Identifier: Apache-2.0

"""Record each resource of a node as soon as the resource exists.

Senlin records the ids of a node's resources (a server or a stack, ports,
floating IPs) only when all of them are ready. That may take minutes. If the
engine is killed or a call fails before that, some resources may exist without
a record. The clients in this module write each id into the node's row as soon
as the service has returned the id.
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

#: The words by which Nova, Neutron and Cinder say that a region has no room.
#: A single word such as "quota" is not enough: it may be part of a name.
FULL = re.compile(
    'quota exceeded|over quota|exceeds allowed .* quota|exceeded for quota|'
    'over (a|its) limit|maximum number of ports exceeded|no valid host|'
    'exhausted all hosts|no more ip addresses',
    re.IGNORECASE,
)


class Recorder:
    """A client that records each resource that it creates for a node.

    :param client: Senlin's client, which makes the calls.
    :param node: the engine's node object.
    """

    def __init__(self, client: Any, node: Any) -> None:
        self._client = client
        self._node = node

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


class Maker(Recorder):
    """The client that creates the server or stack of a node."""

    #: The id of the created server or stack; None before it exists.
    made: str | None = None

    def server_create(self, **attrs: Any) -> Any:
        """Create a server."""
        return self._record('server', self._client.server_create(**attrs))

    def stack_create(self, **attrs: Any) -> Any:
        """Create a stack."""
        return self._record('stack', self._client.stack_create(**attrs))

    def wait_for_server(self, server: str, **how: Any) -> Any:
        """Wait for a server; if it fails, add Nova's reason to the error."""
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
        """Record a new resource; if its node is gone, delete the resource."""
        # Write the id only to the database, and keep the old id in memory.
        # After a recovery, Senlin compares the old id with the new id to see
        # whether the node was recreated.
        values: dict[str, Any] = {'physical_id': thing.id}
        if self._node.status == consts.NS_RECOVERING:
            # Senlin writes the key 'recovery' only when the recovery ends. But
            # the engine may be killed before that. Senlin's load-balancing
            # policy needs the key to add the new server as a member.
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
    """The client that creates ports and floating IPs for a node.

    The records have the format that Senlin reads to delete the ports.
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
        """Create a floating IP for a port."""
        floating_ip = self._client.floatingip_create(**attrs)
        port = self._find_port(attrs['port_id'])
        port['floating'] = {'id': floating_ip.id, 'remove': True}
        self._store(self._made)
        return floating_ip

    def _find_port(self, port_id: str) -> dict[str, Any]:
        """Return the record of a port; add one if there is none."""
        for port in self._made:
            if port['id'] == port_id:
                return port
        # Senlin did not create this port. Leave out the key 'remove', so that
        # the port is not deleted with the node.
        port = {'id': port_id}
        self._made.append(port)
        return port

    def take_back(self) -> None:
        """Delete the created ports; record each port that still exists."""
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
        """Return the node's data, with ``made`` as the created ports."""
        ids = {port['id'] for port in self._made}
        before = self._node.data.get('internal_ports') or ()
        ports = [port for port in before if port['id'] not in ids]
        return {**self._node.data, 'internal_ports': [*ports, *made]}

    def _store(self, made: list[dict[str, Any]]) -> None:
        """Write ports into the node's row, unless the node is gone."""
        # Write only to the database: Senlin keeps its own list of ports in
        # memory, and writes the list when all ports exist.
        with contextlib.suppress(exc.ResourceNotFound):
            node_records.update(self._node, data=self._with(made))


def delete_port(client: Any, port: Mapping[str, Any]) -> None:
    """Delete a node's port and floating IP, if Senlin created them.

    :param client: Senlin's client for Neutron.
    :param port: the port as Senlin records it.
    :raises: ``InternalError`` if Neutron cannot delete the port or the IP.
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
    :returns: the error to raise. Senlin sets the node to ERROR only for this
        type of error. If the resource may still exist, the error has its id.
    """
    _note_failure(node, str(error))
    failure = error
    if not isinstance(failure, exc.EResourceCreation):
        failure = exc.EResourceCreation(type='node', message=str(error))
    # If the error has an id already, Senlin's server profile has tried to
    # delete the server itself.
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
        # If another node holds the resource, do_delete() sets the id to None.
        failure.resource_id = node.physical_id
    return failure


def _note_failure(node: Any, error: str) -> None:
    """Remove the key ``recovery``, and record a region that is full.

    :class:`Maker` may have written the key into the node's row.
    """
    if 'recovery' not in (node.data or {}):
        # Senlin itself did not set the key. So if the row has the key, Maker
        # has written the key in this recovery, which failed.
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
