# SPDX-License-Identifier: Apache-2.0

"""The commands say of random clouds what the filter says in the scheduler."""

import random
import unittest

import tests
from nova_filters import conf
from nova_filters.matching import inputs
from osc_placement_plugins import offers
from osc_placement_plugins.records import Aggregate, Flavor, Host, Inventory
from osc_placement_plugins.verdicts import Verdict
from tests.functional.nova_filters import oracle

_CLOUDS = 580 if tests.ALL else 58
_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_NAMES = [f'h{number}' for number in range(8)]
#: What random aggregates have, and what random flavors ask for.
_OFFERED = {
    'gpu': ('a100', 'h100', 'a100,l4'),
    'cpu': ('2', '3', '4'),
    'os': ('windows', 'rhel', '<or> windows <or> ~', '!'),
    # It is exempt by default.
    'availability_zone': ('a', 'b'),
}
_WANTED = {
    'gpu': ('a100', '<or> h100 <or> l4', '*', '!', '<or> a100 <or> ~', 'v100'),
    'cpu': ('>= 3', '== 4', '>= 5', '<or> 2 <or> 3'),
    'os': ('windows', 'rhel', '~', '<or> rhel <or> ~'),
}


def _metadata(rng: random.Random) -> dict[str, str]:
    keys = rng.sample(sorted(_OFFERED), 2)
    metadata = {key: rng.choice(_OFFERED[key]) for key in keys}
    if rng.random() < 0.25:
        metadata[inputs.FLAG] = 'True'
    return metadata


def _specs(rng: random.Random) -> dict[str, str]:
    keys = rng.sample(sorted(_WANTED), rng.randint(0, 3))
    return {inputs.SCOPE + key: rng.choice(_WANTED[key]) for key in keys}


class RandomCloudTest(unittest.TestCase):
    """Random clouds, with a fixed seed."""

    def setUp(self) -> None:
        super().setUp()
        self.rng = random.Random(20_261_127)

    def draw(self) -> tuple[list[Flavor], Inventory]:
        """Return the flavors and the inventory of a random cloud."""
        rng = self.rng
        aggregates = [
            Aggregate(
                f'a{number}',
                _metadata(rng),
                tuple(rng.sample(_NAMES, rng.randint(0, 3))),
            )
            for number in range(6)
        ]
        flavors = [Flavor(f'f{number}', _specs(rng)) for number in range(6)]
        services = [
            Host(name, state=rng.choice(('up', 'up', 'down')))
            for name in _NAMES
        ]
        return flavors, Inventory(aggregates, _EXEMPT, services)

    def test_explain_and_lint_agree_with_the_oracle(self) -> None:
        for _ in range(_CLOUDS):
            flavors, inventory = self.draw()
            hosts = [*inventory.hosts.values()]
            up = {host.name for host in hosts if host.usable}
            expected: dict[str, set[str]] = {
                'no': set(),
                'idle': set(),
                'one': set(),
            }
            for flavor in flavors:
                takers = {
                    host.name
                    for host in hosts
                    if oracle.passes(
                        flavor.extra_specs,
                        [a.metadata for a in host.aggregates],
                        [*_EXEMPT],
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
