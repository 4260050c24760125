# SPDX-License-Identifier: Apache-2.0

"""What ``openstack aggregate filter explain`` prints.

The tables, and the sentences below them.
"""

import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from openstack_commands.aggregates import common
from openstack_commands.aggregates.advice import explanation, inventory
from openstack_commands.aggregates.advice.explanation import Verdicts
from openstack_commands.base.lister import Table
from os_placement_plugins import quoting

_PASS = 'pass'  # noqa: S105
_REFUSE = 'refuse'

COLUMNS = (
    'Flavor',
    'Host',
    'State',
    'Result',
    'Failing Keys',
    'Side',
    'Key',
    'Wanted',
    'Found',
    'Aggregate',
    'Host Aggregates',
    'All Keys',
    'Reason',
    'Preferences',
)
_WHAT_TO_DO = {
    'disabled': 'openstack compute service set --enable {} nova-compute',
    'down': 'start nova-compute on {}',
    'disabled and down': 'start nova-compute on {}, and enable it',
    inventory.UNKNOWN: 'see why Nova does not show the state of {}',
}


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
        common.Names(reason.accepted_values if reason else ()),
        common.Names(reason.stated_values if reason else ()),
        common.Names(reason.aggregate if reason else ()),
        common.Names([own.name for own in entry.host.aggregates]),
        common.Names(entry.failing_keys),
        str(reason or ''),
        '; '.join(f'{number:+} {why}' for number, why in entry.points),
    )


def summary(found: Iterable[Verdicts]) -> Table:
    """Return a row for each flavor and reason."""
    rows: list[tuple[Any, ...]] = []
    for verdicts in found:
        flavor = verdicts.flavor.name
        if verdicts.passed:
            rows.append((flavor, _PASS, len(verdicts.passed), ''))
        for hosts, reason in verdicts.counts():
            if hosts:
                rows.append((flavor, _REFUSE, hosts, reason))
    return ('Flavor', 'Result', 'Hosts', 'Reason'), rows


def conclude(
    found: Collection[Verdicts],
) -> list[str]:
    """Return one sentence for each flavor, and what would open a host for it.

    :param found: the verdicts on each flavor.
    """
    told = []
    for verdicts in found:
        label = f'{verdicts.flavor.name}: ' if len(found) > 1 else ''
        told.append(label + verdicts.sentence())
        if not verdicts.usable:
            told += opening(verdicts)
    return told


def opening(verdicts: Verdicts) -> list[str]:
    """Return what to do for a flavor that no host takes now."""
    return [*waking(verdicts.passed), *nearest(verdicts)]


def nearest(verdicts: Verdicts) -> list[str]:
    """Name the nearest of the hosts that are up, and all its reasons."""
    host = verdicts.nearest()
    if host is None:
        return ['No host that is up is left to open.']
    reasons = verdicts.request.reasons(host.aggregates)
    told = '; '.join(map(str, reasons))
    return [f'The nearest host is {host.name}: {told}.']


def waking(hosts: Sequence[inventory.Host]) -> list[str]:
    """Return what to do about hosts that pass and are not up."""
    if not hosts:
        return []
    rest = len(hosts) - quoting.LISTED
    more = f' and {rest} more' if rest > 0 else ''
    return [f'These hosts pass, but are not up{more}:', *orders(hosts)]


def orders(hosts: Sequence[inventory.Host]) -> list[str]:
    """Return how to bring the first of some hosts back, one line for each."""
    return [
        f'  {_WHAT_TO_DO[host.state].format(shlex.quote(host.name))}'
        for host in hosts[: quoting.LISTED]
    ]
