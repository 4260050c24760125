# SPDX-License-Identifier: Apache-2.0

"""The command ``senlin-plugins-convert``.

The command lists the clusters that need this package. It also changes the type
of a profile from Senlin's own type to the type of this package, or back.
"""

import importlib
import sys
import warnings
from typing import Any

from oslo_config import cfg

from os_placement_plugins import database
from os_placement_plugins.errors import is_of_database, one_line
from senlin_plugins import inventory

COMMAND = 'senlin-plugins-convert'


def main(argv: list[str] | None = None) -> int:
    """Run the command.

    :param argv: the arguments; by default, the arguments of the process.
    :returns: 0 for success, 1 for a failure.
    """
    if not sys.warnoptions:
        # Hide the warnings of Senlin's libraries: they are not for operators.
        warnings.simplefilter('ignore')
    try:
        inventory.load()
    except ImportError as exc:
        return _fail(
            f'{COMMAND}: run it where senlin-engine is installed: {exc}'
        )
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
            print(_list())
    except (ValueError, OSError, cfg.Error) as exc:
        return _fail(one_line(exc))
    except Exception as exc:
        if not is_of_database(exc):
            raise
        return _fail(f'{one_line(exc)}. {database.remedy("database")}')
    return 0


def _list() -> str:
    """List the clusters, and nodes of no cluster, that need the package."""
    rows = database.read(cfg.CONF, 'database', inventory.STATEMENT)
    lines = [
        f'{use.kind} {use.name} ({use.id}): {use.ours}'
        for use in inventory.collect(rows)
        if use.ours
    ]
    return '\n'.join(lines) or 'Nothing needs this package.'


def _convert(command: Any) -> str:
    """Convert a profile, and return a text about the result.

    :param command: the arguments of the command.
    :raises ValueError: if the conversion is refused; the text says why.
    """
    engine = database.connect(cfg.CONF, 'database')
    orm = importlib.import_module('sqlalchemy.orm')
    profile_types = importlib.import_module('senlin_plugins.profile_types')
    with orm.Session(engine) as session, session.begin():
        text: str = profile_types.convert(
            session, command.profile, command.back, command.yes
        )
    return text


def _add_commands(commands: Any) -> None:
    """Add the commands and their arguments."""
    commands.required = True
    commands.add_parser('list', help='list what needs this package')
    profile = commands.add_parser('profile', help='convert a profile')
    profile.add_argument('profile', help='name or ID')
    profile.add_argument(
        '--back', action='store_true', help="back to Senlin's own type"
    )
    profile.add_argument(
        '--yes', action='store_true', help='do it; otherwise only look'
    )


def _fail(problem: str) -> int:
    """Print a problem, and return the exit status of a failure."""
    print(problem, file=sys.stderr)
    return 1
