# SPDX-License-Identifier: Apache-2.0

"""Explain for each host why it passes for a flavor, or is refused."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from nova_filters.matching import inputs, report
from nova_filters.matching.judge import Judge
from nova_filters.matching.preferences import Preferences
from nova_filters.matching.reason import Reason
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


def judge_flavor(flavor: inventory.Flavor, stock: inventory.Stock) -> Judge:
    """Return the judge of hosts for a flavor."""
    return Judge(inputs.read_flavor(flavor.extra_specs), stock.exempt)


class Verdicts:
    """The verdicts on one flavor and some hosts, as nova-scheduler has them.

    :param flavor: the flavor.
    :param stock: the aggregates and all hosts.
    :param hosts: the hosts to judge; None for all hosts.
    """

    def __init__(
        self,
        flavor: inventory.Flavor,
        stock: inventory.Stock,
        hosts: Iterable[inventory.Host] | None = None,
    ) -> None:
        self.flavor = flavor
        self.stock = stock
        if hosts is None:
            hosts = stock.hosts.values()
        self.hosts = list(hosts)
        self.judge = judge_flavor(flavor, stock)
        #: The hosts that pass, and the refused hosts by the first reason.
        self.passed, self.refused = self.judge.sift(self.hosts)

    @property
    def usable(self) -> list[inventory.Host]:
        """Return the hosts that pass, and are neither disabled nor down."""
        return [host for host in self.passed if host.usable]

    def nearest(self) -> inventory.Host | None:
        """Return the refused host with the fewest failing keys.

        Only hosts that are up count.

        :returns: the first of these hosts by name; None if no host that is up
            is refused.
        """
        hosts: list[inventory.Host] = []
        for refused_hosts in self.refused.values():
            hosts += refused_hosts
        nearest, fewest_keys = None, math.inf
        for host in sorted(hosts, key=lambda host: host.name):
            if host.usable:
                refusals = self.judge.refusals(host.aggregates)
                number = len({refusal.key for refusal in refusals})
                if number < fewest_keys:
                    nearest, fewest_keys = host, number
        return nearest

    def counts(self) -> list[tuple[int, str]]:
        """Count the refused hosts by reason, worded as in the filter's log.

        :returns: pairs of number and reason, the most common reason first. If
            there are many reasons, the last pair sums up the other hosts.
        """
        return report.summarize(self.judge, self.refused)

    def sentence(self) -> str:
        """Tell how many hosts pass, and why the others do not."""
        verb = 'passes' if len(self.passed) == 1 else 'pass'
        text = f'{len(self.passed)} of {len(self.hosts)} hosts {verb}'
        closed = len(self.passed) - len(self.usable)
        if closed:
            text += f' ({closed} of them not up)'
        counts = [f'{number} {reason}' for number, reason in self.counts()]
        if counts:
            text += f'; {", ".join(counts)}'
        return f'{text}.'


def explain(verdicts: Verdicts) -> list[Explanation]:
    """Return an explanation for each host.

    :returns: sorted by the number of failing keys, then by the name of the
        host.
    """
    flavor = verdicts.flavor
    preferences = Preferences(flavor.extra_specs, verdicts.stock.exempt)
    explanations = []
    for host in verdicts.hosts:
        explanation = Explanation(
            flavor=flavor,
            host=host,
            reasons=tuple(verdicts.judge.reasons(host.aggregates)),
            points=tuple(preferences.reasons(host.aggregates)),
        )
        explanations.append(explanation)
    explanations.sort(key=lambda e: (len(e.failing_keys), e.host.name))
    return explanations
