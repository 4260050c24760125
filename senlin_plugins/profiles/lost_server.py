# SPDX-License-Identifier: Apache-2.0

"""Find the server of a node that knows of none.

If the answer to a creation is lost, the server exists and its node has no id
for it. Senlin's server profile writes the node's id into the metadata.
"""

import re
from typing import Any

from oslo_log import log as logging
from senlin.common import exception as exc
from senlin.drivers import sdk

LOG = logging.getLogger(__name__)


def find(profile: Any, node: Any, name: str) -> str | None:
    """Return the id of the server that was created for a node, if any.

    :param profile: the node's profile, which leads to its region.
    :param node: the engine's node object.
    :param name: the name that the server was given.
    :returns: the id, or ``None``, also if the region does not answer: a node
        must be deletable although its region is gone.
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
    """List the servers of a name; Senlin's driver has no method for it."""
    # Nova takes a pattern and finds longer names, too: no harm done.
    compute = profile.compute(node).conn.compute
    return list(compute.servers(details=True, name=re.escape(name)))
