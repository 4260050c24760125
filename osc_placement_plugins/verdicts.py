# SPDX-License-Identifier: Apache-2.0

"""The filter's verdict on a flavor and some hosts, counted and in words."""

import collections
import functools
import shlex
from collections.abc import Sequence
from typing import Final, NamedTuple

from nova_filters.matching import inputs, report
from nova_filters.matching.judge import Judge
from nova_filters.matching.preferences import Preferences
from nova_filters.matching.reason import Kind, Reason, Side
from os_placement_plugins.quoting import LISTED, SHOWN, listed
from osc_placement_plugins import mistakes
from osc_placement_plugins.records import UNKNOWN, Flavor, Host, Inventory

#: How many causes the sentence about a flavor names.
NAMED: Final = 4

#: What is said of one host, of several hosts, and then of both, by the side
#: and kind of a reason.
_CAUSES: Final = {
    (Side.FLAVOR, Kind.MISSING): ('lacks', 'lack', 'the key {key}'),
    (Side.FLAVOR, Kind.MISMATCH): ('has', 'have', '{key}={stated}'),
    (Side.FLAVOR, Kind.FORBIDDEN): (
        'has',
        'have',
        '{key}={stated}, a key that the flavor forbids',
    ),
    (Side.FLAVOR, Kind.MALFORMED): (
        'cannot meet',
        'cannot meet',
        'the malformed {key}={accepted}',
    ),
    (Side.AGGREGATE, Kind.MISSING): ('demands', 'demand', 'the key {key}'),
    (Side.AGGREGATE, Kind.MISMATCH): (
        'demands',
        'demand',
        '{key}={accepted}',
    ),
    (Side.AGGREGATE, Kind.FORBIDDEN): ('forbids', 'forbid', 'the key {key}'),
    (Side.AGGREGATE, Kind.CONTRADICTION): (
        'contradicts itself',
        'contradict themselves',
        'on the key {key}',
    ),
    (Side.AGGREGATE, Kind.UNREADABLE): ('is', 'are', 'unreadable: {problem}'),
}
_WHAT_TO_DO: Final = {
    'disabled': 'openstack compute service set --enable {} nova-compute',
    'down': 'start nova-compute on {}',
    'disabled and down': 'start nova-compute on {}, and enable it',
    UNKNOWN: 'see why Nova does not show the state of {}',
}


class Cause(NamedTuple):
    """A reason to refuse some hosts.

    :param singular: the text for one host, such as "lacks the key gpu".
    :param plural: the text for several hosts, such as "lack the key gpu".
    """

    singular: str
    plural: str

    def text(self, number: int) -> str:
        """Return the text for a number of hosts."""
        return self.singular if number == 1 else self.plural


class Group(NamedTuple):
    """Hosts that are refused for the same cause.

    :param aggregates: the names of the aggregates that have the key.
    """

    cause: Cause
    hosts: list[Host]
    aggregates: set[str]

    @property
    def text(self) -> str:
        """Return the cause in the words for this number of hosts."""
        return self.cause.text(len(self.hosts))


class Verdict:
    """The verdict on one flavor and some hosts, as nova-scheduler has it.

    :param hosts: the hosts to judge.
    """

    def __init__(
        self, flavor: Flavor, inventory: Inventory, hosts: Sequence[Host]
    ) -> None:
        self.flavor = flavor
        self.hosts = hosts
        self.judge = judge_of(flavor, inventory)
        self._preferences = Preferences(flavor.extra_specs, inventory.exempt)
        self.passed, self.refused = self.judge.sift(hosts)

    @property
    def takers(self) -> list[Host]:
        """Return the hosts that pass, and are neither disabled nor down."""
        return [host for host in self.passed if host.usable]

    @property
    def idle(self) -> list[Host]:
        """Return the hosts that pass, but are not up."""
        return [host for host in self.passed if not host.usable]

    @functools.cached_property
    def groups(self) -> list[Group]:
        """Return the refused hosts by their first cause, largest group first.

        If the flavor and an aggregate refuse each other, the flavor's cause
        counts.
        """
        groups: dict[Cause, Group] = {}
        for hosts, reason in report.explain_groups(self.judge, self.refused):
            cause = _word(reason)
            group = groups.setdefault(cause, Group(cause, [], set()))
            group.hosts.extend(hosts)
            group.aggregates.update(reason.aggregate)
        return sorted(
            groups.values(), key=lambda group: (-len(group.hosts), group.cause)
        )

    def sentence(self) -> str:
        """Tell how many hosts take the flavor, and why the others do not."""
        hosts = 'host' if len(self.hosts) == 1 else 'hosts'
        is_one = 1 in (len(self.passed), len(self.hosts))
        verb = 'takes' if is_one else 'take'
        text = f'{len(self.passed)} of {len(self.hosts)} {hosts} {verb} '
        text += self.flavor.name
        if self.idle:
            text += f' ({len(self.idle)} of them not up)'
        counts: collections.Counter[Cause] = collections.Counter()
        for group in self.groups:
            counts[group.cause] = len(group.hosts)
        causes = []
        for cause, number in counts.most_common(NAMED):
            causes.append(f'{number} {cause.text(number)}')
            counts.pop(cause)
        if counts:
            causes.append(f'{counts.total()} for other reasons')
        if causes:
            text += f': {", ".join(causes)}'
        return f'{text}.'

    def nearest(self) -> Host | None:
        """Return the refused host that lacks least to pass.

        Only hosts that are up count. The fewest failing keys come first, then
        the fewest keys that one side lacks: a wrong value is nearer than none.

        :returns: the first of these hosts by name; None if no host that is up
            is refused.
        """
        distances = {}
        for refused_hosts in self.refused.values():
            for host in refused_hosts:
                if host.usable:
                    refusals = self.judge.refusals(host.aggregates)
                    missing = [r for r in refusals if r.kind is Kind.MISSING]
                    keys = {refusal.key for refusal in refusals}
                    distances[len(keys), len(missing), host.name] = host
        if not distances:
            return None
        return distances[min(distances)]

    def advice(self) -> list[str]:
        """Return sentences on what to do.

        A sentence that begins with a space is a command to copy.
        """
        sentences = []
        for name in self.flavor.extra_specs:
            for finding in mistakes.misspelled_namespace(name):
                sentences.append(f'{self.flavor.name}: {finding.text}.')
        if self.takers:
            return sentences
        sentences += _wake(self.idle)
        nearest = self.nearest()
        if nearest is None:
            sentences.append('No host that is up is left to open.')
        else:
            sentences.append(
                f'The nearest host is {nearest.name}: {self.reasons(nearest)}.'
            )
        return sentences

    def reasons(self, host: Host) -> str:
        """Return every reason to refuse a host; empty if it passes."""
        return '; '.join(map(str, self.judge.reasons(host.aggregates)))

    def points(self, host: Host) -> str:
        """Return the points that a host gains by preferences, as text."""
        points = self._preferences.reasons(host.aggregates)
        return '; '.join(f'{number:+} {why}' for number, why in points)


def judge_of(flavor: Flavor, inventory: Inventory) -> Judge:
    """Return the filter's judge of hosts for a flavor."""
    return Judge(inputs.read_flavor(flavor.extra_specs), inventory.exempt)


def _word(reason: Reason) -> Cause:
    singular, plural, rest = _CAUSES[reason.side, reason.kind]
    values = rest.format(
        key=_shorten(reason.key),
        stated=_join(reason.stated_values),
        accepted=_join(reason.accepted_values),
        problem=reason.problem,
    )
    return Cause(f'{singular} {values}', f'{plural} {values}')


def _join(values: Sequence[str]) -> str:
    return listed(sorted({_shorten(value) for value in values}), mark=',')


def _shorten(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    return f'{text[:SHOWN]}…'


def _wake(hosts: Sequence[Host]) -> list[str]:
    """Return sentences on how to enable or start hosts that pass."""
    if not hosts:
        return []
    sentences = ['Not up, but would take it:']
    if len(hosts) > LISTED:
        sentences = [f'Not up, but would take it ({len(hosts)} hosts):']
    for host in hosts[:LISTED]:
        command = _WHAT_TO_DO[host.state].format(shlex.quote(host.name))
        sentences.append(f'  {command}')
    return sentences
