# SPDX-License-Identifier: Apache-2.0

"""What the commands judge together."""

from collections.abc import Sequence

from nova_filters.advice import inventory
from nova_filters.matching import inputs


def stock(
    flavors: Sequence[inventory.Flavor],
    aggregates: Sequence[inventory.HostAggregate],
    exempt: inputs.Exempt = (),
    others: Sequence[inventory.Host] | None = None,
) -> inventory.Stock:
    """Return what is judged together.

    :param others: all hosts; None if nobody knows.
    """
    hosts = inventory.hosts_of(aggregates, others)
    return inventory.Stock(flavors, aggregates, hosts, exempt)
