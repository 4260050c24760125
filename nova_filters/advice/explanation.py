# SPDX-License-Identifier: Apache-2.0

"""Why a flavor may use a host or not, over all hosts."""

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from nova_filters.advice import inventory
from nova_filters.matching import inputs, report
from nova_filters.matching.inputs import FLAG, SCOPE
from nova_filters.matching.preferences import Preferences
from nova_filters.matching.reason import Reason, Refusal, Side
from nova_filters.matching.request import Request


@dataclasses.dataclass(frozen=True, slots=True)
class Explanation:
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


class Verdicts(NamedTuple):
    """The verdicts on one flavor and all hosts.

    :param request: what judged the hosts, and knows the reasons.
    :param passed: the hosts that pass.
    :param refused: the other hosts by the first reason.
    :param preferences: what makes hosts better or worse.
    """

    flavor: inventory.Flavor
    request: Any
    passed: list[inventory.Host]
    refused: Mapping[Refusal, list[inventory.Host]]
    preferences: Preferences

    @property
    def usable(self) -> list[inventory.Host]:
        """Return the hosts that pass, and are neither disabled nor down."""
        return [host for host in self.passed if host.usable]

    def counts(self) -> list[tuple[int, str]]:
        """Count the refused hosts by reason, in the words of the log.

        :returns: (number of hosts, reason), the commonest first; the hosts of
            further reasons come last, as one number.
        """
        slim = {}
        for refusal, hosts in self.refused.items():
            slim[refusal] = hosts
            if refusal.side is Side.AGGREGATE:
                # Only these stand in the reason.
                every = {a for host in hosts for a in host.aggregates}
                behind = {a for a in carrying(refusal.key, every) if a.forced}
                slim[refusal] = [
                    inventory.Host('', (*behind.intersection(h.aggregates),))
                    for h in hosts
                ]
        return report.summarize(self.request, slim)

    def nearest(self) -> inventory.Host | None:
        """Return the refused host with the fewest failing keys.

        :returns: of those that are up, the first by name; None if there is
            none.
        """
        found, fewest = None, 0
        hosts = (host for own in self.refused.values() for host in own)
        for host in sorted(hosts, key=lambda host: host.name):
            if host.usable:
                refusals = self.request.refusals(host.aggregates)
                number = len({refusal.key for refusal in refusals})
                if found is None or number < fewest:
                    found, fewest = host, number
                if number == 1:
                    break
        return found

    def sentence(self) -> str:
        """Tell how many hosts pass, and why the others do not."""
        counts = self.counts()
        total = len(self.passed) + sum(map(len, self.refused.values()))
        verb = 'passes' if len(self.passed) == 1 else 'pass'
        text = f'{len(self.passed)} of {total} hosts {verb}'
        closed = len(self.passed) - len(self.usable)
        if closed:
            text += f' ({closed} of them not up)'
        told = ', '.join(f'{number} {reason}' for number, reason in counts)
        return f'{text}; {told}.' if told else f'{text}.'


class Panel:
    """Judges many flavors on the same hosts, each key only once.

    What flavor and aggregates say of a key does not change the verdict on
    another key, so that a key's verdict serves all flavors that say the same.

    :param exempt: patterns of keys that no aggregate may demand.
    """

    def __init__(
        self, hosts: Iterable[inventory.Host], exempt: inputs.Exempt
    ) -> None:
        self.hosts = [*hosts]
        self._exempt = exempt
        self._aggregates = {a for host in self.hosts for a in host.aggregates}
        # What a flavor is refused for that lacks all keys.
        nobody = Request((), exempt)
        self._demands = [nobody.refusals(h.aggregates) for h in self.hosts]
        self._of_key = functools.cache(self._judge_key)
        self._alone = functools.cache(self._with_key)

    def judge(self, flavor: inventory.Flavor) -> Verdicts:
        """Judge every host for one flavor, as nova-scheduler does."""
        specs = inputs.read_flavor(flavor.extra_specs)
        keys = dict.fromkeys(spec.key for spec in specs)
        judged = [
            self._of_key(tuple(spec for spec in specs if spec.key == key))
            for key in keys
        ]
        passed: list[inventory.Host] = []
        refused: dict[Refusal, list[inventory.Host]] = {}
        for host, demands in zip(self.hosts, self._demands, strict=True):
            found = [own[host.name] for own in judged if host.name in own]
            # The flavor's check comes first, each check by key.
            found.sort(key=_order)
            if not found or found[0].side is Side.AGGREGATE:
                rest = (one for one in demands if one.key not in keys)
                found = sorted(
                    [*found[:1], *itertools.islice(rest, 1)], key=_order
                )
            group = refused.setdefault(found[0], []) if found else passed
            group.append(host)
        request = Request(specs, self._exempt)
        soft = Preferences(flavor.extra_specs, self._exempt)
        return Verdicts(flavor, request, passed, refused, soft)

    def _with_key(self, key: str) -> list[inventory.Host]:
        """Return the hosts, their aggregates with this key alone."""
        alone = {
            aggregate: inventory.HostAggregate(
                aggregate.name,
                {
                    name: text
                    for name, text in aggregate.metadata.items()
                    if name == FLAG or name.removeprefix(SCOPE) == key
                },
            )
            for aggregate in carrying(key, self._aggregates)
        }
        return [
            inventory.Host(
                host.name,
                tuple(alone[a] for a in host.aggregates if a in alone),
            )
            for host in self.hosts
        ]

    def _judge_key(
        self, specs: tuple[inputs.FlavorSpec, ...]
    ) -> dict[str, Refusal]:
        """Return why hosts refuse, by their names, for one key."""
        request = Request(specs, self._exempt)
        _, refused = request.sift(self._alone(specs[0].key))
        return {host.name: one for one in refused for host in refused[one]}


def _order(refusal: Refusal) -> tuple[bool, str]:
    """Return the place of a refusal among those of one host."""
    return refusal.side is Side.AGGREGATE, refusal.key


def carrying(
    key: str, aggregates: Iterable[inputs.Aggregate]
) -> list[inputs.Aggregate]:
    """Return the aggregates that have a key, with or without the scope."""
    names = {key, SCOPE + key}
    return [one for one in aggregates if not names.isdisjoint(one.metadata)]


def explain(
    verdicts: Verdicts, hosts: Iterable[inventory.Host]
) -> list[Explanation]:
    """Tell all reasons of some hosts, near misses first.

    :returns: an entry for each host, by the number of failing keys, then by
        name.
    """
    request, soft = verdicts.request, verdicts.preferences
    # Hosts in the same aggregates share the reasons.
    why = functools.cache(
        lambda own: (tuple(request.reasons(own)), tuple(soft.reasons(own)))
    )
    found = [
        Explanation(verdicts.flavor, host, *why(host.aggregates))
        for host in hosts
    ]
    return sorted(found, key=lambda e: (len(e.failing_keys), e.host.name))
