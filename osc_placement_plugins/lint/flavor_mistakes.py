# SPDX-License-Identifier: Apache-2.0

"""Mistakes in flavors: extra specs without effect, and flavors without a host.

:mod:`osc_placement_plugins.lint.text_mistakes` finds mistakes in a single key
or value. This module compares what flavors ask for with what aggregates offer.
"""

from collections.abc import Iterator
from typing import Final

from nova_filters.matching import inputs, preferences, report
from nova_filters.matching.inputs import SCOPE, FlavorSpec
from nova_filters.matching.matcher import Matcher
from nova_filters.matching.mismatch import Cause, Side, quote_all
from os_placement_plugins.text import listed, quote
from osc_placement_plugins.inventory import Inventory, create_matcher
from osc_placement_plugins.lint import text_mistakes
from osc_placement_plugins.lint.findings import ERROR, Finding, FindingCode
from osc_placement_plugins.source.records import ComputeHost, Flavor

#: How many hosts are matched before the next ones.
_PART: Final = 50


class FlavorMistakes:
    """Find the mistakes in flavors beside the aggregates of a cloud.

    Without a list of all hosts, the hosts in no aggregate are not known. A
    flavor that could use such hosts then counts as having a host.
    """

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._hosts = [*inventory.hosts.values()]
        self._idle_hosts: list[ComputeHost] = []
        usable_hosts = {}
        for host in self._hosts:
            if host.usable:
                usable_hosts[host.aggregates] = host
            else:
                self._idle_hosts.append(host)
        #: One of all hosts that are up and in the same aggregates.
        self._usable_hosts = [*usable_hosts.values()]
        # If any host meets an extra spec, then a host in only one aggregate,
        # or in no aggregate, meets it, too.
        self._lone_hosts = [ComputeHost('')]
        #: Key -> the values that aggregates offer.
        self._offers: dict[str, set[str]] = {}
        for aggregate in inventory.aggregates:
            self._lone_hosts.append(ComputeHost('', (aggregate,)))
            for key, _ in aggregate.items():
                values = self._offers.setdefault(key, set())
                for piece in aggregate.pieces(key):
                    values |= piece.literals

    def find(self, flavor: Flavor) -> list[Finding]:
        """Return the mistakes in a flavor, without their owner."""
        findings: list[Finding] = []
        for name, text in flavor.extra_specs.items():
            findings += self._find_in_extra_spec(name, text)
        # An error in an extra spec that every host must meet already says that
        # no host passes.
        required_keys = {
            spec.key
            for spec in inputs.read_flavor(flavor.extra_specs)
            if not spec.optional
        }
        for finding in findings:
            is_error = finding.severity == ERROR
            if is_error and finding.key.removeprefix(SCOPE) in required_keys:
                return findings
        return [*findings, *self._find_without_host(flavor)]

    def _find_in_extra_spec(self, name: str, text: str) -> Iterator[Finding]:
        wishes, problems = preferences.read_preferences({name: text})
        if wishes or problems:
            yield from self._find_in_preference(name, wishes, problems)
            return
        specs = inputs.read_flavor({name: text})
        if not specs:
            problem = 'the flag has no effect in a flavor'
            code = FindingCode.FLAG_WITHOUT_EFFECT
            yield Finding(code, name, problem)
            return
        (spec,) = specs
        yield from text_mistakes.find_misspelled_flag(name)
        # Extra specs of other namespaces belong to other parts of Nova. The
        # filter reads such an extra spec only if an aggregate has the key.
        if spec.optional and name not in self._offers:
            yield from text_mistakes.find_misspelled_namespace(name)
            return
        yield from text_mistakes.find_malformed(name, spec.requirement)
        yield from self._find_unmet(name, spec)

    def _find_in_preference(
        self,
        name: str,
        wishes: list[preferences.Preference],
        problems: list[str],
    ) -> Iterator[Finding]:
        for wish in wishes:
            if any(self._find_unmet(name, wish.spec)):
                problems = ['no aggregate meets it, so it has no effect']
        for problem in problems:
            code = FindingCode.PREFERENCE_WITHOUT_EFFECT
            yield Finding(code, name, problem)

    def _find_unmet(self, name: str, spec: FlavorSpec) -> Iterator[Finding]:
        """Find an extra spec that no host meets."""
        need = spec.requirement
        values = self._offers.get(spec.key, set())
        # Hosts without an optional key pass, and other values of the key may
        # be meant for another program. The last check is fast.
        if spec.optional or need.problem or need.accepts(values):
            return
        matcher = Matcher((spec,))
        passed, refused = matcher.match_hosts(self._lone_hosts)
        if passed:
            return
        causes = set()
        for host in refused:
            first, *_ = matcher.list_mismatches(host.aggregates)
            if first.side is Side.AGGREGATE:
                return
            causes.add(first.cause)
        yield self._explain_unmet(name, spec, causes == {Cause.MISSING})

    def _explain_unmet(
        self, name: str, spec: FlavorSpec, is_missing: bool
    ) -> Finding:
        """Return the finding for an extra spec that no host meets.

        :param is_missing: whether no aggregate has the key.
        """
        need = spec.requirement
        values = self._offers.get(spec.key, set())
        similar = []
        if is_missing:
            problem = f'no aggregate has {quote(spec.key)}'
            similar = text_mistakes.find_similar(spec.key, self._offers)
        else:
            problem = (
                f'no aggregate has {quote(spec.key)} with a value that meets '
                f'{quote(need.text)}'
            )
            for literal in sorted(need.literals):
                similar += text_mistakes.find_similar(literal, values)
        problem += ', so no host passes'
        if similar:
            problem += (
                f'. An aggregate has {quote(similar[0])}: only white space, '
                'or upper and lower case, differ'
            )
        elif values:
            problem += f'. Aggregates have {quote_all(values)}'
        return Finding(FindingCode.NOT_OFFERED, name, problem)

    def _find_without_host(self, flavor: Flavor) -> Iterator[Finding]:
        """Find a flavor that no host takes, or no host that is up."""
        matcher = create_matcher(flavor, self._inventory)
        # Hosts in no aggregate may exist, and may take the flavor.
        is_complete = self._inventory.services is not None
        if not is_complete and not matcher.list_mismatches(()):
            return
        # Most flavors have a host among the first ones.
        for start in range(0, len(self._usable_hosts), _PART):
            part = self._usable_hosts[start : start + _PART]
            passed, _ = matcher.match_hosts(part)
            if passed:
                return
        if not self._hosts:
            return
        passed, _ = matcher.match_hosts(self._idle_hosts)
        if passed:
            names = listed([f'{host.name} ({host.state})' for host in passed])
            text = f'none of the hosts that take the flavor is up: {names}'
        else:
            reasons = report.count_reasons(
                matcher, report.list_reasons(matcher, self._hosts)
            )
            text = f'0 of {len(self._hosts)} hosts take it: {reasons}'
        yield Finding(FindingCode.NO_HOST, '', text)
