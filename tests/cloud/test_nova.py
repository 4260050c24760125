# SPDX-License-Identifier: Apache-2.0

"""Which hosts of a real cloud the flavors of the specification may use."""

import itertools

import ddt

from testing.nova import cases
from tests.cloud import base, nova_base

CASES = {case.slug: case for case in cases.examples()}


@ddt.ddt
class TestUseCases(nova_base.PlacementTest):
    """Every example of the specification, one server after the other.

    Servers that may not share a host show for each flavor which hosts it
    may use: as many of them boot, each on a host of its own, and the next
    one finds no valid host.
    """

    @ddt.data(*CASES)
    def test_use_case(self, slug):
        case = CASES[slug]
        placed = dict(
            zip(
                nova_base.HOSTS,
                itertools.cycle(case.aggregates),
                strict=False,
            )
        )
        for aggregate, metadata in case.aggregates.items():
            self.make_aggregate(
                metadata,
                *(host for host in placed if placed[host] == aggregate),
            )
        wanted = {
            flavor: {
                host
                for host, aggregate in placed.items()
                if aggregate in case.boots_in(flavor)
            }
            for flavor in case.flavors
        }
        flavors = {
            flavor: self.make_flavor(extra_specs)
            for flavor, extra_specs in case.flavors.items()
        }
        groups = {flavor: self.make_group() for flavor in flavors}
        used: dict[str, set[str]] = {flavor: set() for flavor in flavors}
        refused: dict[str, str] = {}
        for _ in nova_base.HOSTS:
            booted = {
                flavor: self.boot(flavors[flavor], {'group': groups[flavor]})
                for flavor in flavors
                if flavor not in refused
            }
            hosts = self.hosts_of(booted.values())
            for flavor, server in booted.items():
                host = hosts[server]
                if host is None:
                    refused[flavor] = server
                else:
                    used[flavor].add(host)
                spec = self.request_spec(self.region, server)
                self.assertEqual(
                    flavors[flavor],
                    spec['flavor']['nova_object.data']['flavorid'],
                )
        self.assertEqual(wanted, used)
        for flavor, server in refused.items():
            with self.subTest(flavor=flavor):
                # The hosts of the group were out of the question already.
                left = len(placed) - len(wanted[flavor])
                self.assertEqual(left, sum(self.reasons(server).values()))


class TestMetadata(nova_base.PlacementTest):
    def test_change_of_metadata_counts_at_once(self):
        aggregate = self.make_aggregate(
            {'os': 'windows', 'force_metadata_check': 'True'},
            *self.hosts,
        )
        flavor = self.make_flavor({})
        for forced in ('True', 'False', 'True'):
            with self.subTest(force_metadata_check=forced):
                self.compute.set_aggregate_metadata(
                    aggregate, {'force_metadata_check': forced}
                )
                # Enough of them for both schedulers.
                servers = self.at_once(self.boot, [flavor] * 4)
                hosts = set(self.hosts_of(servers).values())
                if forced == 'False':
                    self.assertNotIn(None, hosts)
                    continue
                self.assertEqual({None}, hosts)
                for server in servers:
                    (reason,) = self.reasons(server)
                    self.assertEqual(
                        len(self.hosts), self.reasons(server)[reason], reason
                    )
                    self.assertIn("demands 'os'", reason)


class TestMetadataInNewestNova(TestMetadata):
    region = base.TWO
