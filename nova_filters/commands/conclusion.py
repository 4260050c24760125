# SPDX-License-Identifier: Apache-2.0

"""What the table of ``openstack aggregate filter explain`` comes to."""

from collections.abc import Collection, Iterable, Sequence

from nova_filters.advice import explanation, inventory, opening, walk
from nova_filters.commands import compute
from os_placement_plugins.commands.lister import fill


def conclude(
    flavors: Collection[inventory.Flavor],
    copies: Collection[inventory.Flavor],
    found: Sequence[explanation.Explanation],
    aggregates: Sequence[inventory.HostAggregate],
    exempt: tuple[str, ...],
) -> list[str]:
    """Return one sentence for each flavor, and what would open a host for it.

    :param flavors: the flavors that were judged.
    :param copies: those of them that servers carry.
    :param found: all hosts for all flavors, as they are sorted.
    :param aggregates: all aggregates.
    :param exempt: patterns of keys that no aggregate may demand.
    """
    told = []
    for flavor in flavors:
        own = [entry for entry in found if entry.flavor is flavor]
        label = f'{flavor.name}: ' if len(flavors) > 1 else ''
        told.append(fill(label + explanation.sentence(own)))
        if not any(entry.open for entry in own):
            told += opening_of(own, aggregates, exempt, flavor in copies)
    return told


def opening_of(
    entries: Iterable[explanation.Explanation],
    aggregates: Sequence[inventory.HostAggregate],
    exempt: tuple[str, ...],
    of_server: bool = False,
) -> list[str]:
    """Return what would open the nearest host for a flavor.

    :param entries: the hosts, as they are sorted.
    :param aggregates: all aggregates.
    :param exempt: patterns of keys that no aggregate may demand.
    :param of_server: whether the flavor is a server's copy.
    """
    refused = [entry for entry in entries if not entry.passed]
    if not refused:
        return []
    # They are in order; a host that is up is worth more.
    nearest = min(refused, key=lambda entry: not entry.host.usable)
    host = nearest.host
    changes = opening.smallest(
        nearest.flavor, host, aggregates, exempt, of_server
    )
    if not changes:
        return [fill(f'The nearest host is {host.name}.')]
    text = f'The nearest host is {host.name}. This change would open it:'
    return [fill(text), *(f'  {change}' for change in changes)]


def tell(failed: compute.Failed, way: walk.Walk, silence: str) -> list[str]:
    """Return what the steps of a request come to, and what was not judged.

    :param failed: the request.
    :param way: its way.
    :param silence: why Placement does not answer; empty if it does.
    """
    told = [f'Nova says: {failed.fault}'] if failed.fault else []
    unjudged = [*way.unjudged]
    if silence:
        unjudged.insert(0, f'Placement ({silence})')
    else:
        *others, last = 'the image', 'the ports', *failed.demand.unasked
        unjudged.append(
            f'what {", ".join(others)} and {last} ask of Placement'
        )
    told.append(f'Not judged: {", ".join(unjudged)}.')
    told.append(
        'The hosts are those of now: they may have changed since the request.'
    )
    return list(map(fill, told))
