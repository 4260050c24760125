# SPDX-License-Identifier: Apache-2.0

"""The files that an operator saved with the ``openstack`` command."""

from collections.abc import Mapping, Sequence

from osc_lib import exceptions

from nova_filters.advice import inventory, rows
from os_placement_plugins.commands.files import read


class Saved:
    """Flavors, aggregates, hosts and servers, as files have them.

    Each method raises ``CommandError`` if its files cannot be used.

    :param paths: the files with ``flavors``, ``aggregates``, ``hosts`` and
        ``servers``.
    """

    def __init__(self, paths: Mapping[str, Sequence[str]]) -> None:
        self._paths = paths

    def flavors(self) -> list[inventory.Flavor]:
        """Return the flavors."""
        return read(self._needed('flavors'), rows.read_flavors)

    def aggregates(self) -> list[inventory.HostAggregate]:
        """Return the host aggregates."""
        return read(self._needed('aggregates'), rows.read_aggregates)

    def hosts(self) -> list[inventory.Host] | None:
        """Return all hosts; None if no file has them."""
        paths = self._paths['hosts']
        return read(paths, rows.read_hosts) if paths else None

    def servers(self) -> list[inventory.Server] | None:
        """Return the servers; None if no file has them."""
        paths = self._paths['servers']
        return read(paths, rows.read_servers) if paths else None

    def servers_named(self, names: Sequence[str]) -> list[inventory.Server]:
        """Return the servers with these names or IDs; without one, all."""
        if not names:
            return self.servers() or []
        found = read(self._needed('servers'), rows.read_servers)
        return inventory.select(found, names, 'server')

    def _needed(self, noun: str) -> Sequence[str]:
        """Return files without which the command cannot answer."""
        if not self._paths[noun]:
            raise exceptions.CommandError(
                f'Offline input takes --{noun} <file> too'
            )
        return self._paths[noun]
