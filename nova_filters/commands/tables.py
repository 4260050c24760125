# SPDX-License-Identifier: Apache-2.0

"""The tables of ``openstack aggregate filter explain``."""

from collections.abc import Iterable, Sequence
from typing import Any

from osc_lib.cli import format_columns

from nova_filters.advice import explanation, inventory

Table = tuple[Sequence[str], Iterable[Sequence[Any]]]

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
    exempt: tuple[str, ...],
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
