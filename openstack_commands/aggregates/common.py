# SPDX-License-Identifier: Apache-2.0

"""The base class of the commands about AggregateInstanceTypeFilter.

The commands read flavors, aggregates, hosts and servers from files or a cloud.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

from cliff import columns
from osc_lib import exceptions
from oslo_config import cfg

from nova_filters import conf
from nova_filters.matching.inputs import Exempt
from openstack_commands.aggregates import compute
from openstack_commands.aggregates.advice import inventory, nova_records
from openstack_commands.base import lister
from openstack_commands.base.files import read, read_configuration
from openstack_commands.records.rows import UnreadableError
from os_placement_plugins.quoting import listed, quote

#: For each option that names a file: what the file contains, as help text.
_FILES = {
    'flavors': 'output of "flavor list --all --long"',
    'aggregates': 'output of "aggregate list --long"',
    'hosts': 'output of "compute service list"; adds hosts that are in no '
    'aggregate, and the state of all hosts',
    'servers': 'output of "server show" with microversion 2.47 or newer',
}

#: The options of nova.conf that the commands read, with Nova's defaults.
_OF_NOVA: Final = (
    (
        cfg.OptGroup('scheduler'),
        [cfg.IntOpt('max_placement_results', default=1000, min=1)],
    ),
)

#: Remarks below a table.
OTHERS: Final = (
    'Only AggregateInstanceTypeFilter is judged. Placement and the other '
    'filters of Nova may refuse hosts that pass here.'
)
NO_HOSTS: Final = (
    'No --hosts: hosts in no aggregate are left out, and hosts may be '
    'disabled or down.'
)


class Names(columns.FormattableColumn):  # type: ignore[misc]
    """A cell with names.

    A table shows only the first names. Other formats have all names.
    """

    def human_readable(self) -> str:
        """Return the first names, and the number of the others."""
        return listed(self.machine_readable()).replace(', ', ',\n')

    def machine_readable(self) -> list[str]:
        """Return the names, each once."""
        return [*dict.fromkeys(self._value)]


def check_hosts(hosts: inventory.Hosts, names: Iterable[str]) -> None:
    """Raise an error if a name is not the name of a host."""
    for name in names:
        if name not in hosts:
            raise exceptions.CommandError(
                f'No compute host has the name {name!r}'
            )


class Saved:
    """Flavors, aggregates, hosts and servers from files.

    A method raises ``CommandError`` if its files are missing or unusable.

    :param paths: for each of ``flavors``, ``aggregates``, ``hosts`` and
        ``servers``, the paths of the files.
    """

    def __init__(self, paths: Mapping[str, Sequence[str]]) -> None:
        self._paths = paths

    def flavors(self) -> list[inventory.Flavor]:
        """Return the flavors."""
        return read(self._needed('flavors'), nova_records.read_flavors)

    def aggregates(self) -> list[inventory.HostAggregate]:
        """Return the host aggregates."""
        return read(self._needed('aggregates'), nova_records.read_aggregates)

    def hosts(self) -> list[inventory.Host] | None:
        """Return all hosts; None without a file of hosts."""
        paths = self._paths['hosts']
        if not paths:
            return None
        return read(paths, nova_records.read_hosts)

    def servers(self) -> list[inventory.Server]:
        """Return the servers."""
        return read(self._needed('servers'), nova_records.read_servers)

    def servers_named(self, names: Sequence[str]) -> list[inventory.Server]:
        """Return the servers with these names or IDs."""
        if not names:
            return []
        return inventory.select(self.servers(), names, 'server')

    def _needed(self, noun: str) -> Sequence[str]:
        """Return the paths of files that the command needs.

        :raises CommandError: if the command line names no such file.
        """
        if not self._paths[noun]:
            raise exceptions.CommandError(
                f'Offline input takes --{noun} <file> too'
            )
        return self._paths[noun]


class FilterCommand(lister.Lister):
    """A command that reads aggregates and hosts, from files or a cloud."""

    INPUT_ERRORS = (UnreadableError,)

    #: What the command can read from files: keys of ``_FILES``.
    files: ClassVar[Sequence[str]] = ('flavors', 'aggregates', 'hosts')

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        self._add_files(parser)
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
            help='nova.conf with the options that the answer depends on: '
            'exempt_metadata_keys, and max_placement_results for lint',
        )

    def _add_files(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments that name files."""
        source = parser.add_argument_group(
            'offline input',
            'Files saved with "-f json", or responses from '
            "Nova's API. With these files, the command does not need a "
            'cloud. You can repeat each option.',
        )
        for noun in self.files:
            text = _FILES[noun]
            lister.add_repeatable(source, f'--{noun}', '<file>', text)

    def exempt(self, parsed_args: argparse.Namespace) -> Exempt:
        """Return the patterns of keys that no aggregate may demand."""
        if parsed_args.exempt is not None:
            return tuple(parsed_args.exempt)
        config = self.configuration(parsed_args)
        return tuple(config.nova_filters.exempt_metadata_keys)

    def configuration(self, parsed_args: argparse.Namespace) -> cfg.ConfigOpts:
        """Return the options of the named nova.conf, or the defaults."""
        path = parsed_args.config_file
        opts = [(conf.GROUP, conf.OPTS), *_OF_NOVA]
        return read_configuration(path, opts)

    def find(self, findings: object, unknown: object = False) -> None:
        """Set the exit code.

        :param findings: true if the command has found the problem that it
            looks for.
        :param unknown: true if something could not be judged.
        """
        if findings:
            self.status = lister.FOUND
        elif unknown:
            self.status = lister.UNJUDGED
        else:
            self.status = lister.FINE

    def stock(
        self,
        source: compute.Cloud | Saved,
        parsed_args: argparse.Namespace,
        flavors: Sequence[inventory.Flavor],
    ) -> inventory.Stock:
        """Return the flavors, aggregates and hosts.

        The method adds a remark if there is no list of hosts, or if aggregates
        name hosts that are not in the list.
        """
        stock = inventory.Stock(
            flavors,
            source.aggregates(),
            self.exempt(parsed_args),
            source.hosts(),
        )
        if stock.listed_hosts is None:
            self.remarks.append(NO_HOSTS)
        else:
            listed_names = [host.name for host in stock.listed_hosts]
            self._tell_strangers(stock.hosts, listed_names)
        return stock

    def _tell_strangers(
        self, hosts: Iterable[str], listed_names: Iterable[str]
    ) -> None:
        """Report hosts that aggregates name, but that have no service.

        :param hosts: the hosts of compute services and of aggregates.
        :param listed_names: the hosts of compute services.
        """
        folded = {name.lower(): quote(name) for name in listed_names}
        strange = []
        for name in sorted({*hosts}.difference(listed_names)):
            text = quote(name)
            similar = folded.get(name.lower())
            if similar:
                text += f" (a service's host is {similar})"
            strange.append(text)
        if strange:
            self.remarks.append(
                'Aggregates name hosts that no compute service has, so they '
                f'count as not up: {listed(strange)}.'
            )

    def source(self, parsed_args: argparse.Namespace) -> compute.Cloud | Saved:
        """Return the input from files; without files, log in to a cloud."""
        paths = {noun: getattr(parsed_args, noun) for noun in self.files}
        if any(paths.values()):
            return Saved(paths)
        return compute.Cloud(self.log_in())
