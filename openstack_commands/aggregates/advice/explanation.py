# SPDX-License-Identifier: Apache-2.0

"""Why a flavor may use a host or not, over all hosts."""

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

    :param reasons: every reason to refuse the host; none if it passes.
    :param points: what the host gains and loses by preferences, and why.
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
    """The verdicts on one flavor and all hosts of a panel.

    :param request: what judged the hosts, and knows the reasons.
    :param first: the first reason of each host that is refused, by its name.
    """

    flavor: inventory.Flavor
    panel: 'Panel'
    request: Request
    first: Mapping[str, Reason]

    @functools.cached_property
    def passed(self) -> list[inventory.Host]:
        """Return the hosts that pass."""
        return [h for h in self.panel.hosts if h.name not in self.first]

    @functools.cached_property
    def refused(self) -> Mapping[Reason, list[inventory.Host]]:
        """Return the other hosts by the first reason."""
        found: dict[Reason, list[inventory.Host]] = {}
        for host in self.panel.hosts:
            if host.name in self.first:
                found.setdefault(self.first[host.name], []).append(host)
        return found

    @functools.cached_property
    def usable(self) -> list[inventory.Host]:
        """Return the hosts that pass, and are neither disabled nor down."""
        return [host for host in self.passed if host.usable]

    @functools.cached_property
    def takers(self) -> frozenset[str]:
        """Return the names of these hosts."""
        return frozenset(host.name for host in self.usable)

    def aggregates_of(self, names: Iterable[str]) -> list[inputs.Aggregate]:
        """Return the aggregates of some hosts, by name."""
        aggregates: set[inputs.Aggregate] = set()
        for name in names:
            aggregates.update(self.panel.stock.hosts[name].aggregates)
        return sorted(aggregates, key=lambda aggregate: aggregate.name)

    def why(self, refusal: Reason, names: Iterable[str]) -> str:
        """Return why some hosts refuse, which have the reason in common."""
        own = self.aggregates_of(names)
        return str(self.request.explain(refusal, own))

    def counts(self) -> list[tuple[int, str]]:
        """Count the refused hosts by reason, in the words of the log.

        :returns: (number of hosts, reason), the commonest first; the hosts of
            further reasons come last, as one number.
        """
        slim = {}
        for refusal, hosts in self.refused.items():
            alone = self.panel.alone(refusal.key)
            slim[refusal] = [alone[host.name] for host in hosts]
        return report.summarize(self.request, slim)

    def nearest(self) -> inventory.Host | None:
        """Return the refused host with the fewest failing keys.

        :returns: of those that are up, the first by name; None if there is
            none.
        """
        found, fewest = None, math.inf
        for host in sorted(self.panel.hosts, key=lambda host: host.name):
            if host.usable and host.name in self.first:
                refusals = self.request.refusals(host.aggregates)
                number = len({refusal.key for refusal in refusals})
                if number < fewest:
                    found, fewest = host, number
                if number == 1:
                    break
        return found

    def sentence(self) -> str:
        """Tell how many hosts pass, and why the others do not."""
        total = len(self.passed) + len(self.first)
        verb = 'passes' if len(self.passed) == 1 else 'pass'
        text = f'{len(self.passed)} of {total} hosts {verb}'
        closed = len(self.passed) - len(self.usable)
        if closed:
            text += f' ({closed} of them not up)'
        told = ', '.join(
            f'{number} {reason}' for number, reason in self.counts()
        )
        return f'{text}; {told}.' if told else f'{text}.'


class Panel:
    """Judges many flavors on the same hosts, each extra spec only once.

    What flavor and aggregates say of a key does not change the verdict on
    another key, so that a key's verdict serves all flavors that say the same.

    :param hosts: those of the stock to judge; None for all.
    :param ask: what judges hosts for a flavor.
    """

    def __init__(
        self,
        stock: inventory.Stock,
        hosts: Iterable[inventory.Host] | None = None,
        ask: type[Request] = Request,
    ) -> None:
        self.stock = stock
        self.hosts = [*(stock.hosts.values() if hosts is None else hosts)]
        self._ask = ask
        self._aggregates: set[inputs.Aggregate] = set()
        for host in self.hosts:
            self._aggregates.update(host.aggregates)
        self._demanded: set[str] = set()
        for aggregate in self._aggregates:
            if aggregate.forced:
                self._demanded.update(key for key, _ in aggregate.items())
        #: The hosts by name, their aggregates with one key alone.
        self.alone = functools.cache(self._with_key)
        self._of_key = functools.cache(self._judge_key)
        self._reasons_of_key = functools.cache(self._explain_key)
        #: The verdicts on servers, of which many have the same extra specs.
        self.of_specs = functools.cache(
            lambda specs: self.judge(inventory.Flavor('', dict(specs)))
        )

    def judge(self, flavor: inventory.Flavor) -> Verdicts:
        """Judge every host for one flavor, as nova-scheduler does."""
        specs = self._ask.read(flavor.extra_specs)
        own = [(spec.key, (spec,)) for spec in specs]
        others = self._demanded.difference(key for key, _ in own)
        every = [*own, *((key, ()) for key in others)]
        first: dict[str, Reason] = {}
        # The flavor's check comes first, each check in the order of its keys:
        # what comes first is written last.
        for case in reversed(sorted(every, key=operator.itemgetter(0))):
            first |= self._of_key(*case)[Side.AGGREGATE]
        for case in reversed(own):
            first |= self._of_key(*case)[Side.FLAVOR]
        request = self._ask(specs, self.stock.exempt)
        return Verdicts(flavor, self, request, first)

    def reasons(
        self, flavor: inventory.Flavor
    ) -> dict[str, tuple[Reason, ...]]:
        """Return every reason of each host to refuse a flavor, by its name.

        :returns: the flavor's check first, each check in the order of its
            keys. A host that passes has no reasons.
        """
        specs = self._ask.read(flavor.extra_specs)
        by_key: dict[str, list[inputs.FlavorSpec]] = {}
        for spec in specs:
            by_key.setdefault(spec.key, []).append(spec)
        for key in self._demanded:
            by_key.setdefault(key, [])
        of_hosts: dict[str, list[Reason]] = {}
        cases = [(key, tuple(own)) for key, own in sorted(by_key.items())]
        for side in Side:
            for key, own in cases:
                for name, reasons in self._reasons_of_key(key, own).items():
                    alike = [one for one in reasons if one.side is side]
                    of_hosts.setdefault(name, []).extend(alike)
        return {name: tuple(reasons) for name, reasons in of_hosts.items()}

    def _explain_key(
        self, key: str, specs: tuple[inputs.FlavorSpec, ...]
    ) -> dict[str, tuple[Reason, ...]]:
        """Return the reasons of hosts because of one key, by name."""
        request = self._ask(specs, self.stock.exempt)
        # Hosts in the same aggregates share the reasons.
        why = functools.cache(lambda own: tuple(request.reasons(own)))
        reasons = {
            name: why(host.aggregates)
            for name, host in self.alone(key).items()
        }
        return {name: own for name, own in reasons.items() if own}

    @functools.cached_property
    def soft(self) -> set[inputs.Aggregate]:
        """Return the aggregates that prefer flavors."""
        return {own for own in self._aggregates if preferences.harden(own)}

    def _with_key(self, key: str) -> dict[str, inventory.Host]:
        """Return the hosts by name, their aggregates with this key alone."""
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
        """Return why hosts refuse because of one key, by side and name."""
        found: dict[Side, dict[str, Reason]] = {side: {} for side in Side}
        request = self._ask(specs, self.stock.exempt)
        _, refused = request.sift(self.alone(key).values())
        for refusal, hosts in refused.items():
            found[refusal.side] |= {host.name: refusal for host in hosts}
        return found


def explain(verdicts: Verdicts) -> list[Explanation]:
    """Tell all reasons of each host, near misses first.

    :returns: an entry for each host, by the number of failing keys, then by
        name.
    """
    flavor, panel = verdicts.flavor, verdicts.panel
    reasons = panel.reasons(flavor)
    wishes, _ = preferences.read(flavor.extra_specs)
    soft = preferences.Preferences(flavor.extra_specs, panel.stock.exempt)
    # Hosts in the same aggregates share what they gain and lose.
    points = functools.cache(lambda own: tuple(soft.reasons(own)))
    found = []
    for host in panel.hosts:
        has_points = wishes or not panel.soft.isdisjoint(host.aggregates)
        explanation = Explanation(
            flavor=flavor,
            host=host,
            reasons=reasons.get(host.name, ()),
            points=points(host.aggregates) if has_points else (),
        )
        found.append(explanation)
    return sorted(found, key=lambda e: (len(e.failing_keys), e.host.name))
