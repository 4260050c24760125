# SPDX-License-Identifier: Apache-2.0

"""What capacity tells of random inventories, and what Placement then takes."""

import collections
import random
import unittest
from typing import Any

from oslo_utils import uuidutils

from openstack_commands.aggregates.advice import (
    capacity,
    demand,
    inventory,
    offers,
)
from tests import ALL
from tests.functional.nova_filters import base

_SEED = 20_261_124
_INVENTORIES = 500 if ALL else 40
_CLASSES = ('CUSTOM_CPU', 'CUSTOM_MEMORY', 'CUSTOM_DISK')
_CPU, _MEMORY, _DISK = _CLASSES
_TRAIT = 'CUSTOM_FAST'
_VERSION = '1.36'
_SHARING = 'MISC_SHARES_VIA_AGGREGATE'


class Placement:
    """The real Placement, with providers that go at the end.

    :param api: Nova's client.
    """

    def __init__(self, api: Any) -> None:
        self._api = api
        self._providers: list[str] = []
        self._consumers: list[str] = []

    def ask(self, path: str, **query: str) -> Any:
        """Return the answer to a GET."""
        words = '&'.join(f'{key}={value}' for key, value in query.items())
        answer = self._api.get(f'{path}?{words}', version=_VERSION)
        assert answer.status_code == 200, answer.text  # noqa: S101
        return answer.json()

    def put(self, path: str, body: Any) -> None:
        """Write something; any other answer than success is an error."""
        answer = self._api.put(path, body, version=_VERSION)
        assert answer.status_code < 300, (path, body, answer.text)  # noqa: S101

    def add_provider(
        self, inventories: dict[str, dict[str, Any]], parent: str = ''
    ) -> str:
        """Make a provider and return its ID."""
        uuid = uuidutils.generate_uuid()
        body = {'name': uuid, 'uuid': uuid}
        if parent:
            body['parent_provider_uuid'] = parent
        answer = self._api.post('/resource_providers', body, version=_VERSION)
        assert answer.status_code < 300, answer.text  # noqa: S101
        self._providers.append(uuid)
        self.put(
            f'/resource_providers/{uuid}/inventories',
            {
                'resource_provider_generation': 0,
                'inventories': inventories,
            },
        )
        return uuid

    def add_traits(self, provider: str, *traits: str) -> None:
        """Give a provider traits."""
        self.change(provider, 'traits', traits)

    def join(self, provider: str, aggregate: str) -> None:
        """Put a provider into an aggregate."""
        self.change(provider, 'aggregates', [aggregate])

    def change(self, provider: str, noun: str, values: Any) -> None:
        """Write the traits or the aggregates of a provider."""
        path = f'/resource_providers/{provider}'
        generation = self.ask(path)['generation']
        body = {'resource_provider_generation': generation, noun: values}
        self.put(f'{path}/{noun}', body)

    def claim(self, candidate: dict[str, Any]) -> bool:
        """Take a candidate; return whether it was still there."""
        consumer = uuidutils.generate_uuid()
        body = {
            'allocations': candidate['allocations'],
            'project_id': 'p',
            'user_id': 'u',
            'consumer_generation': None,
        }
        path = f'/allocations/{consumer}'
        answer = self._api.put(path, body, version=_VERSION)
        if answer.status_code >= 300:
            return False
        self._consumers.append(consumer)
        return True

    def clear(self) -> None:
        """Remove what was made, children first."""
        for consumer in self._consumers:
            self._api.delete(f'/allocations/{consumer}')
        for provider in reversed(self._providers):
            answer = self._api.delete(f'/resource_providers/{provider}')
            assert answer.status_code < 300, answer.text  # noqa: S101
        self._consumers.clear()
        self._providers.clear()


def _inventory(rng: random.Random, total: int) -> dict[str, Any]:
    """Return a random inventory."""
    return {
        'total': total,
        'reserved': rng.choice((0, 0, 1)),
        'allocation_ratio': rng.choice((1.0, 1.5, 2.0)),
        'max_unit': rng.choice((total, total, 3)),
        'step_size': rng.choice((1, 1, 2)),
    }


def _draw(rng: random.Random, placement: Placement) -> dict[str, str]:
    """Make random hosts; return them by the IDs of their nodes."""
    pools = {}
    for _ in range(rng.randint(0, 2)):
        disk = {_DISK: _inventory(rng, rng.randint(2, 12))}
        pool = placement.add_provider(disk)
        aggregate = uuidutils.generate_uuid()
        placement.add_traits(pool, _SHARING)
        placement.join(pool, aggregate)
        pools[aggregate] = pool
    nodes = {}
    for number in range(rng.randint(1, 5)):
        inventories = {_MEMORY: _inventory(rng, rng.randint(2, 8))}
        cells = rng.choice((0, 0, 0, 1, 2))
        if not cells:
            inventories[_CPU] = _inventory(rng, rng.randint(2, 8))
        aggregate = rng.choice([*pools, ''])
        if not aggregate:
            inventories[_DISK] = _inventory(rng, rng.randint(2, 8))
        node = placement.add_provider(inventories)
        traits = [_TRAIT] * (rng.random() < 0.7)
        placement.add_traits(node, *traits)
        if aggregate:
            placement.join(node, aggregate)
        for _ in range(cells):
            cpu = {_CPU: _inventory(rng, rng.randint(2, 6))}
            placement.add_provider(cpu, node)
        nodes[node] = f'h{number}'
    return nodes


class CapacityTest(unittest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cloud = base.cloud()
        self.api = self.cloud.placement
        self.placement = Placement(self.api)
        for name in _CLASSES:
            self.placement.put(f'/resource_classes/{name}', None)
            self.addCleanup(self.api.delete, f'/resource_classes/{name}')
        self.placement.put(f'/traits/{_TRAIT}', None)
        self.addCleanup(self.api.delete, f'/traits/{_TRAIT}')
        self.addCleanup(self.placement.clear)

    def cut(self, number: int) -> None:
        """Let Placement tell of so many candidates; -1 for all."""
        self.cloud.placement_options.set_override(
            'max_allocation_candidates', number, group='placement'
        )

    def room(
        self, resources: demand.Demand, nodes: dict[str, str], hosts: set[str]
    ) -> capacity.Room:
        """Return what is told, from the questions of the command."""
        answer = self.placement.ask(
            '/allocation_candidates', **resources.query
        )
        candidates = capacity.Candidates(answer, nodes)
        counted = [node for node, host in nodes.items() if host in hosts]
        able = {}
        if not candidates.is_plain(counted):
            rows = self.placement.ask('/resource_providers', required=_SHARING)
            sharing = [row['uuid'] for row in rows['resource_providers']]
            for name, query in resources.parts.items():
                rows = self.placement.ask('/resource_providers', **query)
                able[name] = offers.able(
                    rows['resource_providers'], name, nodes, sharing
                )
        return capacity.count('f', hosts, nodes, answer, able, [])

    def fill(
        self, resources: demand.Demand, nodes: dict[str, str], hosts: set[str]
    ) -> int:
        """Claim one server after the other; return how many fit."""
        servers = 0
        while True:
            answer = self.placement.ask(
                '/allocation_candidates', **resources.query
            )
            usable = []
            for candidate in answer['allocation_requests']:
                candidate_hosts = {
                    nodes.get(self.root(answer, provider))
                    for provider in candidate['allocations']
                }
                if candidate_hosts & hosts:
                    usable.append(candidate)
            if not usable or not self.placement.claim(usable[0]):
                return servers
            servers += 1

    def root(self, answer: Any, provider: str) -> str:
        """Return the root of a provider."""
        summary = answer['provider_summaries'][provider]
        return str(summary['root_provider_uuid'])

    def test_what_is_told_is_what_fits(self) -> None:
        rng = random.Random(_SEED)
        kinds: collections.Counter[str] = collections.Counter()
        self.addCleanup(self.cut, -1)
        for number in range(_INVENTORIES):
            nodes = _draw(rng, self.placement)
            hosts = set(rng.sample(sorted(nodes.values()), len(nodes)))
            if len(hosts) > 1 and rng.random() < 0.3:
                hosts.pop()
            specs = {
                f'resources:{name}': str(rng.randint(1, 3))
                for name in _CLASSES
            }
            specs |= dict.fromkeys(
                ('resources:VCPU', 'resources:MEMORY_MB'), '0'
            )
            if rng.random() < 0.5:
                specs[f'trait:{_TRAIT}'] = rng.choice(
                    ('required', 'forbidden')
                )
            resources = demand.of(inventory.Flavor('f', specs))
            limit = rng.choice((-1, 1, 2, 3))
            self.cut(limit)
            room = self.room(resources, nodes, hosts)
            self.cut(-1)
            fits = self.fill(resources, nodes, hosts)
            drawn = (number, limit, specs, room, fits)
            if room.bound == capacity.AT_LEAST:
                self.assertLessEqual(room.servers, fits, drawn)
            else:
                self.assertEqual(room.servers, fits, drawn)
            kinds[room.bound] += 1
            kinds['full'] += not fits
            self.placement.clear()
        self.assertGreater(min(kinds.values()), _INVENTORIES // 20, kinds)
        self.assertEqual(3, len(kinds), kinds)
