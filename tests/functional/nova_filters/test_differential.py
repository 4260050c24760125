# SPDX-License-Identifier: Apache-2.0

"""The same verdicts as the filter that Nova ships, save what is documented.

Both filters matcher the same HostStates for the same requests, without a
sentinel that means anything and without a flag that is on. They differ in two
ways only: a namespaced key that both sides have is checked (use case 7), and
what makes the in-tree filter raise is a plain "no match".
"""

import random
from typing import Any
from unittest import mock

from nova.scheduler.filters import (
    aggregate_instance_extra_specs as nova_filter,
)
from nova.scheduler.filters import extra_specs_ops

import tests
from nova_filters.matching.inputs import SCOPE
from testing.nova import states
from tests.functional.nova_filters import base, draws, oracle

#: How many requests there are, with eight hosts each.
REQUESTS = 125_000 if tests.ALL else 2_500
_SEED = 20260101

_MATCH = extra_specs_ops.match


def _metadata(rng: random.Random) -> dict[str, str]:
    """Return the metadata of an aggregate, whose flags are off."""
    data = draws.metadata(rng)
    for flag in (oracle.FORCE, oracle.PREFER):
        if oracle.is_on(data, flag):
            del data[flag]
    return data


def _flavor(rng: random.Random) -> dict[str, str]:
    """Return extra specs without a sentinel, and without a flag."""
    return {
        key: text
        for key, text in draws.flavor(rng).items()
        if oracle.parse(text).isdisjoint(oracle.SENTINELS.values())
        and not key.endswith((oracle.FORCE, oracle.PREFER))
    }


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
        self.ours = base.loaded_filter()
        self.nova = nova_filter.AggregateInstanceExtraSpecsFilter()

    def judge(self, host: Any, spec: Any) -> bool | str:
        """Return whether a host passes for Nova, or what Nova raises."""
        try:
            return bool(self.nova.host_passes(host, spec))
        except (IndexError, ValueError) as exc:
            return type(exc).__name__

    def test_the_verdict_is_that_of_the_in_tree_filter(self) -> None:
        before = dict(vars(self.ours))
        kinds = set()
        for spec, hosts in states.random_requests(
            REQUESTS, random.Random(_SEED), _flavor, _metadata
        ):
            left = self.ours.filter_all(hosts, spec)
            names = {host.host for host in left}
            for host in hosts:
                nova = self.judge(host, spec)
                passed = host.host in names
                kinds.add((passed, nova))
                if passed is not nova:
                    self.assertIs(
                        self.documented(host, spec.flavor.extra_specs),
                        passed,
                        (spec.flavor, host.aggregates),
                    )
        # It never refuses where we do not: (True, False) is not there.
        self.assertEqual(
            {
                (True, True),
                (False, False),
                (False, True),
                (False, 'IndexError'),
                (False, 'ValueError'),
                (True, 'ValueError'),
            },
            kinds,
        )
        # Nothing of a request is kept on the filter.
        self.assertEqual(before, vars(self.ours))

    def documented(self, host: Any, extra_specs: dict[str, str]) -> bool:
        """Ask the in-tree filter for what is documented to differ from it.

        A namespaced key that the host's aggregates have is handed over with
        the scope, so that it is checked; a comparison that raises is none.
        """
        carried: set[str] = set()
        for aggregate in host.aggregates:
            carried.update(aggregate.metadata)
        for key, value in extra_specs.items():
            checked = ':' in key and key in carried
            if checked and not key.startswith(SCOPE):
                key = SCOPE + key
            with mock.patch.object(extra_specs_ops, 'match', _tolerant):
                if self.judge(host, states.request({key: value})) is False:
                    return False
        return True
