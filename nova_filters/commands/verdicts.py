# SPDX-License-Identifier: Apache-2.0

"""What ``openstack aggregate filter explain`` prints.

The tables, and the sentences below them.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from osc_lib.cli import format_columns

from nova_filters.advice import explanation, inventory, opening, walk
from nova_filters.commands import compute
from nova_filters.matching.inputs import Exempt
from os_placement_plugins.commands.lister import Table

_PASS = 'pass'  # noqa: S105
_REFUSE = 'refuse'

COLUMNS = (
    *('Flavor', 'Host', 'State', 'Result', 'Failing Keys', 'Side', 'Key'),
    *('Wanted', 'Found', 'Aggregate', 'Host Aggregates', 'All Keys', 'Reason'),
)
STEPS = ('Step', 'Left', 'Reason')


def row(entry: explanation.Explanation) -> tuple[Any, ...]:
    """Return all columns for one flavor and host."""
    reason = entry.reasons[0] if entry.reasons else None
    return (
        entry.flavor.name,
        entry.host.name,
        entry.host.state,
        _REFUSE if reason else _PASS,
        len(entry.failing_keys),
        reason.side.value if reason else '',
        reason.key if reason else '',
        _list(reason.wanted if reason else ()),
        _list(reason.found if reason else ()),
        _list(reason.aggregate if reason else ()),
        _list(aggregate.name for aggregate in entry.host.aggregates),
        _list(entry.failing_keys),
        str(reason or ''),
    )


def _list(values: Iterable[str]) -> format_columns.ListColumn:
    """Return a cell that is a list for programs and a text for people."""
    return format_columns.ListColumn(list(dict.fromkeys(values)))


def summary(found: Iterable[explanation.Explanation]) -> Table:
    """Return a row for each flavor and reason."""
    return ('Flavor', 'Result', 'Hosts', 'Reason'), [
        (flavor, _REFUSE if reason else _PASS, hosts, reason)
        for flavor, reason, hosts in explanation.summarize(found)
    ]


def matrix(
    flavors: Iterable[inventory.Flavor],
    aggregates: Iterable[inventory.HostAggregate],
    exempt: Exempt,
) -> Table:
    """Return a row for each flavor and a column for each aggregate alone."""
    alone: inventory.Hosts = {
        '(none)': inventory.Host('(none)'),
        **{a.name: inventory.Host(a.name, (a,)) for a in aggregates},
    }
    return ('Flavor', *alone), [
        (
            flavor.name,
            *(
                ', '.join(cell.failing_keys) or _PASS
                for cell in explanation.judge(flavor, alone, exempt)
            ),
        )
        for flavor in flavors
    ]


def conclude(
    flavors: Collection[inventory.Flavor],
    copies: Collection[inventory.Flavor],
    found: Sequence[explanation.Explanation],
    aggregates: Sequence[inventory.HostAggregate],
    exempt: Exempt,
) -> list[str]:
    """Return one sentence for each flavor, and what would open a host for it.

    :param flavors: the flavors that were judged.
    :param copies: those of them that servers carry.
    :param found: all hosts for all flavors, as they are sorted.
    :param aggregates: all aggregates.
    """
    told = []
    for flavor in flavors:
        own = [entry for entry in found if entry.flavor is flavor]
        label = f'{flavor.name}: ' if len(flavors) > 1 else ''
        told.append(label + explanation.sentence(own))
        if not any(entry.open for entry in own):
            told += opening_of(own, aggregates, exempt, flavor in copies)
    return told


def opening_of(
    entries: Iterable[explanation.Explanation],
    aggregates: Sequence[inventory.HostAggregate],
    exempt: Exempt,
    of_server: bool = False,
) -> list[str]:
    """Return what would open the nearest host for a flavor.

    :param entries: the hosts, as they are sorted.
    :param aggregates: all aggregates.
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
        return [f'The nearest host is {host.name}.']
    text = f'The nearest host is {host.name}. This change would open it:'
    return [text, *(f'  {change}' for change in changes)]


def tell(failed: compute.Failed, way: walk.Walk, silence: str) -> list[str]:
    """Return what the steps of a request come to, and what was not judged.

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
    return told
