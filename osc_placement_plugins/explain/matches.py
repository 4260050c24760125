# SPDX-License-Identifier: Apache-2.0

"""How hosts match a flavor, counted and in words."""

from collections.abc import Sequence

from nova_filters.matching import report
from nova_filters.matching.mismatch import quote_all
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

    def notes(self) -> list[str]:
        """Return sentences on what the filter does not compare."""
        known_keys = set()
        for aggregate in self._aggregates:
            for key, _ in aggregate.items():
                known_keys.add(key)
        skipped_keys = []
        for spec in self._matcher.flavor:
            if spec.optional and spec.key not in known_keys:
                skipped_keys.append(spec.key)
        if not skipped_keys:
            return []
        return [
            f'Skipped in {self.flavor.name}, because no aggregate has the '
            f'key: {quote_all(skipped_keys)}.'
        ]

    def explain_group(self, group: report.Reason) -> str:
        """Return a reason with the values in the aggregates of its hosts."""
        return str(report.explain_reason(self._matcher, group))

    def reasons(self, host: ComputeHost) -> str:
        """Return every reason to refuse a host; empty if it passes."""
        return '; '.join(
            map(str, self._matcher.explain_mismatches(host.aggregates))
        )
