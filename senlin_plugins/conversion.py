# SPDX-License-Identifier: Apache-2.0

"""The command ``senlin-plugins-convert``.

The command lists the clusters that need this package. It also changes the type
of a profile from Senlin's own type to the type of this package, or back, which
Senlin itself cannot do. The nodes keep their servers.
"""

import contextlib
import dataclasses
import importlib
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from oslo_config import cfg

from os_placement_plugins import upgrade_check
from os_placement_plugins.errors import is_of_database, one_line
from senlin_plugins.planning.node_region import (
    EXTENDED,
    fixed_region,
    recorded_region,
)

COMMAND: Final = 'senlin-plugins-convert'
#: What to check if the database does not answer.
REMEDY: Final = (
    'Check connection in [database]: special characters of the password must '
    'be percent-encoded, the driver must be installed, and the database must '
    'answer here.'
)

#: The query for the types that are used. Each row has ``cluster`` or ``node``,
#: the id and the name of a cluster or of a node without a cluster, and the
#: type, with its version, of one of its profiles and policies.
STATEMENT: Final = """
SELECT 'cluster', cluster.id, cluster.name AS name, profile.type
FROM cluster JOIN profile ON profile.id = cluster.profile_id
UNION SELECT 'cluster', cluster.id, cluster.name, profile.type
FROM cluster
JOIN node ON node.cluster_id = cluster.id
JOIN profile ON profile.id = node.profile_id
UNION SELECT 'cluster', cluster.id, cluster.name, policy.type
FROM cluster_policy
JOIN cluster ON cluster.id = cluster_policy.cluster_id
JOIN policy ON policy.id = cluster_policy.policy_id
UNION SELECT 'node', node.id, node.name, profile.type
FROM node JOIN profile ON profile.id = node.profile_id
WHERE node.cluster_id = '' OR node.cluster_id IS NULL
ORDER BY name
"""

#: In-tree type of a profile -> the region-aware type.
AWARE: Final = {in_tree: aware for aware, in_tree in EXTENDED.items()}


class DatabaseError(Exception):
    """Senlin's database does not answer. The text contains no password."""


@dataclasses.dataclass
class Use:
    """A cluster, or a node without a cluster, and the types that it uses.

    :param kind: ``cluster`` or ``node``.
    :param id: its id.
    :param name: its name.
    :param types: the types of its profiles and policies, with their versions.
    """

    kind: str
    id: str
    name: str
    types: set[str] = dataclasses.field(default_factory=set)

    @property
    def package_types(self) -> str:
        """The types that belong to this package, as text."""
        prefix = f'{__package__}.'
        return ', '.join(sorted(t for t in self.types if t.startswith(prefix)))


def collect_uses(rows: Iterable[Any]) -> list[Use]:
    """Return the clusters, and the nodes without a cluster.

    :param rows: the rows that the query :data:`STATEMENT` returns.
    """
    uses: dict[str, Use] = {}
    for kind, id_, name, type_name in rows:
        use = uses.setdefault(id_, Use(kind, id_, name))
        use.types.add(type_name)
    return list(uses.values())


def load_senlin() -> None:
    """Import the modules of Senlin that register its database options.

    :raises ImportError: if Senlin is not installed here.
    """
    # The first import patches the process for eventlet, as in senlin-engine.
    importlib.import_module('senlin.cmd')
    importlib.import_module('senlin.conf')
    importlib.import_module('senlin.db.api')
    importlib.import_module('senlin.db.sqlalchemy.api')


def main(argv: list[str] | None = None) -> int:
    """Run the command.

    :param argv: the arguments; by default, the arguments of the process.
    :returns: 0 for success, 1 for a failure, and 255 where Senlin is not
        installed, like the upgrade checks.
    """
    if not sys.warnoptions:
        # Hide the warnings of Senlin's libraries: they are not for operators.
        warnings.simplefilter('ignore')
    try:
        load_senlin()
    except ImportError as exc:
        _fail(f'{COMMAND}: run it where senlin-engine is installed: {exc}')
        return upgrade_check.NOTHING_CHECKED
    if 'command' not in cfg.CONF:
        commands = cfg.SubCommandOpt(
            'command', handler=_add_commands, title='commands'
        )
        cfg.CONF.register_cli_opt(commands)
    arguments = sys.argv[1:] if argv is None else argv
    try:
        cfg.CONF(arguments, project='senlin', prog=COMMAND)
        command = cfg.CONF.command
        if command.name == 'profile':
            print(_convert(command))
        else:
            print(_list_uses())
    except (ValueError, OSError, cfg.Error) as exc:
        return _fail(one_line(exc))
    except Exception as exc:
        if not isinstance(exc, DatabaseError) and not is_of_database(exc):
            raise
        return _fail(f'{one_line(exc)}. {REMEDY}')
    return 0


def convert_profile(session: Any, name: str, back: bool, yes: bool) -> str:
    """Change the type of a profile in Senlin's database.

    :param session: a session of SQLAlchemy.
    :param name: the name or the id of the profile.
    :param back: whether to change a region-aware type to its in-tree type.
    :param yes: whether to change the profile. If false, the function only
        returns what would change.
    :returns: what the command has done, or would do.
    :raises ValueError: if the profile cannot be converted. The text says why.
    """
    models = importlib.import_module('senlin.db.sqlalchemy.models')
    table = models.Profile
    profiles = session.query(table).filter(
        (table.id == name) | (table.name == name)
    )
    if profiles.count() != 1:
        raise ValueError(f"{profiles.count()} profiles are called '{name}'.")
    profile = profiles.first()
    old_type = profile.spec['type']
    types = AWARE
    if back:
        types = EXTENDED
    if old_type not in types:
        raise ValueError(
            f"The type of profile '{name}' is '{old_type}': it must be one of "
            f'{", ".join(types)}.'
        )
    nodes = session.query(models.Node).filter_by(profile_id=profile.id).all()
    cluster_ids = {node.cluster_id for node in nodes}
    clusters = session.query(models.Cluster).filter(
        (models.Cluster.profile_id == profile.id)
        | models.Cluster.id.in_(cluster_ids)
    )
    _check_locks(session, models, [*clusters, *nodes])
    home = _find_home(profile)
    if back:
        _check_regions(nodes, home, in_tree=types[old_type])
        _check_policies(session, [cluster.id for cluster in clusters])
    names = ', '.join(cluster.name for cluster in clusters)
    text = (
        f"Profile '{name}' ({len(nodes)} nodes; clusters: {names or 'none'}): "
        f'{old_type} -> {types[old_type]}.'
    )
    if not yes:
        return f'{text} Nothing has changed: say --yes to do it.'
    profile.type = profile.type.replace(old_type, types[old_type])
    profile.spec = {**profile.spec, 'type': types[old_type]}
    return f'{text} Done.'


def _check_locks(session: Any, models: Any, objects: Iterable[Any]) -> None:
    ids = [item.id for item in objects]
    for column in (models.ClusterLock.cluster_id, models.NodeLock.node_id):
        if session.query(column).filter(column.in_(ids)).first():
            raise ValueError(
                'An action on its clusters or nodes is under way: wait.'
            )


def _find_home(profile: Any) -> str:
    """Return the region in which the in-tree type looks for all servers."""
    context = profile.spec['properties'].get('context')
    home = fixed_region(context) or cfg.CONF.default_region_name
    if not home:
        raise ValueError(
            'default_region_name is not set in [DEFAULT] of senlin.conf: set '
            'it to the region of the nodes, and restart Senlin.'
        )
    return str(home)


def _check_regions(nodes: Iterable[Any], home: str, in_tree: str) -> None:
    """Refuse if the in-tree type would not find the servers of some nodes."""
    away = [
        node.name
        for node in nodes
        if recorded_region(node) not in (None, home)
    ]
    if away:
        raise ValueError(
            f'{len(away)} node(s) are not in {home}, such as {away[0]}, and '
            f'{in_tree} would not find their servers: delete these nodes '
            'first.'
        )


def _check_policies(session: Any, cluster_ids: Sequence[str]) -> None:
    sqlalchemy = importlib.import_module('sqlalchemy')
    rows = session.execute(sqlalchemy.text(STATEMENT))
    prefix = f'{__package__}.policy.'
    for use in collect_uses(rows):
        if use.id not in cluster_ids:
            continue
        for type_name in sorted(use.types):
            if type_name.startswith(prefix):
                raise ValueError(
                    f'{type_name} is attached to {use.name}: detach it.'
                )


def _list_uses() -> str:
    sqlalchemy = importlib.import_module('sqlalchemy')
    with _connect().connect() as connection, _hiding_cause():
        rows = list(connection.execute(sqlalchemy.text(STATEMENT)))
    lines = [
        f'{use.kind} {use.name} ({use.id}): {use.package_types}'
        for use in collect_uses(rows)
        if use.package_types
    ]
    return '\n'.join(lines) or 'Nothing needs this package.'


def _convert(command: Any) -> str:
    """Convert a profile, and return a text about the result.

    :param command: the arguments of the command.
    :raises ValueError: if the conversion is refused; the text says why.
    """
    orm = importlib.import_module('sqlalchemy.orm')
    with orm.Session(_connect()) as session, session.begin():
        return convert_profile(
            session, command.profile, command.back, command.yes
        )


@contextlib.contextmanager
def _hiding_cause() -> Iterator[None]:
    """Replace each error by a DatabaseError that names the error's class.

    If the password in a URL is not encoded, SQLAlchemy reads a part of the
    password as a host or a port. So an error of any class may quote this part.
    """
    try:
        yield
    except DatabaseError:
        raise
    except Exception as exc:
        # Without "from None", a traceback would show the original error.
        raise DatabaseError(type(exc).__name__) from None


def _connect() -> Any:
    """Return SQLAlchemy's engine of the database, after a test connection.

    The command connects only once, so that it soon reports an error. (The
    service itself would try again for minutes.)

    :raises DatabaseError: if there is no connection. The text contains no part
        of the database's URL, because the URL contains a password.
    """
    sqlalchemy = importlib.import_module('sqlalchemy')
    # If the password contains a "$", reading the option may raise an error
    # that quotes the password.
    with _hiding_cause():
        url = cfg.CONF.database.connection
        if not url:
            raise DatabaseError('connection is not set')
        engine = sqlalchemy.create_engine(url)
        engine.connect().close()
        return engine


def _add_commands(commands: Any) -> None:
    commands.required = True
    commands.add_parser('list', help='list what needs this package')
    profile = commands.add_parser('profile', help='convert a profile')
    profile.add_argument('profile', help='name or ID')
    profile.add_argument(
        '--back', action='store_true', help="back to Senlin's own type"
    )
    profile.add_argument(
        '--yes', action='store_true', help='do it, instead of a look'
    )


def _fail(problem: str) -> int:
    print(problem, file=sys.stderr)
    return 1
