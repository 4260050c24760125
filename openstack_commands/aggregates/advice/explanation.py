# SPDX-License-Identifier: Apache-2.0

"""Explain for each host why it passes for a flavor, or is refused."""

import dataclasses
import functools
import math
import operator
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nova_filters.matching import inputs, preferences, report
from nova_filters.matching.inputs import FLAG, SCOPE
from nova_filters.matching.reason import Reason, Side
from nova_filters.matching.request import Request
from openstack_commands.aggregates.advice import inventory


class Explanation(NamedTuple):
    """The verdict on one flavor and one host, and why.

    :param reasons: every reason to refuse the host; empty if it passes.
    :param points: the points that the host gains (or loses, if negative) by
        each preference, and why.
    """

    flavor: inventory.Flavor
    host: inventory.Host
    reasons: tuple[Reason, ...]
    points: tuple[tuple[int, str], ...] = ()

    @property
    def failing_keys(self) -> tuple[str, ...]:
        """Return the keys of the reasons, each once."""
        return tuple(dict.fromkeys(reason.key for reason in self.reasons))


@dataclasses.dataclass(frozen=True)
class Verdicts:
    """The verdicts of an :class:`Evaluation` on one flavor and all its hosts.

    :param request: the filter's request for the flavor, which can word a
        reason in full.
    :param first: the name of each refused host -> the first reason.
    """

    flavor: inventory.Flavor
    evaluation: 'Evaluation'
    request: Request
    first: Mapping[str, Reason]

    @functools.cached_property
    def passed(self) -> list[inventory.Host]:
        """Return the hosts that pass."""
        return [h for h in self.evaluation.hosts if h.name not in self.first]

    @functools.cached_property
    def refused(self) -> Mapping[Reason, list[inventory.Host]]:
        """Return the refused hosts, by the first reason."""
        by_reason: dict[Reason, list[inventory.Host]] = {}
        for host in self.evaluation.hosts:
            if host.name in self.first:
                by_reason.setdefault(self.first[host.name], []).append(host)
        return by_reason

    @functools.cached_property
    def usable(self) -> list[inventory.Host]:
        """Return the hosts that pass, and are neither disabled nor down."""
        return [host for host in self.passed if host.usable]

    def why(self, name: str) -> str:
        """Return the text of the first reason of a refused host.

        :param name: the name of the host.
        """
        aggregates = self.evaluation.stock.hosts[name].aggregates
        return str(self.request.explain(self.first[name], aggregates))

    def counts(self) -> list[tuple[int, str]]:
        """Count the refused hosts by reason, worded as in the filter's log.

        :returns: pairs of number and reason, the most common reason first. If
            there are many reasons, the last pair sums up the other hosts.
        """
        slim = {}
        for refusal, hosts in self.refused.items():
            alone = self.evaluation.alone(refusal.key)
            slim[refusal] = [alone[host.name] for host in hosts]
        return report.summarize(self.request, slim)

    def nearest(self) -> inventory.Host | None:
        """Return the refused host with the fewest failing keys.

        Only hosts that are up count.

        :returns: the first of these hosts by name; None if no host that is up
            is refused.
        """
        nearest, fewest_keys = None, math.inf
        for host in sorted(self.evaluation.hosts, key=lambda host: host.name):
            if host.usable and host.name in self.first:
                refusals = self.request.refusals(host.aggregates)
                number = len({refusal.key for refusal in refusals})
                if number < fewest_keys:
                    nearest, fewest_keys = host, number
                if number == 1:
                    break
        return nearest

    def sentence(self) -> str:
        """Tell how many hosts pass, and why the others do not."""
        total = len(self.passed) + len(self.first)
        verb = 'passes' if len(self.passed) == 1 else 'pass'
        text = f'{len(self.passed)} of {total} hosts {verb}'
        closed = len(self.passed) - len(self.usable)
        if closed:
            text += f' ({closed} of them not up)'
        counts = [f'{number} {reason}' for number, reason in self.counts()]
        if counts:
            text += f'; {", ".join(counts)}'
        return f'{text}.'


class Evaluation:
    """Judges many flavors on the same hosts, each extra spec only once.

    The verdict on one key does not depend on other keys. So flavors with the
    same value of a key share the verdict on this key.

    :param stock: the flavors, aggregates and hosts.
    :param hosts: the hosts to judge; None for all hosts.
    """

    def __init__(
        self,
        stock: inventory.Stock,
        hosts: Iterable[inventory.Host] | None = None,
    ) -> None:
        self.stock = stock
        if hosts is None:
            hosts = stock.hosts.values()
        self.hosts = list(hosts)
        self._aggregates: set[inputs.Aggregate] = set()
        for host in self.hosts:
            self._aggregates.update(host.aggregates)
        self._demanded: set[str] = set()
        for aggregate in self._aggregates:
            if aggregate.forced:
                self._demanded.update(key for key, _ in aggregate.items())
        #: A function that returns, for a key, all hosts by name. In these
        #: copies of the hosts, the aggregates have only this key.
        self.alone = functools.cache(self._with_key)
        self._of_key = functools.cache(self._judge_key)
        self._reasons_of_key = functools.cache(self._explain_key)
        #: A function that returns the verdicts for extra specs. It has a
        #: cache, because many servers have the same extra specs.
        self.of_specs = functools.cache(
            lambda specs: self.judge(inventory.Flavor('', dict(specs)))
        )

    def judge(self, flavor: inventory.Flavor) -> Verdicts:
        """Judge every host for one flavor, as nova-scheduler does."""
        specs = inputs.read_flavor(flavor.extra_specs)
        cases: list[tuple[str, tuple[inputs.FlavorSpec, ...]]] = []
        for spec in specs:
            cases.append((spec.key, (spec,)))
        for key in self._demanded.difference(spec.key for spec in specs):
            cases.append((key, ()))
        cases.sort(key=operator.itemgetter(0))
        first: dict[str, Reason] = {}
        # If the flavor's check refuses a host, the host's first reason comes
        # from this check. Within a check, the reason of the first key counts.
        # A later |= replaces an earlier one, so the order is reversed here.
        for key, specs_of_key in reversed(cases):
            first |= self._of_key(key, specs_of_key)[Side.AGGREGATE]
        for spec in reversed(specs):
            first |= self._of_key(spec.key, (spec,))[Side.FLAVOR]
        request = Request(specs, self.stock.exempt)
        return Verdicts(flavor, self, request, first)

    def reasons(
        self, flavor: inventory.Flavor
    ) -> dict[str, tuple[Reason, ...]]:
        """Return every reason to refuse a flavor, by the name of the host.

        :returns: name of the host -> the reasons of the flavor's check, then
            those of the aggregates' check, each sorted by key. Hosts that pass
            are left out.
        """
        specs = inputs.read_flavor(flavor.extra_specs)
        by_key: dict[str, list[inputs.FlavorSpec]] = {}
        for spec in specs:
            by_key.setdefault(spec.key, []).append(spec)
        for key in self._demanded:
            by_key.setdefault(key, [])
        by_host: dict[str, list[Reason]] = {}
        for side in Side:
            for key in sorted(by_key):
                of_key = self._reasons_of_key(key, tuple(by_key[key]))
                for name, reasons in of_key.items():
                    reasons_of_host = by_host.setdefault(name, [])
                    for reason in reasons:
                        if reason.side is side:
                            reasons_of_host.append(reason)
        return {name: tuple(reasons) for name, reasons in by_host.items()}

    def _explain_key(
        self, key: str, specs: tuple[inputs.FlavorSpec, ...]
    ) -> dict[str, tuple[Reason, ...]]:
        """Return the reasons that one key causes, by the name of the host."""
        request = Request(specs, self.stock.exempt)
        # Cached, because hosts in the same aggregates have the same reasons.
        explain_aggregates = functools.cache(
            lambda aggregates: tuple(request.reasons(aggregates))
        )
        by_host = {}
        for name, host in self.alone(key).items():
            reasons = explain_aggregates(host.aggregates)
            if reasons:
                by_host[name] = reasons
        return by_host

    @functools.cached_property
    def soft(self) -> set[inputs.Aggregate]:
        """Return the aggregates with demands that are only preferences."""
        return {a for a in self._aggregates if preferences.harden(a)}

    def _with_key(self, key: str) -> dict[str, inventory.Host]:
        """Return copies of the hosts, with only one key in their aggregates.

        The aggregates also keep the flag ``force_metadata_check``.

        :returns: name of the host -> the copy.
        """
        names = {key, SCOPE + key}
        alone = {}
        for aggregate in self._aggregates:
            if names.isdisjoint(aggregate.metadata):
                continue
            metadata = {
                name: text
                for name, text in aggregate.metadata.items()
                if name == FLAG or name in names
            }
            alone[aggregate] = inventory.HostAggregate(
                aggregate.name, metadata
            )
        hosts = {}
        for host in self.hosts:
            aggregates = [alone[a] for a in host.aggregates if a in alone]
            hosts[host.name] = inventory.Host(host.name, tuple(aggregates))
        return hosts

    def _judge_key(
        self, key: str, specs: tuple[inputs.FlavorSpec, ...]
    ) -> dict[Side, dict[str, Reason]]:
        """Return the hosts that are refused because of one key.

        :returns: side -> name of the host -> reason.
        """
        by_side: dict[Side, dict[str, Reason]] = {side: {} for side in Side}
        request = Request(specs, self.stock.exempt)
        _, refused = request.sift(self.alone(key).values())
        for refusal, hosts in refused.items():
            for host in hosts:
                by_side[refusal.side][host.name] = refusal
        return by_side


def explain(verdicts: Verdicts) -> list[Explanation]:
    """Return an explanation for each host.

    :returns: sorted by the number of failing keys, then by the name of the
        host.
    """
    flavor, evaluation = verdicts.flavor, verdicts.evaluation
    reasons = evaluation.reasons(flavor)
    wishes, _ = preferences.read(flavor.extra_specs)
    soft = preferences.Preferences(flavor.extra_specs, evaluation.stock.exempt)
    # Cached, because hosts in the same aggregates have the same points.
    points_of = functools.cache(
        lambda aggregates: tuple(soft.reasons(aggregates))
    )
    explanations = []
    for host in evaluation.hosts:
        points: tuple[tuple[int, str], ...] = ()
        if wishes or not evaluation.soft.isdisjoint(host.aggregates):
            points = points_of(host.aggregates)
        explanation = Explanation(
            flavor=flavor,
            host=host,
            reasons=reasons.get(host.name, ()),
            points=points,
        )
        explanations.append(explanation)
    explanations.sort(key=lambda e: (len(e.failing_keys), e.host.name))
    return explanations
