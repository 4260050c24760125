# SPDX-License-Identifier: Apache-2.0

"""The filter and the weigher in a real scheduler.

Importing this package starts Nova's concurrency as the nova-scheduler
command does; the tests of a process share one cloud, because Nova's
databases are global.
"""

import contextlib
import functools
import logging
from collections.abc import Iterator

from testing.nova import cases, engine

#: The filter's logger.
LOGGER = 'nova_filters.filters.aggregate_instance_type'

# What the tests look at they catch; the rest is not for the terminal.
logging.getLogger().addHandler(logging.NullHandler())


@functools.cache
def cloud() -> engine.Cloud:
    """Return the cloud of this process."""
    return engine.Cloud()


class _Records(logging.Handler):
    """Keep what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record."""
        self.records.append(record)


@contextlib.contextmanager
def records(level: int = logging.DEBUG) -> Iterator[list[logging.LogRecord]]:
    """Collect what the filter logs meanwhile, which may be nothing.

    :param level: the logger's level meanwhile.
    """
    logger = logging.getLogger(LOGGER)
    handler = _Records()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield handler.records
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def refusals(found: list[logging.LogRecord]) -> list[cases.Refusal | None]:
    """Return the reasons that the filter's DEBUG lines give.

    :param found: what :func:`records` collected.
    """
    return [
        cases.Refusal.of(record.args['reason'])
        for record in found
        if record.levelno == logging.DEBUG
    ]
