# SPDX-License-Identifier: Apache-2.0

"""Filter, weigher of preferences and commands answer as the oracle does."""

import collections
import random
from collections.abc import Callable
from typing import Any

from nova.scheduler import weights

import tests
from nova_filters import conf
from nova_filters.weighers import preference
from osc_placement_plugins.explain.matches import HostMatches
from osc_placement_plugins.inventory import Inventory
from osc_placement_plugins.lint import mistakes
from osc_placement_plugins.source.records import (
    ComputeHost,
    Flavor,
    HostAggregate,
)
from testing.nova import states
from tests.functional.nova_filters import base, draws, oracle

#: How many requests there are, with eight hosts each.
REQUESTS = 60_000 if tests.ALL else 2_400
#: How many clouds the commands look at.
_CLOUDS = 580 if tests.ALL else 58
_SEED = 20260202
#: The last one has an exempt key with a namespace.
_EXEMPT = (conf.DEFAULTS['exempt_metadata_keys'], [], ['l', 'ns:?', '[abc'])


def _inventory(rng: random.Random, exempt: list[str]) -> Inventory:
    """Return the hosts of a random cloud, of which some are down."""
    names = [f'h{number}' for number in range(8)]
    aggregates = [
        HostAggregate(
            f'a{number}',
            draws.metadata(rng),
            tuple(rng.sample(names, number % 4)),
        )
        for number in range(6)
    ]
    services = [
        ComputeHost(name, state=rng.choice(('up', 'up', 'down')))
        for name in names
    ]
    return Inventory(aggregates, tuple(exempt), services)


class OracleTest(base.OptionTestCase):
    """Random requests, with a fixed seed."""

    def assert_agreement(
        self,
        ours: Callable[[Any, list[Any]], list[Any]],
        theirs: Callable[..., Any],
    ) -> None:
        """Assert that we and the oracle give the same answers, and several.

        :param ours: returns our answers for a request and hosts.
        :param theirs: returns the oracle's answer for extra specs, the
            metadata of a host's aggregates, and exempt keys.
        """
        counts: collections.Counter[Any] = collections.Counter()
        rng = random.Random(_SEED)
        for exempt in _EXEMPT:
            self.set_option('exempt_metadata_keys', exempt)
            for spec, hosts in states.random_requests(
                REQUESTS // len(_EXEMPT), rng, draws.flavor, draws.metadata
            ):
                answers = ours(spec, hosts)
                for host, answer in zip(hosts, answers, strict=True):
                    metadata = [dict(a.metadata) for a in host.aggregates]
                    case = spec.flavor.extra_specs, metadata, exempt
                    self.assertEqual(theirs(*case), answer, case)
                    counts[answer] += 1
        # No answer is so frequent that all others hardly matter.
        self.assertLess(counts.most_common(1)[0][1], 0.75 * counts.total())

    def test_the_verdicts_are_those_of_the_oracle(self) -> None:
        our_filter = base.loaded_filter()

        def verdicts(spec: Any, hosts: list[Any]) -> list[bool]:
            passing = {h.host for h in our_filter.filter_all(hosts, spec)}
            return [host.host in passing for host in hosts]

        self.assert_agreement(verdicts, oracle.passes)

    def test_the_weights_are_those_of_the_oracle(self) -> None:
        self.set_option('preference_weight_multiplier', 1.0)
        weigher = preference.PreferenceWeigher()

        def weigh(spec: Any, hosts: list[Any]) -> list[float]:
            weighed = [weights.WeighedHost(host, 0.0) for host in hosts]
            values = weigher.weigh_objects(weighed, spec)
            return [round(value, 9) for value in values]

        def weight(*case: Any) -> float:
            return round(oracle.weight(oracle.points(*case)), 9)

        self.assert_agreement(weigh, weight)

    def test_explain_and_lint_agree_with_the_oracle(self) -> None:
        rng = random.Random(_SEED)
        for number in range(_CLOUDS):
            exempt = _EXEMPT[number % len(_EXEMPT)]
            inventory = _inventory(rng, exempt)
            hosts = [*inventory.hosts.values()]
            up = {host.name for host in hosts if host.usable}
            flavors = [Flavor(f'f{n}', draws.flavor(rng)) for n in range(6)]
            expected = set()
            for flavor in flavors:
                takers = {
                    host.name
                    for host in hosts
                    if oracle.passes(
                        flavor.extra_specs,
                        [aggregate.metadata for aggregate in host.aggregates],
                        exempt,
                    )
                }
                matches = HostMatches(flavor, inventory, hosts)
                self.assertEqual(takers & up, {h.name for h in matches.takers})
                self.assertEqual(takers - up, {h.name for h in matches.idle})
                refused = len(matches.refused)
                self.assertEqual(len(hosts) - len(takers), refused)
                if not takers & up:
                    expected.add(flavor.name)
            findings = mistakes.find_mistakes(flavors, inventory)
            codes = {'no-host', 'not-offered'}
            names = {f.name for f in findings if f.code.value in codes}
            # A malformed value already says why no host takes a flavor.
            codes |= {'malformed-value'}
            told = {f.name for f in findings if f.code.value in codes}
            self.assertLessEqual(names, expected, inventory.aggregates)
            self.assertLessEqual(expected, told, inventory.aggregates)
