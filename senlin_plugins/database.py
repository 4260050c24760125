# SPDX-License-Identifier: Apache-2.0

"""Read Senlin's database, from a command.

Each function connects only once, so that a command soon reports an error. (The
service itself would try again for minutes.) The text of an error contains no
part of the database's URL, because the URL contains a password.
"""

import importlib
from typing import Any, Final

from oslo_config import cfg

from os_placement_plugins import errors

#: What to check if the database does not answer.
REMEDY: Final = (
    'Check connection in [database]: special characters of the password must '
    'be percent-encoded, the driver must be installed, and the database must '
    'answer here.'
)


def read(statement: str) -> list[Any]:
    """Execute a statement, and return its rows.

    :param statement: an SQL text.
    :raises DatabaseError: if the database cannot be read.
    """
    sqlalchemy = importlib.import_module('sqlalchemy')
    with errors.of_database(), _engine().connect() as connection:
        return list(connection.execute(sqlalchemy.text(statement)))


def connect() -> Any:
    """Return SQLAlchemy's engine of the database, after a test connection.

    :raises DatabaseError: if there is no connection.
    """
    with errors.of_database():
        engine = _engine()
        engine.connect().close()
        return engine


def _engine() -> Any:
    """Return SQLAlchemy's engine of the database, without a connection."""
    sqlalchemy = importlib.import_module('sqlalchemy')
    # If the password contains a "$", reading the option may raise an error
    # that quotes the password. So each caller uses errors.of_database().
    url = cfg.CONF.database.connection
    if not url:
        raise errors.DatabaseError('connection is not set')
    return sqlalchemy.create_engine(url)
