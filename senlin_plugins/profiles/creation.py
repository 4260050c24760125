# SPDX-License-Identifier: Apache-2.0

"""Keep hold of what is being created.

Senlin notes the id of a server or a stack when it is ready, minutes after it
came to be. An engine that dies in between leaves it running, and no node
knows of it. Here the id is noted as soon as the service has given it; and if
that answer is lost, the server is found by the node's id in its metadata.
"""

import re
from collections.abc import Callable
from typing import Any

from oslo_log import log as logging
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.drivers import sdk
from senlin.objects import node as node_objects

LOG = logging.getLogger(__name__)


class Recorder:
    """A client that writes the id of what it creates into a node.

    :param client: the client that does all the work.
    :param node: the engine's node object.
    """

    def __init__(self, client: Any, node: Any) -> None:
        self._client = client
        self._node = node

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def server_create(self, **attrs: Any) -> Any:
        """Create a server and record its id."""
        server = self._client.server_create(**attrs)
        return self._record('server', server, self._client.server_delete)

    def stack_create(self, **attrs: Any) -> Any:
        """Create a stack and record its id."""
        stack = self._client.stack_create(**attrs)
        return self._record('stack', stack, self._client.stack_delete)

    def _record(
        self, kind: str, made: Any, delete: Callable[[str], None]
    ) -> Any:
        """Record an id, or delete what belongs to a node that is gone."""
        try:
            node_objects.Node.update(
                senlin_context.get_admin_context(),
                self._node.id,
                {'physical_id': made.id},
            )
        except exc.ResourceNotFound as ex:
            LOG.warning(
                'Node %(node)s was deleted while its %(kind)s %(id)s was '
                'being created: deleting the %(kind)s, too.',
                {'node': self._node.id, 'kind': kind, 'id': made.id},
            )
            delete(made.id)
            raise exc.EResourceCreation(
                type=kind, message='its node was deleted meanwhile'
            ) from ex
        self._node.physical_id = made.id
        return made


def keep_hold(
    profile: Any, node: Any, before: str | None, error: Exception
) -> exc.EResourceCreation:
    """Delete what was created in vain, and let the node know it until then.

    :param profile: the profile that failed to create.
    :param node: the engine's node object.
    :param before: the id that the node had before.
    :param error: why the creation failed.
    :returns: the error to raise: the only one that makes Senlin put the node
        into ERROR, with the id of what may be left.
    """
    failure = error
    if not isinstance(failure, exc.EResourceCreation):
        failure = exc.EResourceCreation(type='node', message=str(error))
    # Senlin's server profile has cleaned up itself when it names an id.
    if not failure.resource_id and node.physical_id != before:
        failure.resource_id = node.physical_id
        try:
            profile.do_delete(node)
        except exc.SenlinException as ex:
            LOG.warning(
                'What was created for node %(node)s could not be deleted: '
                '%(error)s It goes when the node is deleted.',
                {'node': node.id, 'error': ex},
            )
    return failure


def find_server(profile: Any, node: Any, name: str) -> str | None:
    """Find the server of a node that knows of none.

    :param profile: the node's profile, which leads to its region.
    :param node: the engine's node object.
    :param name: the name that the server was given.
    :returns: the id of the server that was created for the node, if any.
        ``None`` as well when the region does not answer: a node must be
        deletable although its region is gone.
    """
    try:
        servers = _servers_named(profile, node, name)
    except exc.InternalError as ex:
        LOG.warning(
            'Nobody can tell whether node %(node)s has a server: %(error)s '
            'If one is found later, with cluster_node_id %(node)s in its '
            'metadata, delete it.',
            {'node': node.id, 'error': ex},
        )
        return None
    for server in servers:
        if (server.metadata or {}).get('cluster_node_id') == node.id:
            LOG.info(
                'Server %(server)s was created for node %(node)s, which did '
                'not know it.',
                {'server': server.id, 'node': node.id},
            )
            return str(server.id)
    return None


@sdk.translate_exception  # type: ignore[untyped-decorator]
def _servers_named(profile: Any, node: Any, name: str) -> list[Any]:
    """List the servers of a name, as Senlin's driver has no method to."""
    # Nova takes a pattern and would find longer names, too: no harm done.
    compute = profile.compute(node).conn.compute
    return list(compute.servers(details=True, name=re.escape(name)))
