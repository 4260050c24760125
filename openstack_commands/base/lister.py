# SPDX-License-Identifier: Apache-2.0

"""The base of commands that print a table."""

import argparse
import contextlib
import logging
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final, NoReturn, TypeVar

from cliff import columns
from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions
from osc_lib.command import command

from openstack_commands.base.progress import Progress
from os_placement_plugins.errors import one_line
from os_placement_plugins.quoting import printable

#: The level of -v; without it the shell shows warnings and errors.
_VERBOSE: Final = 2
#: The columns and the rows that a command returns.
Table = tuple[Sequence[str], Iterable[Sequence[Any]]]

#: The exit codes of a command that has an answer.
FINE: Final = 0
#: Something could not be judged, and nothing was found. A failure ends so.
UNJUDGED: Final = 1
#: What the command looks for was found.
FOUND: Final = 2
#: The formats that escape control characters themselves, so that a program
#: reads the text as it is.
_ESCAPING: Final = ('json', 'yaml')

_T = TypeVar('_T')


class _Printable(columns.FormattableColumn):  # type: ignore[misc]
    """A column that shows no control characters but its own line breaks.

    :param column: the column; rows are sorted by its value.
    """

    def human_readable(self) -> str:
        """Return the text of the column."""
        lines = self._value.human_readable().split('\n')
        return '\n'.join(printable(line) for line in lines)

    def machine_readable(self) -> Any:
        """Return the value of the column."""
        value = self._value.machine_readable()
        # Formats of text show the repr() of all else, which escapes.
        return printable(value) if isinstance(value, str) else value


class Lister(command.Lister):  # type: ignore[misc]
    """A command that prints a table, and may need no cloud."""

    # The shell asks this before it parses the command line. Only the command
    # line tells whether there is a cloud to ask.
    auth_required = False

    #: What the command raises when its input is wrong; the text says why.
    INPUT_ERRORS: ClassVar[tuple[type[Exception], ...]] = ()

    #: The columns of a table; the other formats have all. Empty stands for
    #: all. "-c" chooses others.
    table_columns: Sequence[str] = ()
    #: The sentences below a table; an indented one stays in one line.
    remarks: list[str]
    #: The exit code if there is an answer.
    status = FINE

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        # argparse would exit with 2, which stands for findings.
        parser.error = _refuse  # type: ignore[method-assign]
        self.add_arguments(parser)
        return parser

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.remarks = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""

    def log_in(self) -> Any:
        """Log in, as the shell does for commands that always need a cloud.

        :returns: the SDK's connection.
        """
        # The next call looks at it.
        self.auth_required = True
        options = self.app.options
        quiet = options.verbose_level < _VERBOSE and not options.debug
        with _one_message() if quiet else contextlib.nullcontext():
            self.app.prepare_to_run_command(self)
        return self.app.client_manager.sdk_connection

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        data: Iterable[Sequence[Any]],
    ) -> int:
        """Print the result; a table as wide as the terminal, with remarks."""
        if parsed_args.formatter not in _ESCAPING:
            data = printable_rows(data)
        if parsed_args.formatter != 'table':
            return int(super().produce_output(parsed_args, column_names, data))
        parsed_args.columns = parsed_args.columns or [*self.table_columns]
        if not (parsed_args.max_width or parsed_args.fit_width):
            # cliff itself fits tables on a terminal only.
            parsed_args.max_width = shutil.get_terminal_size().columns
        super().produce_output(parsed_args, column_names, data)
        self.print_remarks()
        return 0

    def print_remarks(self) -> None:
        """Print what stands below a table."""
        for remark in self.remarks:
            # An indented remark is a command to copy, so it stays in one line.
            if remark.startswith('  '):
                text = printable(remark)
            else:
                text = fill(' '.join(remark.split()))
            print(text, file=self.app.stdout)

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; show an error in one line.

        :raises CommandError: if the input is wrong, or a cloud or a file
            gives no answer.
        """
        with telling_in_one_line(*self.INPUT_ERRORS):
            return int(super().run(parsed_args) or self.status)


def printable_rows(data: Iterable[Sequence[Any]]) -> Iterator[list[Any]]:
    """Yield rows with escaped control characters."""
    for row in data:
        yield [_printable(cell) for cell in row]


def _printable(cell: Any) -> Any:
    """Return a cell without control characters."""
    if isinstance(cell, columns.FormattableColumn):
        return _Printable(cell)
    return printable(cell) if isinstance(cell, str) else cell


def add_repeatable(parser: Any, name: str, what: str, text: str) -> None:
    """Add an option that can be repeated, and gives a list."""
    parser.add_argument(
        name, metavar=what, action='append', default=[], help=text
    )


def fill(text: str, indent: str = '') -> str:
    """Return a text in lines as wide as the terminal; no word is broken."""
    return textwrap.fill(
        printable(text),
        width=shutil.get_terminal_size().columns,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def progress(items: Sequence[_T], what: str) -> Iterator[_T]:
    """Yield items; if this takes long, show the progress on a terminal."""
    far = Progress()
    for number, item in enumerate(items):
        far.tell(number, f'of {len(items)} {what}')
        yield item


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 flavor" or "2 flavors"."""
    return f'{number} {noun}{"" if number == 1 else "s"}'


def _refuse(message: str) -> NoReturn:
    """Refuse a command line."""
    raise exceptions.CommandError(f'{message}; see --help')


@contextlib.contextmanager
def telling_in_one_line(*input_errors: type[Exception]) -> Iterator[None]:
    """Convert the libraries' exceptions about a cloud into one line.

    :param input_errors: further exceptions to convert.
    :raises CommandError: in place of their exceptions.
    """
    try:
        yield
    except (
        auth_exceptions.ClientException,
        sdk_exceptions.SDKException,
        *input_errors,
    ) as exc:
        raise exceptions.CommandError(one_line(exc)) from exc
    except exceptions.CommandError as exc:
        raise exceptions.CommandError(printable(str(exc))) from exc


@contextlib.contextmanager
def _one_message() -> Iterator[None]:
    """Suppress warnings of keystoneauth that also appear in an exception."""
    log = logging.getLogger('keystoneauth.identity')
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
