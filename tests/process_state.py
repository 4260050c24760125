# SPDX-License-Identifier: Apache-2.0

"""Fail each test, and each class of tests, that leaves something behind.

All tests of a worker share one process. :class:`TestCase` compares what they
share before and after each test, and before and after each class. It is the
base of every class of tests: ``tests/__init__.py`` says how.
"""

import dataclasses
import logging
import os
import sys
import threading
import time
import unittest
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from oslo_config import cfg

#: How long a thread may take to end after its test, in seconds.
PATIENCE = 20.0
#: How long to wait between two looks at the threads, in seconds.
PAUSE = 0.01

#: Each function returns what a stub cloud of this process holds: a value for
#: the name of each thing. It starts the cloud if a suite has only one, so
#: that no test is blamed for what a service changes when it starts.
stub_clouds: list[Callable[[], Mapping[str, Any]]] = []

#: Each function returns whether a thread works for a pool that a service
#: keeps as long as its process lives. No test can end such a thread.
service_pools: list[Callable[[threading.Thread], bool]] = []


@dataclasses.dataclass(frozen=True)
class State:
    """What the tests of a process share.

    :param values: the value of each thing that is not as it is by default,
        by the name of the thing.
    :param threads: the threads that run.
    """

    values: dict[str, Any]
    threads: set[threading.Thread]


def current() -> State:
    """Return the state of this process now."""
    values: dict[str, Any] = {}
    for things in stub_clouds:
        values.update(things())
    values['current folder'] = os.getcwd()
    values['sys.path'] = list(sys.path)
    for name, value in os.environ.items():
        values[f'environment variable {name}'] = value
    values.update(_options())
    values.update(_loggers())
    return State(values, set(_threads()))


def differences(before: State) -> list[str]:
    """Return a line for each thing that is not as it was.

    :param before: the state of this process at an earlier time.
    """
    deadline = time.monotonic() + PATIENCE
    while not before.threads.issuperset(_threads()):
        if time.monotonic() > deadline:
            break
        time.sleep(PAUSE)
    after = current()
    lines = [
        f'thread "{thread.name}" still runs after {PATIENCE} seconds'
        for thread in after.threads - before.threads
    ]
    for name in sorted({*before.values, *after.values}):
        if name not in after.values:
            lines.append(f'{name} is gone; it was {before.values[name]!r}')
        elif name not in before.values:
            lines.append(f'{name} is new: {after.values[name]!r}')
        elif before.values[name] != after.values[name]:
            lines.append(
                f'{name} is {after.values[name]!r}; '
                f'it was {before.values[name]!r}'
            )
    return lines


def loggers() -> Iterator[logging.Logger]:
    """Yield the loggers of this process."""
    yield logging.root
    for logger in logging.root.manager.loggerDict.values():
        # A placeholder stands for the parent of loggers.
        if isinstance(logger, logging.Logger):
            yield logger


def _options() -> Iterator[tuple[str, Any]]:
    """Yield the options of oslo.config that somebody has set in the code."""
    # oslo.config has no public way to list them.
    for info, group in cfg.CONF._all_opt_infos():
        for kind in ('override', 'default'):
            if kind in info:
                section = group.name if group else 'DEFAULT'
                name = info['opt'].dest
                yield f'{kind} of option [{section}] {name}', info[kind]
    yield 'configuration files', cfg.CONF._namespace


def _loggers() -> Iterator[tuple[str, Any]]:
    """Yield what is set on loggers.

    A logger that is as Python makes it yields nothing, so a test may be the
    first that asks for it.
    """
    yield 'logging.disable', logging.root.manager.disable
    for logger in loggers():
        if logger.level != logging.NOTSET:
            level = logging.getLevelName(logger.level)
            yield f'level of logger "{logger.name}"', level
        handlers = [
            handler
            for handler in logger.handlers
            if logger is logging.root or not _is_idle(handler)
        ]
        if handlers:
            yield f'handlers of logger "{logger.name}"', handlers
        if logger.filters:
            yield f'filters of logger "{logger.name}"', [*logger.filters]
        if logger.disabled:
            yield f'disabled of logger "{logger.name}"', True
        if not logger.propagate:
            yield f'propagate of logger "{logger.name}"', False


def _is_idle(handler: logging.Handler) -> bool:
    """Return whether a handler does nothing.

    Libraries give one to each logger that they make, as Python's manual says.
    """
    return isinstance(handler, logging.NullHandler)


def _threads() -> Iterator[threading.Thread]:
    """Yield the threads that somebody has started and must end."""
    for thread in threading.enumerate():
        # A dummy stands for a green thread that asked for its own name.
        # Its class is not threading's: eventlet has a copy of the module.
        if type(thread).__name__ == '_DummyThread':
            continue
        if not any(is_member(thread) for is_member in service_pools):
            yield thread


class TestCase(unittest.TestCase):
    """A class of tests that leaves this process as it was."""

    #: The state before ``setUpClass`` of this very class.
    state_before_class: State

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.state_before_class = current()
        # The first class cleanup is the last one, behind tearDownClass().
        cls.addClassCleanup(cls._compare_class)

    @classmethod
    def _compare_class(cls) -> None:
        lines = differences(cls.state_before_class)
        if lines:
            raise AssertionError(_message(f'The class {cls.__name__}', lines))

    def run(self, result: Any = None) -> Any:
        """Run the test; its last cleanup compares."""
        self.addCleanup(self._compare_test, current())
        return super().run(result)

    def _compare_test(self, before: State) -> None:
        case = type(self)
        if 'state_before_class' not in vars(case):
            self.fail('setUpClass() does not call super().setUpClass()')
        lines = differences(before)
        if lines:
            # The class is not blamed for this test.
            case.state_before_class = current()
            self.fail(_message('The test', lines))


def check_base(case: type[unittest.TestCase]) -> None:
    """Refuse a class of tests that leaves behind what it likes.

    :raises TypeError: if the class does not derive from :class:`TestCase`.
    """
    # The loader has a class of its own for a module that it cannot import.
    is_failure = case.__module__ == unittest.loader.__name__
    if not is_failure and not issubclass(case, TestCase):
        raise TypeError(
            f'{case.__module__}.{case.__qualname__} does not compare what it '
            'leaves behind: derive it from unittest.TestCase'
        )


def _message(name: str, lines: list[str]) -> str:
    """Return what is said of a test or a class that leaves something."""
    return '\n  '.join([f'{name} leaves this process changed:', *lines])
