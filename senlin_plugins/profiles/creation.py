# SPDX-License-Identifier: Apache-2.0

"""Keep hold of what is being created for a node.

Senlin records the id of a server or a stack when it is ready, which may be
minutes after it came to be. If an engine dies in between, the server goes on
running and no node knows of it. Here the id is recorded as soon as the
service has given it.
"""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import consts
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.objects import node as node_objects

from senlin_plugins import conf
from senlin_plugins.regions import cluster_row, node_records

LOG = logging.getLogger(__name__)

#: How Nova, Neutron and Cinder say that a region has no room. A word such as
#: "quota" may also be part of a name.
FULL = re.compile(
    'quota exceeded|over quota|exceeds allowed .* quota|exceeded for quota|'
    'over (a|its) limit|maximum number of ports exceeded|no valid host|'
    'exhausted all hosts|no more ip addresses',
    re.IGNORECASE,
)


@contextlib.contextmanager
def recorded(profile: Any, node: Any) -> Iterator[None]:
    """Record what a profile creates for a node; delete it if that fails.

    :param profile: a region-aware profile, used by nobody else meanwhile.
    :param node: the engine's node object.
    :raises: ``EResourceCreation``, the only error that makes Senlin put the
        node into ERROR, with the id of what may be left.
    """
    made_id = None
    try:
        client = getattr(profile, profile.CLIENT)(node)
        method = f'{profile.CREATES}_create'
        waits = f'wait_for_{profile.CREATES}'
        create = getattr(client, method)

        def create_and_record(**attrs: Any) -> Any:
            nonlocal made_id
            made = create(**attrs)
            _record(profile, client, node, made.id)
            made_id = made.id
            return made

        def wait_and_explain(made: str, *args: Any, **kwargs: Any) -> Any:
            try:
                return wait(made, *args, **kwargs)
            except exc.InternalError as ex:
                fault = _find_fault(profile, client, made)
                if fault:
                    ex.message = f'{ex.message} {fault}'
                raise

        setattr(client, method, create_and_record)
        wait = getattr(client, waits)
        setattr(client, waits, wait_and_explain)
        try:
            yield
        finally:
            delattr(client, method)
            delattr(client, waits)
    except exc.SenlinException as ex:
        _note_failure(node, str(ex))
        failure = ex
        if not isinstance(failure, exc.EResourceCreation):
            failure = exc.EResourceCreation(type='node', message=str(ex))
        # Senlin's server profile has cleaned up itself if it names an id.
        if made_id and not failure.resource_id:
            failure.resource_id = node.physical_id = made_id
            _delete(profile, node)
        raise failure from ex


def _find_fault(profile: Any, client: Any, made: str) -> str:
    """Return what the service says of something that did not get ready."""
    try:
        thing = getattr(client, f'{profile.CREATES}_get')(made)
    except exc.InternalError:
        return ''
    fault = getattr(thing, 'fault', None) or {}
    return str(fault.get('message') or '')


def _note_failure(node: Any, error: str) -> None:
    """Note that nothing was recovered, and if the region had no room."""
    if 'recovery' not in (node.data or {}):
        # Only :func:`_record` has written it.
        node_records.forget_recovery(node)
    region = node_records.recorded_region(node)
    found = cluster_row.find(node) if FULL.search(error) else None
    if found and region:
        policy, cluster = found
        seconds = cfg.CONF[conf.GROUP].full_time
        cluster_row.change(
            cluster, lambda known: known.refuse(region, policy.now(), seconds)
        )
        LOG.warning(
            "Region '%(region)s' is full for cluster %(cluster)s: %(error)s",
            {
                'region': region,
                'cluster': cluster.id,
                'error': ' '.join(error.split()),
            },
        )


def _record(profile: Any, client: Any, node: Any, made: str) -> None:
    """Record an id, or delete what belongs to a node that is gone."""
    # Only in the database: Senlin compares the node's own id with the new
    # one to see that a recovery has recreated it.
    kind = profile.CREATES
    values: dict[str, Any] = {'physical_id': made}
    if node.status == consts.NS_RECOVERING:
        # As Senlin does in the end. If its engine dies before, the server
        # would never get to the pool of a load balancer.
        values['data'] = {**node.data, 'recovery': consts.RECOVER_RECREATE}
    try:
        node_objects.Node.update(
            senlin_context.get_admin_context(), node.id, values
        )
    except exc.ResourceNotFound as ex:
        LOG.warning(
            'Node %(node)s was deleted while its %(kind)s %(id)s was '
            'being created: deleting the %(kind)s, too.',
            {'node': node.id, 'kind': kind, 'id': made},
        )
        getattr(client, f'{kind}_delete')(made)
        raise exc.EResourceCreation(
            type=kind, message='its node was deleted meanwhile'
        ) from ex


def _delete(profile: Any, node: Any) -> None:
    """Delete what was created in vain, if that is possible now."""
    try:
        profile.do_delete(node)
    except exc.SenlinException as ex:
        LOG.warning(
            'What was created for node %(node)s could not be deleted: '
            '%(error)s It goes when the node is deleted.',
            {'node': node.id, 'error': ex},
        )
