# SPDX-License-Identifier: Apache-2.0

"""What the log says of refused hosts."""

import random
import unittest

import tests
from nova_filters.matching import report
from osc_placement_plugins.source.records import ComputeHost as Host
from osc_placement_plugins.source.records import HostAggregate as Aggregate
from tests.unit.nova_filters.matching.test_matcher import (
    match_hosts,
)

_ON = {'force_metadata_check': 'true'}


#: How many clouds without a host for a flavor are drawn.
_CLOUDS = 1_500 if tests.ALL else 200


def count_reasons(extra_specs, hosts) -> str:
    """Return how many hosts are refused why."""
    matcher, _, refused = match_hosts(extra_specs, hosts)
    return report.count_reasons(matcher, report.list_reasons(matcher, refused))


class ReportTest(unittest.TestCase):
    def test_very_many_reasons_are_not_all_named(self) -> None:
        keys = [f'k{number:02}' for number in range(25)]
        hosts = [
            Host(key, [Aggregate(f'a{number:02}', {key: 'x', **_ON})])
            for number, key in enumerate(keys)
        ]
        counts = [
            f"aggregate 'a{number:02}' demands '{key}' (1)"
            for number, key in enumerate(keys[: report.NAMED])
        ]
        counts.append('15 more reasons')
        self.assertEqual(', '.join(counts), count_reasons({}, hosts))

    def test_the_aggregates_that_demand_a_key_share_a_reason(self) -> None:
        hosts = []
        plain = Aggregate('plain', {'os': 'linux'})
        for name, number in (('red', 9), ('blue', 25)):
            forced = Aggregate(name, {'os': name, **_ON})
            for n in range(number):
                rack = Aggregate(f'rack-{n}', {'rack': str(n)})
                hosts.append(Host(str(n), [forced, rack, plain]))
        # It demands the key, but its host is refused for another key.
        linux = Aggregate('linux', {'os': 'linux', 'gpu': '1', **_ON})
        hosts.append(Host('h', [linux]))
        self.assertEqual(
            "aggregate 'blue', 'red' demands 'os' to be 'blue', 'red' (34), "
            "aggregate 'linux' demands 'gpu' (1)",
            count_reasons({'os': 'linux'}, hosts),
        )

    def test_a_key_that_no_host_meets_comes_first(self) -> None:
        rng = random.Random(20261129)  # noqa: S311
        clouds = 0
        unmet_in_all = 0
        while clouds < _CLOUDS:
            hosts, flavor = draw_cloud(rng)
            matcher, passed, refused = match_hosts(flavor, hosts)
            if passed:
                continue
            clouds += 1
            reasons = report.list_reasons(matcher, refused)
            named = dict.fromkeys(
                reason.mismatch.key for reason in reasons[: report.NAMED]
            )
            unmet = {
                key
                for key, value in flavor.items()
                if not match_hosts({key: value}, hosts)[1]
            }
            unmet_in_all += len(unmet)
            self.assertEqual(unmet, {*[*named][: len(unmet)]}, (flavor, named))
        self.assertGreater(unmet_in_all, clouds / 2)


def draw_cloud(rng: random.Random) -> tuple[list[Host], dict[str, str]]:
    """Return 20 hosts, and extra specs with two to four keys."""
    keys = rng.sample(['arch', 'disk', 'gpu', 'rack'], rng.choice((2, 3, 4)))
    hosts = []
    for number in range(20):
        metadata = {}
        for key in keys:
            if rng.random() < 0.7:
                metadata[key] = rng.choice('ab')
        if rng.random() < 0.1:
            metadata['force_metadata_check'] = 'on'
        hosts.append(Host(str(number), [Aggregate(str(number), metadata)]))
    return hosts, {key: rng.choice('abcd') for key in keys}
