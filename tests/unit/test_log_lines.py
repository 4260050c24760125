# SPDX-License-Identifier: Apache-2.0

"""No log line of the packages shows a password of an exception."""

import ast
import logging
import pathlib
import re
import unittest

import ddt
from oslo_config import cfg
from oslo_log import formatters
from oslo_log import log as oslo_logging

from os_placement_plugins import logger

ROOT = pathlib.Path(__file__).parents[2]
PACKAGES = (
    'heat_hints',
    'nova_filters',
    'os_placement_plugins',
    'osc_placement_plugins',
    'senlin_plugins',
)
LEVELS = ('critical', 'debug', 'error', 'info', 'warning')
#: What an exception's text may go through on its way into a line.
SAFE = ('named_line', 'one_line', 'type')
PASSWORD = 's3cret'
URL = f'https://admin:{PASSWORD}@inventory/'


class Calls(ast.NodeVisitor):
    """Find the calls of ``LOG`` in a module."""

    def __init__(self) -> None:
        #: What ``LOG`` is.
        self.loggers: list[str] = []
        self.calls: list[str] = []
        #: The calls that show the text of an exception as it is.
        self.unsafe: list[str] = []
        self._handlers: list[ast.ExceptHandler] = []

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._handlers.append(node)
        self.generic_visit(node)
        self._handlers.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        if ast.unparse(node.targets[0]) == 'LOG':
            self.loggers.append(ast.unparse(node.value))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if not ast.unparse(node.func).startswith('LOG.'):
            return
        call = ast.unparse(node)
        self.calls.append(call)
        names = {handler.name for handler in self._handlers}
        if any(shows(argument, names) for argument in node.args):
            self.unsafe.append(call)


def shows(node: ast.AST, names: set[str | None]) -> bool:
    """Tell whether an expression shows one of the exceptions as it is."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in SAFE:
        return False
    if isinstance(node, ast.Name):
        return node.id in names
    return any(shows(child, names) for child in ast.iter_child_nodes(node))


class InventoryError(Exception):
    pass


class NoTextError(Exception):
    def __str__(self):
        raise self

    def __bool__(self):
        raise self


class ArgumentError(Exception):
    """As SQLAlchemy's error, which is not installed here."""

    __module__ = 'sqlalchemy.exc'


def raise_plain():
    raise InventoryError(URL)


def raise_chained():
    try:
        raise_plain()
    except InventoryError as exc:
        raise RuntimeError(f'no rack at {URL}') from exc


def raise_in_handler():
    try:
        raise_plain()
    except InventoryError:
        raise OSError(URL) from None


def raise_of_database():
    text = f"Could not parse SQLAlchemy URL from string '{PASSWORD}@db'"
    raise ArgumentError(text)


def raise_without_text():
    raise NoTextError(URL)


RAISING = (raise_plain, raise_chained, raise_in_handler, raise_of_database)


class Lines(logging.Handler):
    """The lines as a service writes them into its log."""

    def __init__(self) -> None:
        super().__init__()
        conf = cfg.ConfigOpts()
        oslo_logging.register_options(conf)
        conf([])
        self.setFormatter(formatters.ContextFormatter(config=conf))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class CallsTest(unittest.TestCase):
    def test_each_call_hides_passwords(self):
        for package in PACKAGES:
            for path in sorted((ROOT / package).rglob('*.py')):
                found = Calls()
                found.visit(ast.parse(path.read_text()))
                self.assertEqual([], found.unsafe, path)
                if found.loggers or found.calls:
                    made = ['logger.get_logger(__name__)']
                    self.assertEqual(made, found.loggers, path)


@ddt.ddt
class LoggerTest(unittest.TestCase):
    def setUp(self):
        self.handler = Lines()
        self.logger = logger.get_logger(__name__)
        self.logger.logger.addHandler(self.handler)
        self.addCleanup(self.logger.logger.removeHandler, self.handler)
        self.logger.logger.setLevel(logging.DEBUG)
        # Keep the lines out of the output of the tests.
        self.logger.logger.propagate = False

    def log(self, level, raise_error, **options):
        """Return a line that is logged while an exception is handled."""
        try:
            raise_error()
        except Exception:
            getattr(self.logger, level)('a text', **options)
        return self.handler.lines.pop()

    @ddt.data(*RAISING)
    def test_the_exception_is_not_appended_to_a_line(self, raise_error):
        for level in LEVELS:
            line = self.log(level, raise_error)
            self.assertIn('a text', line.splitlines()[0])
            self.assertNotIn(PASSWORD, line)
            self.assertNotIn('Error: ', line)

    @ddt.data(*RAISING)
    def test_a_traceback_shows_no_password(self, raise_error):
        for level in (*LEVELS, 'exception'):
            line = self.log(level, raise_error, exc_info=True)
            self.assertIn(f'in {raise_error.__name__}', line)
            self.assertNotIn(PASSWORD, line)
            self.assertRegex(line, r'Error: .*\*\*\*|ArgumentError\n')

    def test_an_exception_without_a_text_loses_no_line(self):
        line = self.log('exception', raise_without_text)
        self.assertIn('a text', line.splitlines()[0])
        self.assertIn('in raise_without_text', line)
        self.assertRegex(line, r'\.NoTextError\n')

    def test_a_line_that_asks_for_an_exception_needs_none(self):
        self.logger.exception('a text')
        (line,) = self.handler.lines
        self.assertIn('a text', line)

    def test_a_line_comes_from_its_caller(self):
        line = self.log('debug', raise_plain)
        self.assertRegex(line, rf' log {re.escape(__file__)}:\d+$')
