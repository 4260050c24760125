# SPDX-License-Identifier: Apache-2.0

"""What the commands on the filter share: where their input comes from."""

import argparse
from typing import Any

from osc_lib import exceptions

from nova_filters import conf
from nova_filters.advice import inventory
from nova_filters.commands import compute, files
from os_placement_plugins.commands import lister

#: The files that the commands read, and what printed each.
_FILES = {
    'flavors': 'what "flavor list --all --long" or "flavor show" printed',
    'aggregates': 'what "aggregate list --long" or "aggregate show" printed',
    'hosts': 'what "compute service list" printed, for hosts that are in no '
    'aggregate',
    'servers': 'what "server show" printed, with API version 2.47 or later',
}


class FilterCommand(lister.Lister):
    """A command that reads flavors and aggregates, from files or a cloud."""

    #: Whether the command looks at servers.
    reads_servers = False

    _compute: Any = None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        source = parser.add_argument_group(
            'offline input',
            'Files saved with "-f json" or "-f yaml"; with them no cloud is '
            'asked. Each option can be repeated.',
        )
        for noun, text in _FILES.items():
            if noun != 'servers' or self.reads_servers:
                source.add_argument(
                    f'--{noun}',
                    metavar='<file>',
                    action='append',
                    default=[],
                    help=text,
                )
        exempt = parser.add_mutually_exclusive_group()
        exempt.add_argument(
            '--exempt',
            metavar='<pattern>',
            action='append',
            help='keys that no aggregate demands, in place of the default of '
            'the option exempt_metadata_keys; can be repeated',
        )
        exempt.add_argument(
            '--config-file',
            metavar='<file>',
            help='the nova.conf to read exempt_metadata_keys from',
        )

    def exempt(self, parsed_args: argparse.Namespace) -> tuple[str, ...]:
        """Return the patterns of keys that no aggregate may demand."""
        if parsed_args.config_file:
            return files.exempt_keys(parsed_args.config_file)
        if parsed_args.exempt is not None:
            return tuple(parsed_args.exempt)
        return tuple(conf.DEFAULTS['exempt_metadata_keys'])

    @classmethod
    def offline(cls, parsed_args: argparse.Namespace) -> bool:
        """Tell whether the input comes from files.

        :raises CommandError: when some of it would have to come from a cloud.
        """
        given = [*parsed_args.flavors, *parsed_args.hosts]
        if cls.reads_servers:
            given += parsed_args.servers
        if given and not parsed_args.aggregates:
            raise exceptions.CommandError(
                'Offline input takes --aggregates <file> too'
            )
        return bool(parsed_args.aggregates)

    @property
    def compute(self) -> Any:
        """Return the compute proxy of the cloud; log in with the first use."""
        if self._compute is None:
            self._compute = self.log_in().compute
            compute.negotiate(self._compute)
        return self._compute

    def flavors(
        self, parsed_args: argparse.Namespace
    ) -> list[inventory.Flavor]:
        """Return the flavors."""
        if not self.offline(parsed_args):
            return compute.flavors(self.compute)
        if not parsed_args.flavors:
            raise exceptions.CommandError(
                'Offline input takes --flavors <file> too'
            )
        return files.read(parsed_args.flavors, inventory.read_flavors)

    def aggregates(
        self, parsed_args: argparse.Namespace
    ) -> list[inventory.HostAggregate]:
        """Return the aggregates."""
        if not self.offline(parsed_args):
            return compute.aggregates(self.compute)
        return files.read(parsed_args.aggregates, inventory.read_aggregates)

    def other_hosts(self, parsed_args: argparse.Namespace) -> list[str]:
        """Return the compute hosts, be they in an aggregate or not."""
        if not self.offline(parsed_args):
            return compute.hosts(self.compute)
        return files.read(parsed_args.hosts, inventory.read_hosts)

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; whatever is wrong is told in one line.

        :param parsed_args: the command line.
        :returns: the exit code.
        :raises CommandError: when the input cannot be used.
        """
        try:
            return super().run(parsed_args)
        except inventory.UnreadableError as exc:
            raise exceptions.CommandError(str(exc)) from exc
