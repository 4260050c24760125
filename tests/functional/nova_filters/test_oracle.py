# SPDX-License-Identifier: Apache-2.0

"""The filter and the weigher of preferences answer what the oracle answers."""

import collections
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from nova.scheduler import weights

import tests
from nova_filters import conf
from nova_filters.weighers import host_weighers
from testing.nova import states
from tests.functional.nova_filters import base, oracle

#: How many verdicts and how many weights are compared.
VERDICTS = 504_000 if tests.ALL else 20_160
WEIGHTS = 120_000 if tests.ALL else 5_040
_SEED = 20260202
_HOSTS = 8
#: After so many requests, the metadata of the aggregates changes.
_REUSED = 10
#: The last one has an exempt key with a namespace.
_EXEMPT = (conf.DEFAULTS['exempt_metadata_keys'], [], ['l', 'ns:?', '[abc'])

_KEYS = (
    'k', 'k', 'k', 'k', 'l', 'l', 'ns:k', 'ns:k', 'availability_zone',
)  # fmt: skip
_ODD_KEYS = (
    'aggregate_preferred:k', 'aggregate_preferred:k', 'aggregate_preferredx:k',
    oracle.FORCE, oracle.PREFER, ':k', 'k:', '', 'L', 'L', 'k ', '[abc',
    f'{oracle.SCOPE}k',
)  # fmt: skip
_PREFIXES = ('', '', '', oracle.SCOPE)
_PREFERENCES = (
    'aggregate_preferred', 'aggregate_preferred', 'aggregate_avoided',
    'aggregate_preferred.2', 'aggregate_avoided.3', 'aggregate_avoided.100',
)  # fmt: skip
_MALFORMED_PREFERENCES = (
    'aggregate_preferred.0', 'aggregate_avoided.101', 'aggregate_preferred.x',
    'aggregate_avoided.', 'aggregate_preferred.1.5', 'aggregate_avoided.+5',
    'aggregate_preferred. 5', 'aggregate_avoided.1e1',
)  # fmt: skip
_FLAGS = ('True', 'True', 'on', 'no, YES', ' 1', 'False', 'Ture', '', ',')
_WORDS = (
    '1', '1', '1', '2', '2', '3.0', 'two', '*', '~', '!', '<or>', '>=',
)  # fmt: skip
_FREQUENT = (
    '1', '1', '*', '~', '!', '!', '<or> 1 <or> ~', '<or> * <or> ~', '<or>',
    '<or> ! <or> 1',
)  # fmt: skip
_TEXTS = (
    '1', '1', '1', '2', '2', '3', ' 1', ' * ', '', '**', '<or> 1 <or> 2',
    '<or> 2 <or> 3', '<or> 2 <or> ~', '<or> * <or> ~ <or> 1', '<or> !',
    '<or> ~', '<or> ! <or> 1', '<or> ! <or> !', '<or> 1 <or>', '<or>', '<or>1',
    '1 <or> 2', '! 1', '<OR> 1', '\t*', '*\u00a0', '<or>\u00a01', 'a,b',
    '>= 2', '>= 2', '>=  2', '>=  2', '>= 3', '>= 2 3', '= 1', '== 1.0',
    '!= 1', '<= 2', '>= two', '>= nan', '>=', '> 2', '1e999', '\u0663',
    's== *', 's== 1', 's!= 1', 's< 2', 's>= 2', 's==', '<in> 1',
    '<all-in> 1 2', '<in>',
)  # fmt: skip


class Case(NamedTuple):
    """One host and one flavor.

    :param flavor: the extra specs.
    :param aggregates: the metadata of each of the host's aggregates.
    :param exempt: the option ``exempt_metadata_keys``.
    """

    flavor: dict[str, str]
    aggregates: list[dict[str, str]]
    exempt: list[str]


def _text(rng: random.Random) -> str:
    if rng.random() < 0.1:
        return ' '.join(rng.choices(_WORDS, k=rng.randint(1, 5)))
    return rng.choice(rng.choice((_FREQUENT, _TEXTS)))


def _key(rng: random.Random) -> str:
    keys = _KEYS if rng.random() < 0.9 else _ODD_KEYS
    return rng.choice(_PREFIXES) + rng.choice(keys)


def _flavor(rng: random.Random) -> dict[str, str]:
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


def _metadata(rng: random.Random) -> dict[str, str]:
    metadata = {}
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
        texts = [_text(rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
        metadata[_key(rng)] = rng.choice((',', ' , ')).join(texts)
    for flag in (oracle.FORCE, oracle.PREFER):
        if rng.random() < 0.5:
            metadata[flag] = rng.choice(_FLAGS)
    return metadata


def _requests(
    number: int, rng: random.Random
) -> Iterator[tuple[Any, list[Any]]]:
    """Yield random requests and hosts, as Nova's own objects.

    :param number: of hosts of all requests.
    """
    aggregates = states.aggregates(*({} for _ in range(10)))
    hosts = [states.host_state(f'h{n}') for n in range(_HOSTS)]
    spec = states.request({})
    for request in range(number // _HOSTS):
        if request % _REUSED == 0:
            for aggregate in aggregates:
                aggregate.metadata = _metadata(rng)
        for host in hosts:
            count = rng.choice((0, 1, 1, 1, 2, 2, 3))
            host.aggregates = rng.sample(aggregates, count)
        spec.flavor.extra_specs = _flavor(rng)
        yield spec, hosts


def _without_one(data: dict[str, str]) -> Iterator[dict[str, str]]:
    for key in data:
        yield {name: text for name, text in data.items() if name != key}


def _smaller(case: Case) -> Iterator[Case]:
    """Yield the case without one extra spec, aggregate or metadata key."""
    for flavor in _without_one(case.flavor):
        yield case._replace(flavor=flavor)
    for n, metadata in enumerate(case.aggregates):
        before, after = case.aggregates[:n], case.aggregates[n + 1 :]
        yield case._replace(aggregates=before + after)
        for rest in _without_one(metadata):
            yield case._replace(aggregates=[*before, rest, *after])


class OracleTest(base.OptionTestCase):
    """Random requests, with a fixed seed."""

    def setUp(self) -> None:
        super().setUp()
        self.filter = base.loaded_filter()
        self.weigher = host_weighers.PreferenceWeigher()

    def verdicts(self, spec: Any, hosts: list[Any]) -> list[bool]:
        """Return whether each host passes the filter."""
        passing = {h.host for h in self.filter.filter_all(hosts, spec)}
        return [host.host in passing for host in hosts]

    def weights(self, spec: Any, hosts: list[Any]) -> list[float]:
        """Return what the weigher gives to each host."""
        weighed = [weights.WeighedHost(host, 0.0) for host in hosts]
        return [round(w, 9) for w in self.weigher.weigh_objects(weighed, spec)]

    def smallest(self, case: Case, differs: Callable[[Case], bool]) -> Case:
        """Return the case without all that does not matter."""
        for smaller in _smaller(case):
            if differs(smaller):
                return self.smallest(smaller, differs)
        return case

    def assert_agreement(self, number: int, ours: Any, theirs: Any) -> None:
        """Assert that we and the oracle give the same answers, and several.

        :param number: of answers.
        :param ours: returns our answers for a request and hosts.
        :param theirs: returns the oracle's answer for a case.
        """

        def both(case: Case) -> tuple[Any, Any]:
            """Return our answer for a host, and the oracle's."""
            self.set_option('exempt_metadata_keys', case.exempt)
            aggregates = states.aggregates(*case.aggregates)
            host = states.host_state('h', aggregates)
            (answer,) = ours(states.request(case.flavor), [host])
            return answer, theirs(*case)

        counts: collections.Counter[Any] = collections.Counter()
        differing = []
        rng = random.Random(_SEED)
        for exempt in _EXEMPT:
            self.set_option('exempt_metadata_keys', exempt)
            for spec, hosts in _requests(number // len(_EXEMPT), rng):
                answers = ours(spec, hosts)
                for host, answer in zip(hosts, answers, strict=True):
                    metadata = [dict(a.metadata) for a in host.aggregates]
                    case = Case(spec.flavor.extra_specs, metadata, exempt)
                    counts[answer] += 1
                    if answer != theirs(*case):
                        differing.append(case)
        if differing:
            shortest = min(differing, key=lambda case: len(repr(case)))
            case = self.smallest(
                shortest, lambda case: len(set(both(case))) > 1
            )
            self.fail(
                f'{len(differing)} of {counts.total()} answers differ; ours '
                f'and the oracle: {both(case)} for {case}'
            )
        # No answer is so frequent that all others hardly matter.
        self.assertLess(counts.most_common(1)[0][1], 0.75 * counts.total())

    def test_the_verdicts_are_those_of_the_oracle(self) -> None:
        self.assert_agreement(VERDICTS, self.verdicts, oracle.passes)

    def test_the_weights_are_those_of_the_oracle(self) -> None:
        def weight(*case: Any) -> float:
            return round(oracle.weight(oracle.points(*case)), 9)

        self.assert_agreement(WEIGHTS, self.weights, weight)
