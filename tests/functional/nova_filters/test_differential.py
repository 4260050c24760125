# SPDX-License-Identifier: Apache-2.0

"""The same verdicts as the filter that Nova ships, save what is documented.

Both filters judge the same HostStates for the same requests. Where no
sentinel and no flag is used, they differ in two ways only:

* *namespace*: a namespaced key that both sides have is checked (use case 7);
* *crash*: what makes the in-tree filter raise is a plain "no match".

With sentinels and flags, many hosts at once must get the verdicts that the
evaluator gives one by one.
"""

import collections
import random
from typing import Any
from unittest import mock

from nova.scheduler import filters
from nova.scheduler.filters import extra_specs_ops

import tests
from nova_filters.matching import inputs
from nova_filters.matching.reason import Reason
from nova_filters.matching.request import Request
from testing.nova import engine, states
from tests.functional.nova_filters import base, random_requests

#: How many verdicts each comparison takes.
CASES = 1_000_000 if tests.ALL else 20_000
_SEED = 20260101
_MATCH = extra_specs_ops.match


def _tolerant(value: str, req: str) -> bool:
    """Compare as Nova does, and where it raises, say "no match"."""
    try:
        return bool(_MATCH(value, req))
    except (IndexError, ValueError):
        return False


class DifferentialTest(base.OptionTestCase):
    """Random requests, with a fixed seed."""

    def setUp(self) -> None:
        super().setUp()
        base.cloud()
        classes = {
            cls.__name__: cls
            for cls in filters.HostFilterHandler().get_matching_classes(
                [
                    'nova.scheduler.filters.all_filters',
                    'nova_filters.all_filters',
                ]
            )
        }
        self.ours = classes[engine.OURS]()
        self.in_tree = classes[engine.IN_TREE]()

    def test_the_verdict_is_that_of_the_in_tree_filter(self) -> None:
        before = dict(vars(self.ours))
        kinds: collections.Counter[str] = collections.Counter()
        for request in random_requests.requests(
            random.Random(_SEED), random_requests.WORDS, False, CASES
        ):
            passed = self.ours.filter_all(request.hosts, request.spec)
            names = {host.host for host in passed}
            for host in request.hosts:
                kinds[self.compare(host, request, host.host in names)] += 1
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
        self.assertGreaterEqual(kinds.total(), CASES)
        # Nothing of a request is kept on the filter.
        self.assertEqual(before, vars(self.ours))

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

    def test_many_hosts_are_judged_as_each_alone(self) -> None:
        kinds: collections.Counter[str] = collections.Counter()
        name = 'exempt_metadata_keys'
        options = ([], ['k'], ['*:*', 'm'], engine.CONF.nova_filters[name])
        words = (
            *random_requests.WORDS,
            *random_requests.SENTINELS,
            *random_requests.SENTINELS,
        )
        for count, request in enumerate(
            random_requests.requests(random.Random(_SEED), words, True, CASES)
        ):
            exempt = options[count // random_requests.REUSED % len(options)]
            if count % random_requests.REUSED == 0:
                self.set_option(name, exempt)
            flavor = inputs.read_flavor(request.extra_specs)
            passed = self.ours.filter_all(request.hosts, request.spec)
            names = {host.host for host in passed}
            for host in request.hosts:
                alone = Request(flavor, tuple(exempt))
                reason = next(alone.reasons(host.aggregates), None)
                self.assertIs(
                    reason is None,
                    host.host in names,
                    f'{request.extra_specs}, {reason}, {exempt}',
                )
                kinds[_kind(reason)] += 1
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
        self.assertGreaterEqual(kinds.total(), CASES)


def _kind(reason: Reason | None) -> str:
    """Return what kind of verdict this is."""
    return 'passed' if reason is None else f'{reason.side}: {reason.kind}'
