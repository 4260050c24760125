# SPDX-License-Identifier: Apache-2.0

"""Change the type of a profile in Senlin's database.

Senlin itself cannot change the type. The nodes keep their servers. After the
change to a region-aware type, the profile finds the servers that the in-tree
type has created. After the change to an in-tree type, the profile finds only
servers in one region: the region in its ``context``, or else
``default_region_name``.
"""

from collections.abc import Iterator
from typing import Any, Final

import sqlalchemy
from oslo_config import cfg
from senlin.db.sqlalchemy import models
from sqlalchemy import orm

from senlin_plugins import inventory
from senlin_plugins.planning import region_state
from senlin_plugins.planning.plugin_types import EXTENDED
from senlin_plugins.planning.snapshot import fixed_region, recorded_region

#: In-tree type of a profile -> the region-aware type.
AWARE: Final = {in_tree: aware for aware, in_tree in EXTENDED.items()}


def convert(session: orm.Session, name: str, back: bool, yes: bool) -> str:
    """Change the type of a profile.

    :param name: the name or the id of the profile.
    :param back: whether to change a region-aware type to its in-tree type.
    :param yes: whether to change the profile. If false, the function only
        returns what would change.
    :returns: what the command has done, or would do.
    :raises ValueError: if the profile cannot be converted. The text says why.
    """
    table = models.Profile
    named = sqlalchemy.or_(table.id == name, table.name == name)
    profiles = session.query(table).filter(named).all()
    if len(profiles) != 1:
        raise ValueError(f"{len(profiles)} profiles are called '{name}'.")
    (profile,) = profiles
    kind = profile.spec['type']
    types = EXTENDED if back else AWARE
    if kind not in types:
        raise ValueError(
            f"The type of profile '{name}' is '{kind}': it must be one of "
            f'{", ".join(types)}.'
        )
    nodes = session.query(models.Node).filter_by(profile_id=profile.id).all()
    clusters = session.query(models.Cluster).filter(
        sqlalchemy.or_(
            models.Cluster.profile_id == profile.id,
            models.Cluster.id.in_({node.cluster_id for node in nodes}),
        )
    )
    problems = _problems(session, profile, clusters.all(), nodes, back)
    problem = next(problems, '')
    if problem:
        raise ValueError(problem)
    names = ', '.join(cluster.name for cluster in clusters)
    text = (
        f"Profile '{name}' ({len(nodes)} nodes; clusters: {names or 'none'}): "
        f'{kind} -> {types[kind]}.'
    )
    if not yes:
        return f'{text} Nothing has changed: say --yes to do it.'
    profile.type = profile.type.replace(kind, types[kind])
    profile.spec = {**profile.spec, 'type': types[kind]}
    return f'{text} Done.'


def _problems(
    session: orm.Session, profile: Any, clusters: Any, nodes: Any, back: bool
) -> Iterator[str]:
    """Yield the reasons why a profile cannot be converted now."""
    ids = [thing.id for thing in (*clusters, *nodes)]
    for column in (models.ClusterLock.cluster_id, models.NodeLock.node_id):
        if session.query(column).filter(column.in_(ids)).first():
            yield 'An action on its clusters or nodes is under way: wait.'
    context = profile.spec['properties'].get('context')
    home = fixed_region(context) or cfg.CONF.default_region_name
    if not home:
        yield (
            'default_region_name is not set in [DEFAULT] of senlin.conf: set '
            'it to the region of the nodes, and restart Senlin.'
        )
    away = [
        node.name
        for node in nodes
        if recorded_region(node) not in (None, home)
    ]
    if back and away:
        yield (
            f'{len(away)} node(s) are not in {home}, such as {away[0]}, and '
            f'{EXTENDED[profile.spec["type"]]} would not find their servers: '
            'drain the other regions, and rebalance the cluster.'
        )
    if not back:
        return
    rows = session.execute(sqlalchemy.text(inventory.STATEMENT))
    policies = {use.id: use.policies for use in inventory.collect(rows)}
    for cluster in clusters:
        attached = inventory.name_ours(policies.get(cluster.id, ()))
        if attached:
            yield f'{attached} is attached to {cluster.name}: detach it.'
        if region_state.read(cluster.data).left:
            yield (
                f'{cluster.name} has left servers behind, and only this '
                'package deletes them: see "openstack cluster region list '
                f'--long {cluster.name}".'
            )
