# SPDX-License-Identifier: Apache-2.0

"""The base of the ``aggregate filter`` commands: what they read."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from osc_placement_plugins import output

if TYPE_CHECKING:
    from osc_placement_plugins.inventory import Inventory
    from osc_placement_plugins.source.cloud import Cloud
    from osc_placement_plugins.source.files import Files

#: For each option that names a file: what the file contains, as help text.
_FILES: Final = {
    'flavors': 'output of "flavor list --all --long"',
    'aggregates': 'output of "aggregate list --long"',
    'hosts': 'output of "compute service list --long"; adds hosts that are '
    'in no aggregate, and the state of all hosts',
    'servers': 'output of "server show" with microversion 2.47 or newer',
}


class FilterCommand(output.Lister):
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
            output.add_repeatable(source, f'--{noun}', '<file>', _FILES[noun])

    def find_source(self, parsed_args: argparse.Namespace) -> 'Cloud | Files':
        """Return the files; without files, log in to a cloud."""
        from osc_placement_plugins.source import cloud, files

        paths = {noun: getattr(parsed_args, noun) for noun in self.nouns}
        if any(paths.values()):
            return files.Files(paths)
        return cloud.Cloud(self.log_in())

    def read_inventory(
        self, source: 'Cloud | Files', parsed_args: argparse.Namespace
    ) -> 'Inventory':
        """Return the aggregates and hosts."""
        from nova_filters import conf
        from osc_placement_plugins.inventory import Inventory
        from osc_placement_plugins.source import files

        exempt = conf.DEFAULTS['exempt_metadata_keys']
        if parsed_args.config_file:
            exempt = files.read_exempt_keys(parsed_args.config_file)
        return Inventory(
            aggregates=source.read('aggregates'),
            exempt=tuple(exempt),
            services=source.read('hosts'),
        )
