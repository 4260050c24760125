# SPDX-License-Identifier: Apache-2.0

"""The candidates of flavors that only aggregates tell apart."""

import json
import unittest

import ddt

from nova_filters.matching import inputs
from nova_filters.spread import flavors

#: Which hosts are in which aggregates, and the metadata of these.
SSD, FAST, BOTH, PLAIN = (
    {'disk': 'ssd'},
    {'net': 'fast'},
    {'disk': 'ssd', 'net': 'fast'},
    {'zone': 'z'},
)


def host(name: str, *metadata: dict[str, str]) -> flavors.Host:
    """Return a host in one aggregate per metadata."""
    aggregates = [inputs.Aggregate(f'{data}', data) for data in metadata]
    return flavors.Host((('host', name),), aggregates)


def flavor(**extra_specs: str) -> str:
    """Return the extra specs of a flavor, as a stored request has them."""
    return json.dumps(
        {f'{inputs.SCOPE}{key}': value for key, value in extra_specs.items()}
    )


@ddt.ddt
class FindTest(unittest.TestCase):
    def find(self, own, other, candidates, other_hosts=(), exempt=()):
        """Return the names of the hosts, or None if nobody can tell."""
        found = flavors.find_candidates(
            own, [other], candidates, other_hosts, exempt
        )
        self.assertLessEqual({*found}, {other})
        if other not in found:
            return None
        return [name for ((_, name),) in found[other].hosts]

    @ddt.data(
        # The same hosts.
        (flavor(net='fast'), [('a', BOTH), ('b', BOTH)], [], ['a', 'b']),
        # Some of them.
        (flavor(net='fast'), [('a', BOTH), ('b', SSD)], [], ['a']),
        # Some of them, and one that is no candidate.
        (
            flavor(net='fast'),
            [('a', BOTH), ('b', SSD)],
            [('c', FAST), ('d', PLAIN)],
            ['a', 'c'],
        ),
        # A candidate that is missing is full, for the other flavor, too.
        (flavor(net='fast'), [('a', BOTH)], [('b', BOTH)], ['a']),
        # None of them.
        (flavor(net='fast'), [('a', SSD)], [('b', FAST)], None),
        # It may have hosts in no aggregate, and nobody knows these.
        (flavor(), [('a', SSD)], [], None),
        (flavor(net='~'), [('a', SSD)], [], None),
        # The flavor of the server may have them, too, and here they all are.
        (flavor(net='~'), [('a',), ('b', PLAIN)], [], ['a', 'b'], flavor()),
        (flavor(zone='<or> z <or> ~'), [('a',)], [], ['a'], flavor()),
        (flavor(zone='z'), [('a',), ('b', PLAIN)], [], ['b'], flavor()),
    )
    @ddt.unpack
    def test_aggregates_tell_the_candidates(
        self, other, candidates, other_hosts, names, own=None
    ) -> None:
        hosts = self.find(
            own or flavor(disk='ssd'),
            other,
            [host(*described) for described in candidates],
            [host(*described) for described in other_hosts],
        )
        self.assertEqual(names, hosts)

    def test_what_aggregates_demand_counts(self) -> None:
        forced = {'force_metadata_check': 'True', 'hw:x': 'y', **BOTH}
        own, other = (
            json.dumps({'hw:x': 'y', f'{inputs.SCOPE}{key}': value})
            for key, value in BOTH.items()
        )
        candidates = [host('a', forced)]
        hosts = self.find(own, other, candidates, exempt=('disk', 'net'))
        self.assertEqual(['a'], hosts)
        self.assertIsNone(self.find(own, other, candidates))

    def test_nothing_in_an_extra_spec_is_an_error(self) -> None:
        for value in (None, 7, ['x'], '<or>', '>= x'):
            other = json.dumps({'disk': value})
            hosts = self.find(flavor(disk='ssd'), other, [host('a', SSD)])
            self.assertIsNone(hosts)
