# SPDX-License-Identifier: Apache-2.0

"""Tables and sentences for ``openstack aggregate filter explain``."""

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
    result, text = _PASS, ''
    no_names = common.Names(())
    parts: tuple[Any, ...] = ('', '', no_names, no_names, no_names)
    if entry.reasons:
        reason = entry.reasons[0]
        result, text = _REFUSE, str(reason)
        parts = (
            reason.side.value,
            reason.key,
            common.Names(reason.accepted_values),
            common.Names(reason.stated_values),
            common.Names(reason.aggregate),
        )
    return (
        entry.flavor.name,
        entry.host.name,
        entry.host.state,
        result,
        len(entry.failing_keys),
        *parts,
        common.Names([aggregate.name for aggregate in entry.host.aggregates]),
        common.Names(entry.failing_keys),
        text,
        '; '.join(f'{number:+} {why}' for number, why in entry.points),
    )


def summary(all_verdicts: Iterable[Verdicts]) -> Table:
    """Return a table: the hosts counted by flavor, result and reason."""
    rows: list[tuple[Any, ...]] = []
    for verdicts in all_verdicts:
        flavor = verdicts.flavor.name
        if verdicts.passed:
            rows.append((flavor, _PASS, len(verdicts.passed), ''))
        for hosts, reason in verdicts.counts():
            if hosts:
                rows.append((flavor, _REFUSE, hosts, reason))
    return ('Flavor', 'Result', 'Hosts', 'Reason'), rows


def conclude(
    all_verdicts: Collection[Verdicts],
) -> list[str]:
    """Return a sentence for each flavor: how many hosts pass or refuse.

    For a flavor without a usable host, sentences on what to do follow.
    """
    remarks = []
    for verdicts in all_verdicts:
        sentence = verdicts.sentence()
        if len(all_verdicts) > 1:
            sentence = f'{verdicts.flavor.name}: {sentence}'
        remarks.append(sentence)
        if not verdicts.usable:
            remarks += _waking(verdicts.passed)
            remarks += _nearest(verdicts)
    return remarks


def _nearest(verdicts: Verdicts) -> list[str]:
    """Return a sentence: the nearest host, and why the host refuses.

    Of the hosts that are up and refuse the flavor, the nearest one has the
    fewest failing keys.
    """
    host = verdicts.nearest()
    if host is None:
        return ['No host that is up is left to open.']
    reasons = verdicts.judge.reasons(host.aggregates)
    sentences = '; '.join(str(reason) for reason in reasons)
    return [f'The nearest host is {host.name}: {sentences}.']


def _waking(hosts: Sequence[inventory.Host]) -> list[str]:
    """Return sentences on how to enable or start hosts.

    :param hosts: the hosts that pass, but are not up.
    """
    if not hosts:
        return []
    rest = len(hosts) - quoting.LISTED
    text = 'These hosts pass, but are not up'
    if rest > 0:
        text += f' and {rest} more'
    sentences = [f'{text}:']
    for host in hosts[: quoting.LISTED]:
        order = _WHAT_TO_DO[host.state].format(shlex.quote(host.name))
        sentences.append(f'  {order}')
    return sentences
