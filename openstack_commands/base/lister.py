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

#: The shell's verbosity with -v. Without -v, the shell shows only warnings and
#: errors.
_VERBOSE: Final = 2
#: The columns and the rows that a command returns.
Table = tuple[Sequence[str], Iterable[Sequence[Any]]]

#: The exit codes of a command. FINE: the command has found no problem.
FINE: Final = 0
#: The command has found no problem, but could not check everything. A command
#: that fails also exits with this code.
UNJUDGED: Final = 1
#: The command has found a problem.
FOUND: Final = 2
#: The formats that escape control characters themselves. A program that reads
#: such a format gets the original text.
_ESCAPING: Final = ('json', 'yaml')

_T = TypeVar('_T')


class _Printable(columns.FormattableColumn):  # type: ignore[misc]
    """A cell that shows no control characters except its own line breaks.

    :param column: the cell to show; cliff sorts rows by this cell.
    """

    def human_readable(self) -> str:
        """Return the text of the cell."""
        lines = self._value.human_readable().split('\n')
        return '\n'.join(printable(line) for line in lines)

    def machine_readable(self) -> Any:
        """Return the value of the cell."""
        value = self._value.machine_readable()
        # If the value is not a string, text formats show its repr(), which
        # escapes control characters.
        return printable(value) if isinstance(value, str) else value


class Lister(command.Lister):  # type: ignore[misc]
    """A command that prints a table. A subclass may work without a cloud."""

    # The shell reads this attribute before it parses the command line. But the
    # command line decides whether a cloud is needed; see log_in().
    auth_required = False

    #: The exceptions for wrong input, whose texts say what is wrong.
    INPUT_ERRORS: ClassVar[tuple[type[Exception], ...]] = ()

    #: The columns that the format "table" shows without the option "-c"; empty
    #: for all columns. All other formats show all columns.
    table_columns: Sequence[str] = ()
    #: The sentences below a table. An indented sentence stays in one line.
    remarks: list[str]
    #: The exit code if the command does not fail.
    status = FINE

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        # If the command line is wrong, argparse would exit with 2, which is
        # the exit code FOUND here.
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
        # prepare_to_run_command() logs in only if this attribute is true.
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
        """Print the result.

        A table is at most as wide as the terminal. The remarks are printed
        below a table, but not with other formats.
        """
        if parsed_args.formatter not in _ESCAPING:
            data = printable_rows(data)
        if parsed_args.formatter != 'table':
            return int(super().produce_output(parsed_args, column_names, data))
        parsed_args.columns = parsed_args.columns or [*self.table_columns]
        if not (parsed_args.max_width or parsed_args.fit_width):
            # cliff limits the width only if standard output is a terminal.
            parsed_args.max_width = shutil.get_terminal_size().columns
        super().produce_output(parsed_args, column_names, data)
        self.print_remarks()
        return 0

    def print_remarks(self) -> None:
        """Print the remarks below a table."""
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
    """Add an option that can be repeated; its values are a list."""
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
    """Raise a CommandError for a wrong command line."""
    raise exceptions.CommandError(f'{message}; see --help')


@contextlib.contextmanager
def telling_in_one_line(*input_errors: type[Exception]) -> Iterator[None]:
    """Convert exceptions of keystoneauth and the SDK to one line of text.

    :param input_errors: further exceptions to convert.
    :raises CommandError: in place of these exceptions.
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
