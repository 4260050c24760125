# SPDX-License-Identifier: Apache-2.0

"""The base of the commands: what they read, print and exit with."""

import argparse
import contextlib
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, NoReturn

from cliff import columns
from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions
from osc_lib.command import command

from os_placement_plugins.text import listed, printable

if TYPE_CHECKING:
    from osc_placement_plugins.cloud import Cloud
    from osc_placement_plugins.files import Saved
    from osc_placement_plugins.records import Inventory

#: The exit codes of a command. FINE: the command has found no problem.
FINE: Final = 0
#: The command has found no problem, but could not check everything. A command
#: that fails also exits with this code.
UNJUDGED: Final = 1
#: The command has found a problem.
FOUND: Final = 2

#: The formats that escape control characters themselves.
_ESCAPED: Final = ('json', 'yaml')

#: For each option that names a file: what the file contains, as help text.
_FILES: Final = {
    'flavors': 'output of "flavor list --all --long"',
    'aggregates': 'output of "aggregate list --long"',
    'hosts': 'output of "compute service list"; adds hosts that are in no '
    'aggregate, and the state of all hosts',
    'servers': 'output of "server show" with microversion 2.47 or newer',
}


class Cell(columns.FormattableColumn):  # type: ignore[misc]
    """A cell with a value for programs and a text for people."""

    def __init__(self, value: Any, text: str) -> None:
        super().__init__(value)
        self._text = text

    def human_readable(self) -> str:
        """Return the text."""
        return printable(self._text)


class Answer(NamedTuple):
    """What a command says.

    :param verdict: the sentences above the table; the first is the answer.
    :param columns: the names of the table's columns.
    :param rows: the table's rows.
    :param notes: the sentences below the table.
    :param status: the exit code.
    :param hidden: the columns that are left out of a table, unless the user
        chooses columns.
    """

    verdict: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str]
    status: int = FINE
    hidden: Sequence[str] = ()


class Lister(command.Lister):  # type: ignore[misc]
    """A command that says a verdict, and prints a table below it."""

    # The shell reads this attribute before it parses the command line. But the
    # command line decides whether a cloud is needed; see log_in().
    auth_required = False

    answer: Answer

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        # If the command line is wrong, argparse would exit with 2, which is
        # the exit code FOUND here.
        parser.error = _refuse  # type: ignore[method-assign]
        self.add_arguments(parser)
        return parser

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        raise NotImplementedError

    def find_answer(self, parsed_args: argparse.Namespace) -> Answer:
        """Return what the command says."""
        raise NotImplementedError

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Return the table."""
        self.answer = self.find_answer(parsed_args)
        return self.answer.columns, self.answer.rows

    def log_in(self) -> Any:
        """Log in, as the shell does for commands that always need a cloud.

        :returns: the SDK's connection.
        """
        # prepare_to_run_command() logs in only if this attribute is true.
        self.auth_required = True
        self.app.prepare_to_run_command(self)
        return self.app.client_manager.sdk_connection

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; show an error in one line.

        :raises CommandError: if the input is wrong, or a cloud or a file
            gives no answer.
        """
        with telling_in_one_line():
            if self.app.stdout is None:
                raise exceptions.CommandError('The standard output is closed')
            for stream in self.app.stdout, self.app.stderr:
                if hasattr(stream, 'reconfigure'):
                    # The terminal may not have each character of a name.
                    stream.reconfigure(errors='backslashreplace')
            super().run(parsed_args)
            return self.answer.status

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
            self._print_sentences(self.answer.verdict)
            if self.answer.rows:
                self.print_rows(parsed_args)
            self._print_sentences(self.answer.notes)
            return 0
        self.print_rows(parsed_args)
        # If it is closed, print() would use the standard output.
        if self.app.stderr is not None:
            for sentence in [*self.answer.verdict, *self.answer.notes]:
                print(printable(sentence), file=self.app.stderr)
        return 0

    def _print_sentences(self, sentences: Sequence[str]) -> None:
        for sentence in sentences:
            text = ' '.join(sentence.split())
            print(fill(text), file=self.app.stdout)

    def print_rows(self, parsed_args: argparse.Namespace) -> None:
        """Print the rows; a table is at most as wide as the terminal."""
        if parsed_args.formatter == 'table':
            if not parsed_args.columns:
                for column in self.answer.columns:
                    if column not in self.answer.hidden:
                        parsed_args.columns.append(column)
            if not parsed_args.fit_width and not parsed_args.max_width:
                # cliff limits the width only if standard output is a terminal.
                parsed_args.max_width = shutil.get_terminal_size().columns
        rows = []
        for row in self.answer.rows:
            cells = [*row]
            if parsed_args.formatter not in _ESCAPED:
                cells = [*map(_escape, row)]
            rows.append(cells)
        super().produce_output(parsed_args, self.answer.columns, rows)


class FilterCommand(Lister):
    """A command that reads aggregates and hosts, from files or a cloud."""

    #: What the command can read from files: keys of ``_FILES``.
    nouns: ClassVar[Sequence[str]] = ('flavors', 'aggregates', 'hosts')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            '--config-file',
            metavar='<file>',
            help='nova.conf with the option exempt_metadata_keys. Folders '
            'such as nova.conf.d are not read, so give the file that sets the '
            'option. Default: the default of the option',
        )
        source = parser.add_argument_group(
            'offline input',
            'Files saved with "-f json", or responses from '
            "Nova's API. With these files, the command does not need a "
            'cloud. You can repeat each option.',
        )
        for noun in self.nouns:
            add_repeatable(source, f'--{noun}', '<file>', _FILES[noun])

    def source(self, parsed_args: argparse.Namespace) -> 'Cloud | Saved':
        """Return the input from files; without files, log in to a cloud."""
        from osc_placement_plugins import cloud, files

        paths = {noun: getattr(parsed_args, noun) for noun in self.nouns}
        if any(paths.values()):
            return files.Saved(paths)
        return cloud.Cloud(self.log_in())

    def inventory(
        self, source: 'Cloud | Saved', parsed_args: argparse.Namespace
    ) -> 'Inventory':
        """Return the aggregates and hosts."""
        from nova_filters import conf
        from osc_placement_plugins import files, records

        config = files.read_configuration(
            parsed_args.config_file, [(conf.GROUP, conf.OPTS)]
        )
        return records.Inventory(
            aggregates=source.aggregates(),
            exempt=tuple(config.nova_filters.exempt_metadata_keys),
            services=source.hosts(),
        )


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


def exit_code(found: object, unjudged: object) -> int:
    """Return the exit code of a command.

    :param found: whether the command has found a problem.
    :param unjudged: whether the command could not check everything.
    """
    if found:
        return FOUND
    if unjudged:
        return UNJUDGED
    return FINE


def names_cell(names: Sequence[str]) -> Cell:
    """Return a cell with names."""
    return Cell([*names], listed(names))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 flavor" or "2 flavors"."""
    return f'{number} {noun}{"" if number == 1 else "s"}'


def _escape(cell: Any) -> Any:
    return printable(cell) if isinstance(cell, str) else cell


def _refuse(message: str) -> NoReturn:
    raise exceptions.CommandError(f'{message}; see --help')


@contextlib.contextmanager
def telling_in_one_line() -> Iterator[None]:
    """Convert errors of the input and of a cloud to one line of text.

    :raises CommandError: in place of these errors. A ``ValueError`` says what
        is wrong with the input.
    """
    try:
        yield
    except (
        auth_exceptions.ClientException,
        sdk_exceptions.SDKException,
        ValueError,
    ) as exc:
        from os_placement_plugins.text import one_line

        raise exceptions.CommandError(one_line(exc)) from exc
    except exceptions.CommandError as exc:
        raise exceptions.CommandError(printable(str(exc))) from exc
