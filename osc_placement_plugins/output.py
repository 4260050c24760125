# SPDX-License-Identifier: Apache-2.0

"""The base of the commands: what they print, and what they exit with."""

import argparse
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

from cliff.columns import FormattableColumn
from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions
from osc_lib.command import command

from os_placement_plugins.errors import one_line
from os_placement_plugins.text import listed, printable

# The exit codes; a command that fails also exits with UNJUDGED.
FINE: Final = 0
UNJUDGED: Final = 1
PROBLEM: Final = 2

#: What a cloud raises if it gives no answer.
CLOUD_ERRORS: Final = (
    auth_exceptions.ClientException,
    sdk_exceptions.SDKException,
)
#: The arguments of an option that can be repeated.
REPEATABLE: Final[Mapping[str, Any]] = {'action': 'append', 'default': []}
#: The formats that escape control characters themselves.
_ESCAPED: Final = ('json', 'yaml')


class Answer(NamedTuple):
    """What a command says.

    :param summary: the sentences above the table.
    :param notes: the sentences below the table.
    :param is_partial: whether the command could not check everything.
    """

    summary: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str]
    has_problem: bool = False
    is_partial: bool = False


class NamesColumn(FormattableColumn):  # type: ignore[misc]
    """All names for programs, and the first names for people."""

    def human_readable(self) -> str:
        return printable(listed(self._value))

    def __lt__(self, other: object) -> bool:
        # The shell sorts rows by this, and the names may be no texts.
        return str(self) < str(other)


class Lister(command.Lister):  # type: ignore[misc]
    """A command that prints sentences and a table."""

    # The shell reads this attribute before it parses the command line. But the
    # command line decides whether a cloud is needed; see log_in().
    auth_required = False

    answer: Answer

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        # If the command line is wrong, argparse would exit with 2, which is
        # the exit code PROBLEM here.
        parser.error = _refuse  # type: ignore[method-assign]
        self.add_arguments(parser)
        return parser

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        raise NotImplementedError

    def find_answer(self, parsed_args: argparse.Namespace) -> Answer:
        raise NotImplementedError

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        self.answer = self.find_answer(parsed_args)
        return self.answer.columns, self.answer.rows

    def log_in(self) -> Any:
        """Log in, and return the SDK's connection."""
        # prepare_to_run_command() logs in only if this attribute is true.
        self.auth_required = True
        self.app.prepare_to_run_command(self)
        return self.app.client_manager.sdk_connection

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; show an error in one line.

        :raises CommandError: if the input is wrong, or a cloud or a file
            gives no answer.
        """
        try:
            self._run(parsed_args)
        # A ValueError says what is wrong with the input.
        except (*CLOUD_ERRORS, ValueError) as exc:
            raise exceptions.CommandError(one_line(exc)) from exc
        except exceptions.CommandError as exc:
            raise exceptions.CommandError(printable(str(exc))) from exc
        if self.answer.has_problem:
            return PROBLEM
        if self.answer.is_partial:
            return UNJUDGED
        return FINE

    def _run(self, parsed_args: argparse.Namespace) -> None:
        if self.app.stdout is None:
            raise exceptions.CommandError('The standard output is closed')
        for stream in self.app.stdout, self.app.stderr:
            if hasattr(stream, 'reconfigure'):
                # The terminal may not have each character of a name.
                stream.reconfigure(errors='backslashreplace')
        super().run(parsed_args)

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        data: Any,
    ) -> int:
        """Print the answer.

        In other formats than a table, the standard output has the rows alone,
        and the standard error has one sentence in each line.
        """
        if parsed_args.formatter == 'table':
            self._print_sentences(self.answer.summary)
            if self.answer.rows:
                self.print_rows(parsed_args)
            self._print_sentences(self.answer.notes)
            return 0
        self.print_rows(parsed_args)
        # If it is closed, print() would use the standard output.
        if self.app.stderr is not None:
            for sentence in [*self.answer.summary, *self.answer.notes]:
                print(printable(sentence), file=self.app.stderr)
        return 0

    def _print_sentences(self, sentences: Sequence[str]) -> None:
        for sentence in sentences:
            text = ' '.join(sentence.split())
            print(fill(text), file=self.app.stdout)

    def print_rows(self, parsed_args: argparse.Namespace) -> None:
        """Print the rows; a table is at most as wide as the terminal."""
        if not parsed_args.fit_width and not parsed_args.max_width:
            # cliff limits the width only if standard output is a terminal.
            parsed_args.max_width = shutil.get_terminal_size().columns
        rows = []
        for row in self.answer.rows:
            cells = []
            for cell in row:
                is_text = isinstance(cell, str)
                if is_text and parsed_args.formatter not in _ESCAPED:
                    cell = printable(cell)
                cells.append(cell)
            rows.append(cells)
        super().produce_output(parsed_args, self.answer.columns, rows)


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


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 flavor" or "2 flavors"."""
    if number == 1:
        return f'1 {noun}'
    return f'{number} {noun}s'


def _refuse(message: str) -> NoReturn:
    raise exceptions.CommandError(f'{message}; see --help')
