# SPDX-License-Identifier: Apache-2.0

"""Find out which regions of a cluster are out or full, and keep it.

What is known stands in the data of the cluster, see
:mod:`senlin_plugins.planning.failing`, and survives the engine.
"""

import datetime
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent import futures
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.objects import cluster as cluster_objects
from senlin.objects import node as node_objects

from senlin_plugins import catalog, conf
from senlin_plugins.planning import failing
from senlin_plugins.planning.failing import Left
from senlin_plugins.policies import probing
from senlin_plugins.profiles import records

LOG = logging.getLogger(__name__)

#: How many servers are deleted at the same time.
AT_ONCE = 8


def look(
    keystone: Any, profile: Any, names: Iterable[str], cluster: Any
) -> dict[str, dict[str, Any]]:
    """Ask the regions, and read what their clouds said when they refused.

    :param keystone: Senlin's client for Keystone, of the cluster's owner.
    :param profile: the profile of the cluster.
    :param names: the regions of the policy.
    :param cluster: the engine's cluster object; the regions of its nodes are
        asked, too.
    :returns: region name -> ``state``, ``why``, and ``dead`` if not even
        deleting is possible there. Regions that work are left out.
    """
    group = cfg.CONF[conf.GROUP]
    interface = cfg.CONF.authentication.interface
    nodes = cluster.nodes
    recorded = filter(None, map(records.recorded_region, nodes))
    names = sorted({*names, *recorded})
    known = set(keystone.validate_regions(names))
    urls = {
        (name, service): catalog.find_endpoint(
            keystone.session, name, service, interface
        )
        for name in names
        if name in known
        for service in profile.required_services()
    }
    before = failing.read_states(cluster.data or {})
    silent = probing.find_silent(
        keystone.session,
        {url for url in urls.values() if url},
        {url for (name, _), url in urls.items() if url and name in before},
        group.region_timeout,
    )
    refusals = filter(None, map(records.refusal, nodes))
    full = failing.find_full(
        [refusal for refusal in refusals if refusal['region'] in names],
        datetime.datetime.now(datetime.UTC),
        group.full_time,
    )
    faults = [(name, failing.UNKNOWN, True) for name in set(names) - known]
    for (name, service), url in urls.items():
        dead = service == profile.CLIENT
        if url in silent:
            faults.append((name, f'{service} does not answer', dead))
        elif not url and group.check_catalog:
            faults.append((name, f'its catalog offers no {service}', dead))
    return failing.find_states(full, faults)


def keep(
    cluster: Any,
    found: Mapping[str, Any],
    locked: bool,
    moving: Collection[str],
) -> None:
    """Keep what was found in the data of the cluster.

    A change is logged once, whichever engine sees it.

    :param cluster: the engine's cluster object.
    :param found: what :func:`look` has found.
    :param locked: whether nothing else happens to the cluster meanwhile;
        otherwise servers are only noted.
    :param moving: ids of nodes that may leave their servers behind.
    """
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec='seconds')
    if not locked:
        # Actions on other nodes may have written them since.
        row = cluster_objects.Cluster.get(
            senlin_context.get_admin_context(), cluster.id, project_safe=False
        )
        cluster.data = row.data
    data = cluster.data or {}
    left = failing.read_left(data)
    if locked:
        left = _clear(cluster, left, found)
    held = _find_held(cluster, now)
    kept = failing.keep(data, found, left, held, moving, now)
    if kept != data:
        _log_changes(cluster, failing.find_changes(data, kept))
        cluster.data = kept
        cluster_objects.Cluster.update(
            senlin_context.get_admin_context(), cluster.id, {'data': kept}
        )


def _find_held(cluster: Any, now: str) -> Iterator[Left]:
    """Yield what each node of a cluster has."""
    for node in cluster.nodes:
        region = records.recorded_region(node)
        if region:
            ports = (node.data or {}).get('internal_ports') or ()
            yield Left(
                region, node.id, node.name, node.physical_id, ports, now
            )


def _log_changes(cluster: Any, changes: Mapping[str, Any]) -> None:
    """Log each region that has changed."""
    for name, state in changes.items():
        what = {'region': name, 'cluster': cluster.id, **state}
        if state:
            LOG.warning(
                "Region '%(region)s' of cluster %(cluster)s is %(state)s: "
                '%(why)s',
                what,
            )
        else:
            LOG.info(
                "Region '%(region)s' is used again for cluster %(cluster)s.",
                what,
            )


def _clear(
    cluster: Any, left: list[Left], found: Mapping[str, Any]
) -> list[Left]:
    """Delete what is left behind, and return what cannot be deleted yet."""

    def waits(entry: Left) -> bool:
        return failing.is_dead(found, entry.region) or not _discard(
            cluster, entry
        )

    with futures.ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = list(pool.map(waits, left))
    return list(itertools.compress(left, waiting))


def _discard(cluster: Any, entry: Left) -> bool:
    """Delete a server unless its node has it; tell whether that is done."""
    node = node_objects.Node.get(
        senlin_context.get_admin_context(), entry.node, project_safe=False
    )
    if node:
        region = records.recorded_region(node)
        if entry.is_held(region, node.physical_id):
            return True
    what = entry._asdict()
    try:
        cluster.rt['profile'].discard(cluster, entry)
    except exc.SenlinException as ex:
        LOG.warning(
            "Server %(server)s in region '%(region)s', left behind by node "
            '%(node)s, cannot be deleted yet: %(error)s',
            {**what, 'error': ex},
        )
        return False
    LOG.info(
        "Server %(server)s in region '%(region)s', left behind by node "
        '%(node)s, is deleted.',
        what,
    )
    return True
