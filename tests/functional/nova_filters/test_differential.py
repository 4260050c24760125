# SPDX-License-Identifier: Apache-2.0

"""The same verdicts as the filter that Nova ships, save what is documented.

Both filters judge the same HostStates for the same requests. Where no
sentinel and no flag is used, they differ in two ways only:

* *namespace*: a namespaced key that both sides have is checked (use case 7);
* *crash*: what makes the in-tree filter raise is a plain "no match".

With sentinels and flags, many hosts at once must get the verdicts that the
evaluator gives one by one. How many verdicts are compared each time is in the
environment variable OPP_DIFFERENTIAL_CASES; run this module with ``python -m
unittest -v`` to see how many there were of each kind.
"""

import collections
import os
import random
import sys
import unittest
from typing import Any
from unittest import mock

from nova.scheduler import filters
from nova.scheduler.filters import extra_specs_ops

import nova_filters
from nova_filters import matching
from testing.nova import engine, states
from tests.functional.nova_filters import cloud, random_requests

#: How many verdicts each comparison takes, at the least and by default.
LEAST, CASES = 10_000, 300_000
VARIABLE = 'OPP_DIFFERENTIAL_CASES'
_SEED = 20260101


def wanted_cases() -> int:
    """Return how many verdicts to compare.

    :raises ValueError: when the environment variable holds nonsense.
    """
    text = os.environ.get(VARIABLE, str(CASES))
    if not text.isdecimal() or int(text) < LEAST:
        raise ValueError(
            f'{VARIABLE} must be a whole number of at least {LEAST}, '
            f'not {text!r}'
        )
    return int(text)


def _tolerant(value: str, req: str) -> bool:
    """Compare as Nova does, and where it raises, say "no match"."""
    try:
        return bool(_MATCH(value, req))
    except (IndexError, ValueError):
        return False


_MATCH = extra_specs_ops.match


class DifferentialTest(unittest.TestCase):
    """Random requests, with a fixed seed."""

    def setUp(self) -> None:
        super().setUp()
        cloud()
        handler = filters.HostFilterHandler()
        classes = {
            cls.__name__: cls
            for cls in handler.get_matching_classes(
                [
                    'nova.scheduler.filters.all_filters',
                    'nova_filters.all_filters',
                ]
            )
        }
        self.ours = classes[engine.OURS]()
        self.in_tree = classes[engine.IN_TREE]()

    def report(self, what: str, kinds: collections.Counter[str]) -> None:
        """Tell how many verdicts there were of each kind."""
        print(
            f'\n{what}: {kinds.total()} verdicts on Nova '
            f'{engine.nova_version()}',
            *(f'  {number:8} {kind}' for kind, number in kinds.most_common()),
            sep='\n',
            file=sys.stderr,
        )

    def test_the_verdict_is_that_of_the_in_tree_filter(self) -> None:
        rng = random.Random(_SEED)
        kinds: collections.Counter[str] = collections.Counter()
        for request in random_requests.requests(
            rng, random_requests.WORDS, False, wanted_cases()
        ):
            passed = self.ours.filter_all(request.hosts, request.spec)
            names = {host.host for host in passed}
            for host in request.hosts:
                kinds[self.compare(host, request, host.host in names)] += 1
        self.report('this filter and the in-tree one', kinds)
        self.assertEqual(
            {
                'same, passed',
                'same, refused',
                'crash, IndexError',
                'crash, ValueError',
                'namespace',
            },
            set(kinds),
        )
        self.assertGreaterEqual(kinds.total(), wanted_cases())

    def compare(
        self, host: Any, request: random_requests.Request, passed: bool
    ) -> str:
        """Return how our verdict relates to the in-tree filter's."""
        what = (
            f'{request.extra_specs}, {[a.metadata for a in host.aggregates]}'
        )
        try:
            in_tree = self.in_tree.host_passes(host, request.spec)
        except (IndexError, ValueError) as exc:
            self.assertIs(self.documented(host, request), passed, what)
            return f'crash, {type(exc).__name__}'
        if in_tree is passed:
            return 'same, passed' if passed else 'same, refused'
        # It never refuses where we do not.
        self.assertTrue(in_tree, what)
        self.assertIs(self.documented(host, request), passed, what)
        return 'namespace'

    def documented(self, host: Any, request: random_requests.Request) -> bool:
        """Ask the in-tree filter for what is documented to differ from it.

        A namespaced key that the host's aggregates have is handed over with
        the scope, so that it is checked; a comparison that raises is none.
        """
        carried = {key for a in host.aggregates for key in a.metadata}
        for key, value in request.extra_specs.items():
            name = key
            if (
                ':' in key
                and not key.startswith(random_requests.SCOPE)
                and key in carried
            ):
                name = random_requests.SCOPE + key
            with mock.patch.object(extra_specs_ops, 'match', _tolerant):
                alone = states.request({name: value})
                if not self.in_tree.host_passes(host, alone):
                    return False
        return True

    def test_the_verdict_is_that_of_the_evaluator(self) -> None:
        rng = random.Random(_SEED)
        kinds: collections.Counter[str] = collections.Counter()
        name, group = 'exempt_metadata_keys', 'nova_filters'
        self.addCleanup(engine.CONF.clear_override, name, group=group)
        options = ([], ['k'], ['*:*', 'm'], engine.CONF[group][name])
        words = (
            *random_requests.WORDS,
            *random_requests.SENTINELS,
            *random_requests.SENTINELS,
        )
        stream = random_requests.requests(rng, words, True, wanted_cases())
        for count, request in enumerate(stream):
            exempt = options[count // random_requests.REUSED % len(options)]
            if count % random_requests.REUSED == 0:
                engine.CONF.set_override(name, exempt, group=group)
            flavor = matching.read_flavor(request.extra_specs)
            passed = self.ours.filter_all(request.hosts, request.spec)
            names = {host.host for host in passed}
            for host in request.hosts:
                verdict = matching.evaluate(
                    flavor,
                    [
                        matching.Aggregate(a.name, a.metadata)
                        for a in host.aggregates
                    ],
                    tuple(exempt),
                )
                self.assertIs(
                    verdict.passed,
                    host.host in names,
                    f'{request.extra_specs}, {verdict.reason}, {exempt}',
                )
                kinds[_kind(verdict)] += 1
        self.report('many hosts at once and the evaluator', kinds)
        self.assertEqual(
            {
                'passed',
                'flavor: missing',
                'flavor: mismatch',
                'flavor: forbidden',
                'flavor: malformed',
                'aggregate: missing',
                'aggregate: mismatch',
                'aggregate: forbidden',
                'aggregate: contradiction',
            },
            set(kinds),
        )
        self.assertGreaterEqual(kinds.total(), wanted_cases())

    def test_the_filter_keeps_nothing_of_a_request(self) -> None:
        rng = random.Random(_SEED)
        before = dict(vars(self.ours))
        for request in random_requests.requests(
            rng, random_requests.WORDS, True, 100
        ):
            self.ours.filter_all(request.hosts, request.spec)
        self.assertEqual(before, vars(self.ours))

    def test_the_module_offers_the_class_that_was_tested(self) -> None:
        self.assertIn(type(self.ours), nova_filters.all_filters())


def _kind(verdict: matching.Verdict) -> str:
    """Return what kind of verdict this is."""
    if verdict.reason is None:
        return 'passed'
    return f'{verdict.reason.side}: {verdict.reason.kind}'


class VariableTest(unittest.TestCase):
    """OPP_DIFFERENTIAL_CASES."""

    def test_it_says_how_many(self) -> None:
        with mock.patch.dict(os.environ, {VARIABLE: '250000'}):
            self.assertEqual(250_000, wanted_cases())

    def test_a_wrong_value_is_told(self) -> None:
        for text in ('', 'many', '-1', '9999', '1e6'):
            with (
                mock.patch.dict(os.environ, {VARIABLE: text}),
                self.assertRaisesRegex(ValueError, 'whole number of at least'),
            ):
                wanted_cases()
