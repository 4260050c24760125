# SPDX-License-Identifier: Apache-2.0

"""Read the database of a service, from a command.

Each function connects only once, so that a command soon reports an error. (The
service itself would try again for minutes.) The text of an error contains no
part of the database's URL, because the URL contains a password.
"""

import importlib
from typing import Any, Final

from os_placement_plugins import errors, time_limit

#: How many seconds a command waits for the answer of a database.
LIMIT: Final = 3.0


def read(config: Any, section: str, statement: str) -> list[Any]:
    """Execute a statement, and return its rows.

    :param config: the configuration of the service.
    :param section: the section with the option ``connection``.
    :param statement: an SQL text.
    :raises DatabaseError: if the database does not answer in time.
    """
    sqlalchemy = importlib.import_module('sqlalchemy')

    def ask() -> list[Any]:
        engine = _engine(config, section)
        try:
            with engine.connect() as connection:
                return list(connection.execute(sqlalchemy.text(statement)))
        finally:
            engine.dispose()

    with errors.of_database():
        return time_limit.call(ask, LIMIT)


def connect(config: Any, section: str) -> Any:
    """Return SQLAlchemy's engine of a database, after a test connection.

    :param config: the configuration of the service.
    :param section: the section with the option ``connection``.
    :raises DatabaseError: if the database does not answer in time.
    """

    def ask() -> Any:
        engine = _engine(config, section)
        engine.connect().close()
        return engine

    with errors.of_database():
        return time_limit.call(ask, LIMIT)


def remedy(section: str) -> str:
    """Return advice on what to check if a database does not answer."""
    return (
        f'Check connection in [{section}]: special characters of the password '
        'must be percent-encoded, the driver must be installed, and the '
        f'database must answer here within {LIMIT:g} seconds.'
    )


def _engine(config: Any, section: str) -> Any:
    """Return SQLAlchemy's engine of a database, without a connection."""
    sqlalchemy = importlib.import_module('sqlalchemy')
    # If the password contains a "$", reading the option may raise an error
    # that quotes the password. So each caller uses errors.of_database().
    url = config[section].connection
    if not url:
        raise errors.DatabaseError('connection is not set')
    return sqlalchemy.create_engine(url)
