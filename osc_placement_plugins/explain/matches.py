# SPDX-License-Identifier: Apache-2.0

"""How hosts match a flavor, counted and in words."""

from collections.abc import Sequence

from nova_filters.matching import report
from nova_filters.matching.mismatch import Cause, quote_all
from osc_placement_plugins.inventory import Inventory, create_matcher
from osc_placement_plugins.source.records import ComputeHost, Flavor


class HostMatches:
    """How some hosts match one flavor, as nova-scheduler sees it.

    ``takers`` are the hosts that pass; ``idle`` are those that would pass, but
    are disabled or down; ``refused`` are the others, and ``groups`` are the
    reasons with their hosts. A host may have several reasons.

    :param noun: what a host is called.
    """

    def __init__(
        self,
        flavor: Flavor,
        inventory: Inventory,
        hosts: Sequence[ComputeHost],
        noun: str = 'host',
    ) -> None:
        self.flavor = flavor
        self.hosts = hosts
        self._noun = noun
        self._aggregates = inventory.aggregates
        self._matcher = create_matcher(flavor, inventory)
        passed, self.refused = self._matcher.match_hosts(hosts)
        self.groups = report.list_reasons(self._matcher, self.refused)
        self.takers: list[ComputeHost] = []
        self.idle: list[ComputeHost] = []
        for host in passed:
            if host.usable:
                self.takers.append(host)
            else:
                self.idle.append(host)

    def sentence(self) -> str:
        """Tell how many hosts take the flavor, and why the others do not."""
        total = len(self.hosts)
        passed = len(self.takers) + len(self.idle)
        noun = self._noun if total == 1 else f'{self._noun}s'
        verb = 'takes' if 1 in (passed, total) else 'take'
        text = f'{passed} of {total} {noun} {verb} {self.flavor.name}'
        if self.idle:
            text += f' ({len(self.idle)} of them not up)'
        if self.groups:
            text += f': {report.count_reasons(self._matcher, self.groups)}'
        return f'{text}.'

    def nearest(self) -> ComputeHost | None:
        """Return the refused host that lacks least to pass.

        :returns: the first host by name of those with the fewest failing keys,
            and among them the fewest missing keys: a wrong value is nearer
            than none. None if no host that is up is refused.
        """
        distances: dict[tuple[int, int, str], ComputeHost] = {}
        for host in self.refused:
            if not host.usable:
                continue
            mismatches = self._matcher.list_mismatches(host.aggregates)
            keys = {mismatch.key for mismatch in mismatches}
            causes = [mismatch.cause for mismatch in mismatches]
            missing = causes.count(Cause.MISSING)
            distances[len(keys), missing, host.name] = host
        if not distances:
            return None
        return distances[min(distances)]

    def notes(self) -> list[str]:
        """Return sentences on what else an operator should know."""
        flavor = self.flavor.name
        sentences = []
        skipped_keys = self._list_skipped()
        if skipped_keys:
            sentences.append(
                f'Skipped in {flavor}, because no aggregate has the key: '
                f'{quote_all(skipped_keys)}.'
            )
        # A host that is not up would take the flavor without any change.
        if self.takers or self.idle:
            return sentences
        nearest = self.nearest()
        if nearest is not None:
            sentences.append(
                f'The nearest host for {flavor} is {nearest.name}: '
                f'{self.reasons(nearest)}.'
            )
        return sentences

    def _list_skipped(self) -> list[str]:
        """Return the keys of the flavor that the filter does not compare."""
        known_keys = set()
        for aggregate in self._aggregates:
            for key, _ in aggregate.items():
                known_keys.add(key)
        return [
            spec.key
            for spec in self._matcher.flavor
            if spec.optional and spec.key not in known_keys
        ]

    def explain_group(self, group: report.Reason) -> str:
        """Return a reason with the values in the aggregates of its hosts."""
        return str(report.explain_reason(self._matcher, group))

    def reasons(self, host: ComputeHost) -> str:
        """Return every reason to refuse a host; empty if it passes."""
        return '; '.join(
            map(str, self._matcher.explain_mismatches(host.aggregates))
        )
