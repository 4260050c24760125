# SPDX-License-Identifier: Apache-2.0

"""The filter's verdict on a flavor and some hosts, counted and in words."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nova_filters.matching import inputs, report
from nova_filters.matching.matcher import Matcher
from nova_filters.matching.mismatch import Cause, Mismatch
from nova_filters.matching.preferences import Preferences
from os_placement_plugins.text import listed
from osc_placement_plugins import mistakes
from osc_placement_plugins.records import Flavor, Host, Inventory


class Group(NamedTuple):
    """Hosts that are refused for the same reason.

    :param summary: the reason in the words of nova-scheduler's log.
    :param reason: the reason with all values in the hosts' aggregates.
    """

    summary: str
    reason: Mismatch
    hosts: list[Host]


class Verdict:
    """The verdict on one flavor and some hosts, as nova-scheduler has it.

    :param hosts: the hosts to matcher.
    :param noun: what a host is called.
    """

    def __init__(
        self,
        flavor: Flavor,
        inventory: Inventory,
        hosts: Sequence[Host],
        noun: str = 'host',
    ) -> None:
        self.flavor = flavor
        self.hosts = hosts
        self.matcher = create_matcher(flavor, inventory)
        self._noun = noun
        self._preferences = Preferences(
            flavor.extra_specs, inventory.aggregates, inventory.exempt
        )
        self.passed, self.refused = self.matcher.match_hosts(hosts)
        self.groups = group_refused(self.matcher, self.refused)

    @property
    def takers(self) -> list[Host]:
        """Return the hosts that pass, and are neither disabled nor down."""
        return [host for host in self.passed if host.usable]

    @property
    def idle(self) -> list[Host]:
        """Return the hosts that pass, but are not up."""
        return [host for host in self.passed if not host.usable]

    def sentence(self) -> str:
        """Tell how many hosts take the flavor, and why the others do not."""
        total = len(self.hosts)
        noun = self._noun if total == 1 else f'{self._noun}s'
        verb = 'takes' if 1 in (len(self.passed), total) else 'take'
        text = f'{len(self.passed)} of {total} {noun} {verb} '
        text += self.flavor.name
        if self.idle:
            text += f' ({len(self.idle)} of them not up)'
        reasons = [
            f'{number} {summary}'
            for number, summary in report.summarize(self.matcher, self.refused)
        ]
        if reasons:
            text += f': {", ".join(reasons)}'
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
                    mismatches = self.matcher.list_mismatches(host.aggregates)
                    missing = [
                        r for r in mismatches if r.cause is Cause.MISSING
                    ]
                    keys = {mismatch.key for mismatch in mismatches}
                    distances[len(keys), len(missing), host.name] = host
        if not distances:
            return None
        return distances[min(distances)]

    def advice(self) -> list[str]:
        """Return sentences on what else an operator should know."""
        flavor = self.flavor.name
        sentences = []
        for name in self.flavor.extra_specs:
            for finding in mistakes.misspelled_namespace(name):
                sentences.append(f'{flavor}: {finding.text}.')
        if self.takers:
            return sentences
        if self.idle:
            names = [f'{host.name} ({host.condition})' for host in self.idle]
            sentences.append(
                f'Not up, but would take {flavor}: {listed(names)}.'
            )
        nearest = self.nearest()
        if nearest is None:
            sentences.append(
                f'No host that is up is left to open to {flavor}.'
            )
        else:
            sentences.append(
                f'The nearest host for {flavor} is {nearest.name}: '
                f'{self.reasons(nearest)}.'
            )
        return sentences

    def reasons(self, host: Host) -> str:
        """Return every reason to refuse a host; empty if it passes."""
        return '; '.join(
            map(str, self.matcher.explain_mismatches(host.aggregates))
        )

    def points(self, host: Host) -> str:
        """Return the points that a host gains by preferences, as text."""
        points = self._preferences.reasons(host.aggregates)
        return '; '.join(f'{number:+} {why}' for number, why in points)


def create_matcher(flavor: Flavor, inventory: Inventory) -> Matcher:
    """Return the filter's matcher of hosts for a flavor."""
    return Matcher(inputs.read_flavor(flavor.extra_specs), inventory.exempt)


def group_refused(
    matcher: Matcher, refused: Mapping[Mismatch, list[Host]]
) -> list[Group]:
    """Return the refused hosts by their first reason, largest group first.

    If the flavor and an aggregate refuse each other, the reason of the flavor
    counts.
    """
    groups = []
    for summary, hosts in report.group_hosts(matcher, refused).items():
        mismatch = matcher.list_mismatches(hosts[0].aggregates)[0]
        aggregates = sorted(
            report.unite_aggregates(hosts), key=lambda each: each.name
        )
        reason = matcher.explain(mismatch, aggregates)
        groups.append(Group(summary, reason, hosts))
    groups.sort(key=lambda group: (-len(group.hosts), group.summary))
    return groups
