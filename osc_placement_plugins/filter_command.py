# SPDX-License-Identifier: Apache-2.0

"""The base of the ``aggregate filter`` commands: what they read."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from osc_placement_plugins import output
from osc_placement_plugins.source import MICROVERSION, REQUESTS

if TYPE_CHECKING:
    from osc_placement_plugins.inventory import Inventory
    from osc_placement_plugins.source.cloud import Cloud
    from osc_placement_plugins.source.files import Files

#: The option of nova_filters that the commands need.
_EXEMPT: Final = 'exempt_metadata_keys'


class FilterCommand(output.Lister):
    """A command that reads aggregates and hosts, from files or a cloud."""

    #: What the command can read from files: keys of ``REQUESTS``.
    nouns: ClassVar[Sequence[str]] = ('flavors', 'aggregates', 'hosts')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            '--exempt-metadata-keys',
            metavar='<patterns>',
            help='value of exempt_metadata_keys in nova.conf; default: the '
            'default of this option',
        )
        source = parser.add_argument_group(
            'offline input',
            f"Answers of Nova's API in microversion {MICROVERSION} or later, "
            'as JSON. With these files, the command does not need a cloud. '
            '--hosts adds hosts that are in no aggregate, and the state of '
            'all hosts. If an answer has several pages, repeat the option for '
            'each page.',
        )
        for noun in self.nouns:
            source.add_argument(
                f'--{noun}',
                metavar='<file>',
                help=f'answer to GET {REQUESTS[noun]}',
                **output.REPEATABLE,
            )

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

        exempt = conf.DEFAULTS[_EXEMPT]
        if parsed_args.exempt_metadata_keys is not None:
            option = next(opt for opt in conf.OPTS if opt.name == _EXEMPT)
            exempt = option.type(parsed_args.exempt_metadata_keys)
        return Inventory(
            aggregates=source.read('aggregates'),
            exempt=tuple(exempt),
            services=source.read('hosts'),
        )
