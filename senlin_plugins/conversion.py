# SPDX-License-Identifier: Apache-2.0

"""The command ``senlin-plugins-convert``: the way into this package, and out.

Senlin cannot change the type of a profile. This command does so in Senlin's
database, so that the nodes keep their servers: a region-aware type finds what
its in-tree type has made, and the other way round if all nodes are in the one
region in which the in-tree type looks.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import Any, Final

import sqlalchemy
from oslo_config import cfg
from senlin import conf as senlin_conf  # noqa: F401  registers options
from senlin.db import api  # noqa: F401  registers options
from senlin.db.sqlalchemy import models
from sqlalchemy import orm

from os_placement_plugins import database
from os_placement_plugins.errors import DatabaseError, one_line
from senlin_plugins.planning import region_state
from senlin_plugins.planning.plugin_types import EXTENDED
from senlin_plugins.planning.snapshot import recorded_region

#: In-tree type of a profile -> the region-aware type.
AWARE: Final = {own: aware for aware, own in EXTENDED.items()}


def users(session: orm.Session) -> Iterator[str]:
    """Name the clusters, and the nodes of no cluster, that need this package.

    :returns: one line each.
    """
    profiles = session.query(models.Profile.id, models.Profile.type)
    kinds = {profile_id: kind for profile_id, kind in profiles}
    nodes = session.query(models.Node)
    for cluster in session.query(models.Cluster).order_by('name'):
        users = [cluster, *nodes.filter_by(cluster_id=cluster.id)]
        own = {kinds[user.profile_id] for user in users}
        if needed := _ours({*own, *_policies(session, cluster)}):
            yield f'cluster {cluster.name} ({cluster.id}): {needed}'
    for node in nodes.filter_by(cluster_id=''):
        if needed := _ours({kinds[node.profile_id]}):
            yield f'node {node.name} ({node.id}): {needed}'


def convert(session: orm.Session, name: str, back: bool, yes: bool) -> str:
    """Change the type of a profile.

    :param name: the name or the id of the profile.
    :param back: whether it becomes an in-tree type.
    :param yes: whether to do it, or only to look.
    :returns: what has happened, or would.
    :raises ValueError: why it cannot be done.
    """
    table = models.Profile
    named = sqlalchemy.or_(table.id == name, table.name == name)
    profiles = session.query(table).filter(named).all()
    if len(profiles) != 1:
        raise ValueError(f"{len(profiles)} profiles are called '{name}'.")
    (profile,) = profiles
    kind, types = profile.spec['type'], EXTENDED if back else AWARE
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
    for problem in _problems(session, profile, clusters.all(), nodes, back):
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
    """Say why a profile cannot be converted now."""
    ids = [thing.id for thing in (*clusters, *nodes)]
    for column in (models.ClusterLock.cluster_id, models.NodeLock.node_id):
        if session.query(column).filter(column.in_(ids)).first():
            yield 'An action on its clusters or nodes is under way: wait.'
    context = profile.spec['properties'].get('context') or {}
    home = context.get('region_name') or cfg.CONF.default_region_name
    if not home:
        yield (
            'default_region_name is not set in [DEFAULT] of senlin.conf: set '
            'it to the region of the nodes, and restart Senlin.'
        )
    away = [n.name for n in nodes if recorded_region(n) not in (None, home)]
    if back and away:
        yield (
            f'{len(away)} node(s) are not in {home}, such as {away[0]}, and '
            f'{EXTENDED[profile.spec["type"]]} would not find their servers: '
            'drain the other regions, and rebalance the cluster.'
        )
    for cluster in clusters if back else ():
        if needed := _ours({*_policies(session, cluster)}):
            yield f'{needed} is attached to {cluster.name}: detach it.'
        if region_state.read(cluster.data).left:
            yield (
                f'{cluster.name} has left servers behind, and only this '
                'package deletes them: see "openstack cluster region list '
                f'--long {cluster.name}".'
            )


def _policies(session: orm.Session, cluster: Any) -> list[str]:
    """Return the types of the policies that are attached to a cluster."""
    bound = models.ClusterPolicies
    kinds = session.query(models.Policy.type).join(
        bound, bound.policy_id == models.Policy.id
    )
    return [k for (k,) in kinds.filter(bound.cluster_id == cluster.id)]


def _ours(kinds: set[str]) -> str:
    """Return the types of this package, as text."""
    return ', '.join(sorted(k for k in kinds if 'senlin_plugins.' in k))


def main(argv: list[str] | None = None) -> int:
    """Run the command.

    :param argv: the arguments; those of the process by default.
    :returns: 0, or 1 if it could not be done.
    """
    parser = argparse.ArgumentParser('senlin-plugins-convert')
    parser.add_argument(
        '--config-file', action='append', help="Senlin's configuration"
    )
    commands = parser.add_subparsers(dest='command', required=True)
    commands.add_parser('list', help='list what needs this package')
    profile = commands.add_parser('profile', help='convert a profile')
    profile.add_argument('profile', help='name or ID')
    profile.add_argument(
        '--back', action='store_true', help="back to Senlin's own type"
    )
    profile.add_argument(
        '--yes', action='store_true', help='do it; otherwise only look'
    )
    given = parser.parse_args(argv)
    try:
        cfg.CONF([], project='senlin', default_config_files=given.config_file)
        engine = database.connect(cfg.CONF, 'database')
        with orm.Session(engine) as session, session.begin():
            if given.command == 'profile':
                said = convert(session, given.profile, given.back, given.yes)
            else:
                said = '\n'.join(users(session))
            print(said or 'Nothing needs this package.')
    except (DatabaseError, sqlalchemy.exc.SQLAlchemyError) as exc:
        return _fail(f'{one_line(exc)}. {database.remedy("database")}')
    except (ValueError, OSError, cfg.Error) as exc:
        return _fail(one_line(exc))
    return 0


def _fail(problem: str) -> int:
    """Say in one line why nothing could be done."""
    print(problem, file=sys.stderr)
    return 1
