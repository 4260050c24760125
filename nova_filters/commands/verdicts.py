# SPDX-License-Identifier: Apache-2.0

"""What ``openstack aggregate filter explain`` prints.

The tables, and the sentences below them.
"""

import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from nova_filters.advice import explanation, inventory, remedy, walk
from nova_filters.advice.explanation import Verdicts
from nova_filters.commands import common
from nova_filters.matching import inputs
from nova_filters.matching.request import Request
from os_placement_plugins import quoting
from os_placement_plugins.commands.lister import Table

_PASS = 'pass'  # noqa: S105
_REFUSE = 'refuse'

COLUMNS = (
    *('Flavor', 'Host', 'State', 'Result', 'Failing Keys', 'Side', 'Key'),
    *('Wanted', 'Found', 'Aggregate', 'Host Aggregates', 'All Keys', 'Reason'),
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
        common.Names(reason.wanted if reason else ()),
        common.Names(reason.found if reason else ()),
        common.Names(reason.aggregate if reason else ()),
        common.Names([own.name for own in entry.host.aggregates]),
        common.Names(entry.failing_keys),
        str(reason or ''),
        '; '.join(f'{number:+} {why}' for number, why in entry.points),
    )


def summary(found: Iterable[Verdicts]) -> Table:
    """Return a row for each flavor and reason."""
    return ('Flavor', 'Result', 'Hosts', 'Reason'), [
        (verdicts.flavor.name, result, hosts, reason)
        for verdicts in found
        for result, hosts, reason in (
            (_PASS, len(verdicts.passed), ''),
            *((_REFUSE, *count) for count in verdicts.counts()),
        )
        if hosts
    ]


def matrix(
    flavors: Iterable[inventory.Flavor],
    aggregates: Iterable[inventory.HostAggregate],
    exempt: inputs.Exempt,
) -> Table:
    """Return a row for each flavor and a column for each aggregate alone."""
    alone = {'(none)': (), **{own.name: (own,) for own in aggregates}}
    rows = []
    for flavor in flavors:
        request = Request(inputs.read_flavor(flavor.extra_specs), exempt)
        found = [request.refusals(own) for own in alone.values()]
        keys = [', '.join(dict.fromkeys(r.key for r in own)) for own in found]
        rows.append((flavor.name, *(text or _PASS for text in keys)))
    return ('Flavor', *alone), rows


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
    """Return what would open a host for a flavor that no host takes now."""
    told = waking(verdicts.passed)
    host = verdicts.nearest()
    if host is None:
        return [*told, 'No host that is up is left to open.']
    found = remedy.find(verdicts.flavor, host, verdicts.panel.stock)
    if not found.changes:
        text = 'No change that this command knows would open it.'
        return [*told, f'The nearest host is {host.name}. {text}']
    told.append(f'The nearest host is {host.name}. This change would open it:')
    told += [f'  {change}' for change in found.changes]
    if found.losers:
        told.append(
            'It takes hosts from other flavors '
            f'({quoting.listed(found.losers)}): look at it first with '
            '"openstack aggregate filter impact".'
        )
    return told


def waking(hosts: Sequence[inventory.Host]) -> list[str]:
    """Return what to do about hosts that pass and are not up."""
    if not hosts:
        return []
    rest = len(hosts) - quoting.LISTED
    more = f' and {rest} more' if rest > 0 else ''
    told = [f'These hosts pass, but are not up{more}:']
    for host in hosts[: quoting.LISTED]:
        name = shlex.quote(host.name)
        told.append(f'  {_WHAT_TO_DO[host.state].format(name)}')
    return told


def tell(
    way: walk.Walk,
    flavor: inventory.Flavor,
    stock: inventory.Stock,
    unasked: Iterable[str],
    silence: str,
) -> list[str]:
    """Return what was not judged, which step took the last host, and why.

    :param unasked: the extra specs of which Nova may ask Placement more.
    :param silence: why Placement has no candidates; empty if it has.
    """
    unjudged = [*way.unjudged]
    asked = any(step.name == walk.PLACEMENT for step in way.steps)
    if not asked:
        unjudged.insert(0, f'Placement ({silence})')
    else:
        *others, last = 'the image', 'the ports', *unasked
        unjudged.append(
            f'what {", ".join(others)} and {last} ask of Placement'
        )
    told = [
        f'Not judged: {", ".join(unjudged)}.',
        'The hosts are those of now: they may have changed since the request.',
    ]
    end = next((n for n, one in enumerate(way.steps) if not one.left), -1)
    if end < 1:
        left = len(way.steps[-1].left)
        told.append(
            f'{left} hosts are left: what was not judged has refused them, or '
            'they have changed since. Try again.'
            if left
            else 'There is no compute host.'
        )
        return told
    name, taken = way.steps[end].name, way.steps[end - 1].left
    hosts = f'of {len(taken)} hosts' if len(taken) > 1 else 'host'
    told.append(f'{name} took the last {hosts}.')
    if name == walk.OURS:
        panel = explanation.Panel(stock, way.near)
        told += opening(panel.judge(flavor))
    elif name == 'ComputeFilter':
        told += waking(taken)
    elif name != walk.PLACEMENT:
        told.append('Change the request, or the metadata of aggregates.')
    elif silence:
        told.append(f'Placement refuses the question, and Nova: {silence}')
    else:
        told.append(
            'Free resources there, take a smaller flavor, or look for traits '
            'and classes that no host has: "openstack allocation candidate '
            'list" of osc-placement asks the same.'
        )
    return told
