# SPDX-License-Identifier: Apache-2.0

"""The base of commands that print a table."""

import argparse
import contextlib
import logging
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions
from osc_lib.command import command

from os_placement_plugins.errors import one_line

#: The level of -v; without it the shell shows warnings and errors.
_VERBOSE: Final = 2


class Lister(command.Lister):  # type: ignore[misc]
    """A command that prints a table, and may need no cloud."""

    # The shell asks this before it parses the command line. Only the command
    # line tells whether there is a cloud to ask.
    auth_required = False

    #: What the command raises when its input is wrong; the text says why.
    INPUT_ERRORS: ClassVar[tuple[type[Exception], ...]] = ()

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser.

        :param prog_name: the words of the command.
        :returns: the parser.
        """
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        self.add_arguments(parser)
        return parser

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command.

        :param parser: what cliff has made for the command.
        """

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

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; whatever is wrong is told in one line.

        :param parsed_args: the command line.
        :returns: the exit code.
        :raises CommandError: if the input is wrong, or a cloud or a file
            gives no answer.
        """
        with telling_in_one_line(*self.INPUT_ERRORS):
            return int(super().run(parsed_args))


@contextlib.contextmanager
def telling_in_one_line(*others: type[Exception]) -> Iterator[None]:
    """Turn what the libraries raise about a cloud into one line.

    :param others: further exceptions to turn into one.
    :raises CommandError: in place of their exceptions.
    """
    try:
        yield
    except (
        auth_exceptions.ClientException,
        sdk_exceptions.SDKException,
        *others,
    ) as exc:
        raise exceptions.CommandError(one_line(exc)) from exc


@contextlib.contextmanager
def _one_message() -> Iterator[None]:
    """Keep keystoneauth from warning of what it raises a moment later."""
    log = logging.getLogger('keystoneauth.identity')
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
