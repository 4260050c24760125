# SPDX-License-Identifier: Apache-2.0

"""Ask the database of a service, from a command.

A command tries only once. The services themselves would try again for minutes
if their database is away. The text of an error contains no part of the URL,
because the URL has a password.
"""

import importlib
from typing import Any, Final

from os_placement_plugins import errors, time_limit

#: Seconds in which a database must answer. Loading a service takes about as
#: long.
LIMIT: Final = 3.0


def read(config: Any, section: str, statement: Any) -> list[Any]:
    """Return the rows of a statement.

    :param config: the configuration of the service.
    :param section: the section with the option ``connection``.
    :param statement: a statement of SQLAlchemy, or an SQL text.
    :raises DatabaseError: if the database does not answer in time.
    """
    sqlalchemy = importlib.import_module('sqlalchemy')
    if isinstance(statement, str):
        statement = sqlalchemy.text(statement)

    def ask() -> list[Any]:
        engine = _engine(config, section)
        try:
            with engine.connect() as connection:
                return list(connection.execute(statement))
        finally:
            engine.dispose()

    with errors.of_database():
        return time_limit.call(ask, LIMIT)


def connect(config: Any, section: str) -> Any:
    """Return SQLAlchemy's engine of a database that has just answered.

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
    """Return a sentence: what to check if a database cannot be asked."""
    return (
        f'Check connection in [{section}]: special characters of the password '
        'must be percent-encoded, the driver must be installed, and the '
        f'database must answer here within {LIMIT:g} seconds.'
    )


def _engine(config: Any, section: str) -> Any:
    """Return SQLAlchemy's engine, which has not connected yet."""
    sqlalchemy = importlib.import_module('sqlalchemy')
    # If the password contains a "$", already reading the option may raise an
    # error that quotes the password. So call this within errors.of_database().
    url = config[section].connection
    if not url:
        raise errors.DatabaseError('connection is not set')
    return sqlalchemy.create_engine(url)
