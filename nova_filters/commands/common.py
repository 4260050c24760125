# SPDX-License-Identifier: Apache-2.0

"""What the commands on the filter share: where their input comes from."""

import argparse
from collections.abc import Iterable
from typing import Final

from osc_lib import exceptions

from nova_filters import conf
from nova_filters.advice import inventory
from nova_filters.commands import compute, files
from nova_filters.matching.inputs import Exempt
from os_placement_plugins.commands import lister
from os_placement_plugins.commands.files import read_configuration

#: The files that the commands read, and what printed each.
_FILES = {
    'flavors': 'output of "flavor list --all --long" or "flavor show"',
    'aggregates': 'output of "aggregate list --long" or "aggregate show"',
    'hosts': 'output of "compute service list"; adds hosts that are in no '
    'aggregate, and the state of all hosts',
    'servers': 'output of "server show" with microversion 2.47 or newer',
}

#: What stands below a table.
OTHERS: Final = (
    'Only AggregateInstanceTypeFilter is judged. Placement and the other '
    'filters of Nova may refuse hosts that pass here.'
)
NO_HOSTS: Final = (
    'No --hosts: hosts in no aggregate are left out, and hosts may be '
    'disabled or down.'
)


def check_hosts(hosts: inventory.Hosts, names: Iterable[str]) -> None:
    """Refuse a host that is not there."""
    for name in names:
        if name not in hosts:
            raise exceptions.CommandError(
                f'No compute host has the name {name!r}'
            )


class FilterCommand(lister.Lister):
    """A command that reads flavors and aggregates, from files or a cloud."""

    INPUT_ERRORS = (inventory.UnreadableError,)

    #: Whether the command looks at servers.
    reads_servers = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        source = parser.add_argument_group(
            'offline input',
            'Files saved with "-f json" or "-f yaml", or responses from '
            "Nova's API. With these files, the command does not need a "
            'cloud. You can repeat each option.',
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
            help='pattern of keys that no aggregate demands; replaces the '
            'default of the option exempt_metadata_keys; can be repeated',
        )
        exempt.add_argument(
            '--config-file',
            metavar='<file>',
            help='nova.conf that sets exempt_metadata_keys',
        )

    def exempt(self, parsed_args: argparse.Namespace) -> Exempt:
        """Return the patterns of keys that no aggregate may demand."""
        if parsed_args.config_file:
            config = read_configuration(
                parsed_args.config_file, [(conf.GROUP, conf.OPTS)]
            )
            return tuple(config.nova_filters.exempt_metadata_keys)
        if parsed_args.exempt is not None:
            return tuple(parsed_args.exempt)
        return tuple(conf.DEFAULTS['exempt_metadata_keys'])

    def source(
        self, parsed_args: argparse.Namespace
    ) -> compute.Cloud | files.Saved:
        """Return the files that are named, or else the cloud, logged in to."""
        paths = {noun: getattr(parsed_args, noun, []) for noun in _FILES}
        if any(paths.values()):
            return files.Saved(paths)
        return compute.Cloud(self.log_in())
