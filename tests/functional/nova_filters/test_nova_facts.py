# SPDX-License-Identifier: Apache-2.0

"""What the commands say about Nova, held against the Nova that is there."""

import collections
import random
import re
import unittest
from typing import Any

import ddt
from nova import exception, objects
from nova.api.validation.extra_specs import validators
from nova.scheduler import host_manager
from nova.scheduler.filters import aggregate_instance_extra_specs

from nova_filters.advice import in_tree, mistakes
from nova_filters.matching import inputs, requirement
from nova_filters.matching.reason import Reason
from testing.nova import states
from tests.functional.nova_filters import base, random_requests

_SEED = 20260102
#: How many verdicts are compared.
_CASES = 10_000


class AggregateTest(unittest.TestCase):
    """What the evaluator needs of Nova's Aggregates."""

    def test_a_dictionary_tells_them_apart_by_identity(self) -> None:
        base.cloud()
        one, same = states.aggregates({'k': '1'}, {'k': '1'})
        same.id, same.name = one.id, one.name
        self.assertEqual(2, len({one, same}))


class InTreeTest(unittest.TestCase):
    """The in-tree verdict as a client states it, and as Nova gives it."""

    def test_the_stated_verdict_is_that_of_the_filter(self) -> None:
        base.cloud()
        rng = random.Random(_SEED)
        nova = (
            aggregate_instance_extra_specs.AggregateInstanceExtraSpecsFilter()
        )
        kinds: collections.Counter[str] = collections.Counter()
        # Sentinels are plain text to both.
        words = (*random_requests.WORDS, *random_requests.SENTINELS)
        for request in random_requests.requests(rng, words, False, _CASES):
            for host in request.hosts:
                reason = in_tree.refusal(
                    request.extra_specs.items(),
                    [
                        inputs.Aggregate(a.name, dict(a.metadata))
                        for a in host.aggregates
                    ],
                )
                try:
                    passed = nova.host_passes(host, request.spec)
                except (IndexError, ValueError):
                    found = 'raised'
                else:
                    found = 'passed' if passed else 'refused'
                kinds[f'{_stated(reason)}, {found}'] += 1
        # Whether Nova meets the value that makes it raise before one that
        # matches depends on the order of a set; then other keys decide.
        for end in ('passed', 'refused'):
            del kinds[f'raised, {end}']
        self.assertEqual(
            {'passed, passed', 'refused, refused', 'raised, raised'},
            set(kinds),
            kinds,
        )


def _stated(reason: Reason | None) -> str:
    """Return how the stated verdict is counted."""
    if reason is None:
        return 'passed'
    return 'raised' if reason.problem == in_tree.RAISES else 'refused'


@ddt.ddt
class LintTest(unittest.TestCase):
    """What the findings say of other parts of Nova."""

    def test_capabilities_are_what_nova_knows_of_a_host(self) -> None:
        state = host_manager.HostState('host', 'node', objects.ComputeNode())
        known = {
            name
            for name in dir(state)
            if name[0] != '_' and not callable(getattr(state, name))
        }
        # What a nova-compute reports of its load stands beside them.
        self.assertEqual(known | {'io_workload'}, mistakes.CAPABILITIES)

    def test_the_api_refuses_sentinels_where_the_finding_says_so(self) -> None:
        kinds: collections.Counter[bool] = collections.Counter()
        for validator in validators.VALIDATORS.values():
            key = _example(validator)
            for text in ('*', '~', '!', '<or> 1 <or> ~'):
                codes = {
                    p.code
                    for p in mistakes.scope(key, requirement.parse(text))
                }
                found = mistakes.Code.REFUSED_BY_API in codes
                self.assertIs(_refused(key, text), found, (key, text))
                kinds[found] += 1
        self.assertGreater(min(kinds[True], kinds[False]), 10, kinds)

    def test_the_api_refuses_keys_that_it_does_not_know(self) -> None:
        for namespace, known in (
            ('capabilities', 'hypervisor_type'),
            ('accel', 'device_profile'),
            ('vmware', 'hw_version'),
        ):
            for text in ('1', '*', '~', '!'):
                self.assertFalse(_refused(f'{namespace}:{known}', text))
                self.assertTrue(_refused(f'{namespace}:gpu', text))

    @ddt.data('quota:no_such_key', 'unknown:key', 'bare', 'my:own:key')
    def test_the_api_takes_sentinels_on_the_remedy(self, key: str) -> None:
        self.assertFalse(
            _refused(f'aggregate_instance_extra_specs:{key}', '~')
        )


def _example(validator: Any) -> str:
    """Return a key that a validator is for."""
    for part in ('1', '_A', ':x', 'HW_CPU_X86_VMX'):
        key = re.sub(r'{\w+}', part, validator.name)
        if re.fullmatch(validator.name_regex, key):
            return key
    raise AssertionError(validator.name)


def _refused(key: str, text: str) -> bool:
    """Tell whether Nova's API refuses an extra spec."""
    try:
        validators.validate(key, text)
    except exception.ValidationError:
        return True
    return False
