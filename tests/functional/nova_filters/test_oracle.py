# SPDX-License-Identifier: Apache-2.0

"""Filter, weigher of preferences and commands answer as the oracle does."""

import collections
import random
from collections.abc import Callable
from typing import Any

from nova.scheduler import weights

import tests
from nova_filters import conf
from nova_filters.weighers import host_weighers
from osc_placement_plugins import offers
from osc_placement_plugins.records import Aggregate, Flavor, Host, Inventory
from osc_placement_plugins.verdicts import Verdict
from testing.nova import states
from tests.functional.nova_filters import base, oracle

#: How many requests there are, with eight hosts each.
REQUESTS = 60_000 if tests.ALL else 2_400
#: How many clouds the commands look at.
_CLOUDS = 580 if tests.ALL else 58
_SEED = 20260202
#: The last one has an exempt key with a namespace.
_EXEMPT = (conf.DEFAULTS['exempt_metadata_keys'], [], ['l', 'ns:?', '[abc'])

_KEYS = (
    'k', 'k', 'k', 'k', 'l', 'l', 'ns:k', 'ns:k', 'availability_zone',
)  # fmt: skip
_ODD_KEYS = (
    'aggregate_preferred:k', 'aggregate_preferredx:k', oracle.FORCE,
    oracle.PREFER, ':k', 'k:', '', 'L', 'k ', '[abc', f'{oracle.SCOPE}k',
)  # fmt: skip
_PREFIXES = ('', '', '', oracle.SCOPE)
_PREFERENCES = (
    'aggregate_preferred', 'aggregate_preferred', 'aggregate_avoided',
    'aggregate_preferred.2', 'aggregate_avoided.3', 'aggregate_avoided.100',
)  # fmt: skip
_MALFORMED_PREFERENCES = (
    'aggregate_preferred.0', 'aggregate_avoided.101', 'aggregate_preferred.x',
    'aggregate_avoided.', 'aggregate_preferred.1.5', 'aggregate_avoided.+5',
)  # fmt: skip
_FLAGS = ('True', 'True', 'on', 'no, YES', ' 1', 'False', 'Ture', '', ',')
_FREQUENT = (
    '1', '1', '*', '~', '!', '!', '<or> 1 <or> ~', '<or> * <or> ~', '<or>',
    '<or> ! <or> 1',
)  # fmt: skip
_TEXTS = (
    '1', '1', '1', '2', '2', '3', ' 1', ' * ', '', '**', '<or> 1 <or> 2',
    '<or> 2 <or> 3', '<or> 2 <or> ~', '<or> * <or> ~ <or> 1', '<or> !',
    '<or> ~', '<or> ! <or> !', '<or> 1 <or>', '<or>1', '1 <or> 2', '! 1',
    '<OR> 1', '\t*', '<or>\u00a01', 'a,b', '>= 2', '>=  2', '>= 3', '>= 2 3',
    '= 1', '== 1.0', '!= 1', '<= 2', '>= two', '>= nan', '>=', '> 2', '1e999',
    '\u0663', 's== *', 's== 1', 's!= 1', 's< 2', 's>= 2', 's==', '<in> 1',
    '<all-in> 1 2', '<in>', '<all-in>', '== two', '<= -inf', 'nan', 's<= 1',
    's> 1', 's<', '2.5',
)  # fmt: skip


def _text(rng: random.Random) -> str:
    return rng.choice(rng.choice((_FREQUENT, _TEXTS)))


def _key(rng: random.Random) -> str:
    keys = _KEYS if rng.random() < 0.9 else _ODD_KEYS
    return rng.choice(_PREFIXES) + rng.choice(keys)


def draw_flavor(rng: random.Random) -> dict[str, str]:
    flavor = {}
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        key = _key(rng)
        flavor[key] = _text(rng)
        if rng.random() < 0.2:
            flavor[oracle.SCOPE + key] = _text(rng)
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        names = _PREFERENCES
        if rng.random() < 0.1:
            names = _MALFORMED_PREFERENCES
        flavor[f'{rng.choice(names)}:{_key(rng)}'] = _text(rng)
    return flavor


def draw_metadata(rng: random.Random) -> dict[str, str]:
    metadata = {}
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        texts = [_text(rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
        metadata[_key(rng)] = rng.choice((',', ' , ')).join(texts)
    for flag in (oracle.FORCE, oracle.PREFER):
        if rng.random() < 0.5:
            metadata[flag] = rng.choice(_FLAGS)
    return metadata


def _inventory(rng: random.Random, exempt: list[str]) -> Inventory:
    """Return the hosts of a random cloud, of which some are down."""
    names = [f'h{number}' for number in range(8)]
    aggregates = [
        Aggregate(
            f'a{number}',
            draw_metadata(rng),
            tuple(rng.sample(names, number % 4)),
        )
        for number in range(6)
    ]
    services = [
        Host(name, state=rng.choice(('up', 'up', 'down'))) for name in names
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
                REQUESTS // len(_EXEMPT), rng, draw_flavor, draw_metadata
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
        weigher = host_weighers.PreferenceWeigher()

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
            flavors = [Flavor(f'f{n}', draw_flavor(rng)) for n in range(6)]
            expected = collections.defaultdict(set)
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
                verdict = Verdict(flavor, inventory, hosts)
                self.assertEqual(takers & up, {h.name for h in verdict.takers})
                self.assertEqual(takers - up, {h.name for h in verdict.idle})
                refused = sum(len(group.hosts) for group in verdict.groups)
                self.assertEqual(len(hosts) - len(takers), refused)
                if not takers:
                    expected['no'].add(flavor.name)
                elif not takers & up:
                    expected['idle'].add(flavor.name)
                elif len(takers) == 1:
                    expected['one'].add(flavor.name)
            findings = offers.find(flavors, inventory)
            for kind, codes in (
                ('no', {'no-host', 'key-not-offered', 'value-not-offered'}),
                ('idle', {'no-host-up'}),
                ('one', {'one-host'}),
            ):
                names = {f.name for f in findings if f.code.value in codes}
                self.assertEqual(expected[kind], names, inventory.aggregates)
