# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The same verdicts as the filter that Nova ships, save what is documented.

Both filters judge the same HostStates for the same requests. Where no
sentinel and no flag is used, they differ in two ways only:

* *namespace*: a namespaced key that both sides have is checked (use case 7);
* *crash*: what makes the in-tree filter raise is a plain "no match".
"""

import collections
import concurrent.futures
import random
import unittest
from typing import Any

from nova import objects
from nova.scheduler import filters

import nova_filters
from nova_filters import matching
from tests.functional.nova_filters import cloud, random_requests

_SEED = 20260101


def _evaluated(request: random_requests.Request) -> list[bool]:
    """Return what the pure evaluator says of each host."""
    flavor = matching.read_flavor(dict(request.spec.flavor.extra_specs))
    return [
        matching.evaluate(
            flavor,
            [matching.Aggregate(a.name, dict(a.metadata))
             for a in host.aggregates],
        ).passed
        for host in request.hosts
    ]  # fmt: skip


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
        self.ours = classes['AggregateInstanceTypeFilter']()
        self.in_tree = classes['AggregateInstanceExtraSpecsFilter']()

    def test_the_verdict_is_that_of_the_in_tree_filter(self) -> None:
        rng = random.Random(_SEED)
        kinds: collections.Counter[str] = collections.Counter()
        for _ in range(random_requests.CASES):
            request = random_requests.request(rng, sentinels=False)
            passed = self.ours.filter_all(request.hosts, request.spec)
            for host in request.hosts:
                kind = self._compare(host, request.spec, host in passed)
                kinds[kind] += 1
        self.assertEqual(
            {'same, passed', 'same, refused', 'crash', 'namespace'},
            set(kinds),
            kinds,
        )
        self.assertGreater(min(kinds.values()), 100, kinds)

    def _compare(self, host: Any, spec: Any, passed: bool) -> str:
        """Return how our verdict relates to the in-tree filter's."""
        try:
            in_tree = self.in_tree.host_passes(host, spec)
        except (IndexError, ValueError):
            return 'crash'
        if in_tree == passed:
            return 'same, passed' if passed else 'same, refused'
        # Ours refuses, and without the namespaced keys it would not.
        extra_specs = {
            key: value
            for key, value in spec.flavor.extra_specs.items()
            if ':' not in key or key.startswith(matching.SCOPE)
        }
        bare = objects.RequestSpec(
            flavor=objects.Flavor(extra_specs=extra_specs),
            scheduler_hints={},
        )
        if not passed and self.ours.host_passes(host, bare):
            return 'namespace'
        return f'unexplained: {spec.flavor.extra_specs} {passed}'

    def test_the_verdict_is_that_of_the_evaluator(self) -> None:
        rng = random.Random(_SEED)
        kinds: collections.Counter[bool] = collections.Counter()
        for _ in range(random_requests.CASES):
            request = random_requests.request(rng, sentinels=True)
            passed = self.ours.filter_all(request.hosts, request.spec)
            found = [host in passed for host in request.hosts]
            self.assertEqual(
                _evaluated(request), found, request.spec.flavor.extra_specs
            )
            kinds.update(found)
        self.assertGreater(min(kinds[True], kinds[False]), 1000, kinds)

    def test_one_filter_object_serves_many_threads(self) -> None:
        def work(seed: int) -> int:
            rng = random.Random(seed)
            for _ in range(50):
                request = random_requests.request(rng, sentinels=True)
                for aggregate in request.hosts[0].aggregates:
                    aggregate.metadata['k'] = random_requests.text(rng, True)
                passed = self.ours.filter_all(request.hosts, request.spec)
                found = [host in passed for host in request.hosts]
                self.assertEqual(_evaluated(request), found)
            return seed

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            done = list(pool.map(work, range(16)))
        self.assertEqual(list(range(16)), done)

    def test_the_filter_keeps_nothing_of_a_request(self) -> None:
        request = random_requests.request(random.Random(_SEED), sentinels=True)
        before = dict(vars(self.ours))
        self.ours.filter_all(request.hosts, request.spec)
        self.assertEqual(before, vars(self.ours))

    def test_the_module_offers_the_class_that_was_tested(self) -> None:
        self.assertIn(type(self.ours), nova_filters.all_filters())
