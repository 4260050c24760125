# SPDX-License-Identifier: Apache-2.0

"""Inventories that tests write in a few words."""

from collections.abc import Iterable, Mapping

from nova_filters.matching import inputs
from osc_placement_plugins.inventory import Inventory
from osc_placement_plugins.source.records import ComputeHost, HostAggregate


def make_inventory(
    aggregates: Iterable[tuple[Mapping[str, str], str]],
    states: Mapping[str, str] | None,
    exempt: inputs.Exempt = (),
) -> Inventory:
    """Return an inventory.

    :param aggregates: the metadata and the hosts of a0, a1, …
    :param states: of all hosts; None if there is no list of hosts.
    """
    services = None
    if states is not None:
        services = [
            ComputeHost(name, state=state) for name, state in states.items()
        ]
    return Inventory(
        [
            HostAggregate(f'a{number}', metadata, tuple(names.split()))
            for number, (metadata, names) in enumerate(aggregates)
        ],
        exempt,
        services,
    )
