# SPDX-License-Identifier: Apache-2.0

"""Find out which regions of a cluster are out or full, and keep it.

What is known stands in the data of the cluster, see
:mod:`senlin_plugins.planning.failing`, and survives the engine.
"""

import datetime
from collections.abc import Iterable, Mapping
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
    full = failing.find_full(
        filter(None, map(records.refusal, nodes)),
        datetime.datetime.now(datetime.UTC),
        group.full_time,
    )
    found = {
        name: {'state': failing.FULL, 'why': why}
        for name, why in full.items()
        if name in names
    }
    for name in set(names) - known:
        found[name] = _out(failing.UNKNOWN, dead=True)
    # The service that deletes servers is the first, and has the last word.
    for (name, service), url in reversed(urls.items()):
        dead = service == profile.CLIENT
        if url in silent:
            found[name] = _out(f'{service} does not answer', dead)
        elif not url and group.check_catalog:
            found[name] = _out(f'its catalog offers no {service}', dead)
    return found


def _out(why: str, dead: bool) -> dict[str, Any]:
    """Return the state of a region that is out."""
    return {'state': failing.OUT, 'why': why, 'dead': dead}


def keep(cluster: Any, found: Mapping[str, Any], locked: bool) -> None:
    """Keep what was found in the data of the cluster.

    A change is logged once, whichever engine sees it.

    :param cluster: the engine's cluster object.
    :param found: what :func:`look` has found.
    :param locked: whether nothing else happens to the cluster meanwhile;
        otherwise servers are only noted.
    """
    data = dict(cluster.data or {})
    before = failing.read_states(data)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec='seconds')
    states = {}
    for name, state in found.items():
        old = before.get(name, {})
        is_old = old.get('state') == state['state']
        states[name] = {**state, 'since': old['since'] if is_old else now}
    _log_changes(cluster, before, states)
    dead = {name for name, state in states.items() if state.get('dead')}
    left = failing.read_left(data)
    noted = {(entry.region, entry.node, entry.server) for entry in left}
    for node in cluster.nodes:
        region = records.recorded_region(node)
        key = (region, node.id, node.physical_id)
        if region in dead and key not in noted:
            ports = (node.data or {}).get('internal_ports') or ()
            left.append(
                Left(region, node.id, node.name, node.physical_id, ports, now)
            )
    if locked:
        left = _clear(cluster, left, dead)
    data.pop(failing.DATA_KEY, None)
    if states or left:
        servers = [entry._asdict() for entry in left]
        data[failing.DATA_KEY] = {'regions': states, 'servers': servers}
    if data != (cluster.data or {}):
        cluster.data = data
        cluster_objects.Cluster.update(
            senlin_context.get_admin_context(), cluster.id, {'data': data}
        )


def _log_changes(
    cluster: Any, before: Mapping[str, Any], now: Mapping[str, Any]
) -> None:
    """Log each region that has changed."""
    for name in sorted({*before, *now}):
        was, state = before.get(name), now.get(name)
        what = {'region': name, 'cluster': cluster.id}
        if not state:
            LOG.info(
                "Region '%(region)s' is used again for cluster %(cluster)s.",
                what,
            )
        elif not was or was['state'] != state['state']:
            LOG.warning(
                "Region '%(region)s' of cluster %(cluster)s is %(state)s: "
                '%(why)s',
                {**what, **state},
            )


def _clear(cluster: Any, left: list[Left], dead: set[str]) -> list[Left]:
    """Delete what is left behind, and return what cannot be deleted yet."""
    waiting = [entry for entry in left if entry.region in dead]
    due = [entry for entry in left if entry.region not in dead]
    if due:
        with futures.ThreadPoolExecutor(AT_ONCE) as pool:
            gone = pool.map(lambda entry: _discard(cluster, entry), due)
            waiting += [
                entry
                for entry, is_gone in zip(due, gone, strict=True)
                if not is_gone
            ]
    return waiting


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
