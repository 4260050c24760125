# SPDX-License-Identifier: Apache-2.0

"""No log line of the packages shows a password of an exception.

``python -m tests.unit.test_log_lines`` lists the calls.
"""

import ast
import dataclasses
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
LEVELS = {'critical', 'debug', 'error', 'exception', 'info', 'warning'}
#: What an exception's text may go through on its way into a line.
SAFE = ('one_line', 'type')
PASSWORD = 's3cret'
URL = f'https://admin:{PASSWORD}@inventory/'


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of a method of ``LOG``."""

    module: str
    line: int
    level: str
    #: The text of the line, without its arguments.
    text: str
    #: Whether the call stands in an except block.
    handling: bool
    with_traceback: bool
    #: Whether it shows the text of the exception as it is.
    shows_exception: bool

    def __str__(self) -> str:
        place = 'in an except block' if self.handling else ''
        return f'{self.module}:{self.line} {self.level} {place}'.rstrip()


class _Calls(ast.NodeVisitor):
    def __init__(self, module: str) -> None:
        self.found: list[Call] = []
        self.loggers: list[str] = []
        self._module = module
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
        function = node.func
        if not isinstance(function, ast.Attribute):
            return
        if ast.unparse(function.value) != 'LOG':
            return
        if function.attr not in LEVELS:
            return
        keywords = {keyword.arg for keyword in node.keywords}
        names = {handler.name for handler in self._handlers}
        arguments = [_shown(argument, names) for argument in node.args]
        self.found.append(
            Call(
                module=self._module,
                line=node.lineno,
                level=function.attr,
                text=ast.unparse(node.args[0]),
                handling=bool(self._handlers),
                with_traceback=(
                    function.attr == 'exception' or 'exc_info' in keywords
                ),
                shows_exception=any(arguments),
            )
        )


def _shown(node: ast.AST, names: set[str | None]) -> bool:
    """Tell whether an expression shows one of the exceptions as it is."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in SAFE:
        return False
    if isinstance(node, ast.Name):
        return node.id in names
    return any(_shown(child, names) for child in ast.iter_child_nodes(node))


def read_calls() -> tuple[list[Call], dict[str, list[str]]]:
    """Return all calls, and what ``LOG`` is in each module that has it."""
    calls = []
    loggers = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob('*.py')):
            visitor = _Calls('.'.join(path.relative_to(ROOT).parts)[:-3])
            visitor.visit(ast.parse(path.read_text()))
            calls += visitor.found
            if visitor.loggers:
                loggers[visitor._module] = visitor.loggers
    return calls, loggers


CALLS, LOGGERS = read_calls()


class InventoryError(Exception):
    pass


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


@ddt.ddt
class LogLinesTest(unittest.TestCase):
    def setUp(self):
        self.handler = Lines()

    def log(self, call, raise_error, **options):
        """Return a line that is logged while an exception is handled."""
        log = logger.get_logger(call.module)
        log.logger.addHandler(self.handler)
        self.addCleanup(log.logger.removeHandler, self.handler)
        log.logger.setLevel(logging.DEBUG)
        self.addCleanup(log.logger.setLevel, logging.NOTSET)
        # Keep the lines out of the output of the tests.
        log.logger.propagate = False
        self.addCleanup(setattr, log.logger, 'propagate', True)
        try:
            raise_error()
        except Exception:
            getattr(log, call.level)('%s', call.text, **options)
        return self.handler.lines.pop()

    def test_each_module_has_a_logger_that_hides_passwords(self):
        self.assertEqual(
            dict.fromkeys(LOGGERS, ['logger.get_logger(__name__)']), LOGGERS
        )
        self.assertEqual(set(LOGGERS), {call.module for call in CALLS})

    def test_no_call_shows_the_text_of_an_exception_as_it_is(self):
        shown = [str(call) for call in CALLS if call.shows_exception]
        self.assertEqual([], shown)

    @ddt.data(*RAISING)
    def test_the_exception_is_not_appended_to_a_line(self, raise_error):
        for call in CALLS:
            if call.with_traceback:
                continue
            line = self.log(call, raise_error)
            self.assertIn(call.text, line.splitlines()[0])
            self.assertNotIn(PASSWORD, line)
            self.assertNotIn('Error: ', line.replace(call.text, ''))

    @ddt.data(*RAISING)
    def test_a_traceback_shows_no_password(self, raise_error):
        for call in CALLS:
            # A call may get a traceback tomorrow.
            line = self.log(call, raise_error, exc_info=True)
            self.assertIn(f'in {raise_error.__name__}', line)
            self.assertNotIn(PASSWORD, line)
            self.assertRegex(line, r'Error: .*(\*\*\*|ArgumentError)')

    def test_a_line_comes_from_its_caller(self):
        call = dataclasses.replace(CALLS[0], level='debug')
        line = self.log(call, raise_plain)
        self.assertRegex(line, rf' log {re.escape(__file__)}:\d+$')


if __name__ == '__main__':
    for call in CALLS:
        print(call)
    handling = [call for call in CALLS if call.handling]
    print(f'{len(CALLS)} calls, {len(handling)} in an except block')
