# SPDX-License-Identifier: Apache-2.0

"""What a stored request says of a server."""

import itertools
import json
import unittest
from typing import Any

import ddt

from nova_filters.matching import inputs
from nova_filters.spread import order, requests
from os_placement_plugins import signature

#: Every combination of filters: those of aggregates, and those of images.
FILTERS = [*itertools.product((False, True), repeat=2)]


def flavor(**fields: Any) -> dict[str, Any]:
    """Return a flavor as a stored request has it."""
    return {'nova_object.data': fields}


def image(**properties: Any) -> dict[str, Any]:
    """Return an image as a stored request has it."""
    data = {'id': 'image', 'properties': {'nova_object.data': properties}}
    return {'nova_object.data': data}


def stored(**changes: Any) -> str:
    """Return a stored request with these changes."""
    data = {
        'project_id': 'project',
        'scheduler_hints': {'heat_root_stack_id': ['root']},
        'instance_group': None,
        'availability_zone': None,
        'flavor': flavor(extra_specs={'a': 'b'}, memory_mb=64),
        'image': image(),
        **changes,
    }
    return json.dumps({'nova_object.data': data})


def needs(*filters: bool, **changes: Any) -> str:
    """Return the digest of a stored request with these changes."""
    return requests.read_kind(stored(**changes), *filters).needs


class StackTest(unittest.TestCase):
    """The stack of a server."""

    def test_the_hints_name_it(self) -> None:
        keys = signature.Keys()
        self.assertEqual(
            ('stack', 'root', 'project'), requests.read_stack(stored(), keys)
        )
        self.assertIsNone(
            requests.read_stack(stored(scheduler_hints=None), keys)
        )

    def test_what_is_no_request_raises(self) -> None:
        for text in (
            '',
            '{',
            '[1]',
            '{"nova_object.data": 1}',
            '[' * 100_000,
            stored(flavor=None)[:-1],
        ):
            with self.assertRaises(ValueError):
                requests.read_stack(text, signature.Keys())


@ddt.ddt
class KindTest(unittest.TestCase):
    """What tells servers apart that have different candidates."""

    @ddt.data(
        {'availability_zone': 'z'},
        {'scheduler_hints': {'different_host': ['x']}},
        {'force_hosts': ['a']},
        {'force_nodes': ['a']},
        {'flavor': flavor(extra_specs={'a': 'b', 'trait:X': 'required'})},
        {'flavor': flavor(extra_specs={'a': 'b', 'hw:cpu_policy': 'x'})},
        {'image': image(hw_architecture='aarch64')},
        {'instance_group': {'nova_object.data': {'uuid': 'group'}}},
    )
    def test_what_decides_the_candidates(self, changes) -> None:
        for filters in FILTERS:
            self.assertNotEqual(
                needs(*filters), needs(*filters, **changes), filters
            )

    @ddt.data(
        {'scheduler_hints': {'heat_root_stack_id': 'x', 'role': 'db'}},
        {'scheduler_hints': {'heat_resource_name': 'other'}},
        {'flavor': flavor(extra_specs={'a': 'b'}, memory_mb=1)},
        {
            'flavor': flavor(
                extra_specs={
                    'a': 'b',
                    'quota:cpu_shares': '9',
                    'nova_filters:x': '1',
                    'aggregate_preferred:disk': 'ssd',
                }
            )
        },
    )
    def test_what_chooses_no_host(self, changes) -> None:
        for filters in FILTERS:
            self.assertEqual(
                needs(*filters), needs(*filters, **changes), filters
            )

    def test_what_a_filter_compares(self) -> None:
        flavors = [
            flavor(extra_specs={'a': 'b'}),
            flavor(extra_specs={f'{inputs.SCOPE}a': 'c'}),
        ]
        other = {'nova_object.data': {'id': 'other'}}
        images = [image(os_type='linux'), image(os_type='windows'), other]
        for aggregates, by_image in FILTERS:
            # The filter here says which candidates a flavor may have.
            digests = {
                needs(aggregates, by_image, flavor=specs) for specs in flavors
            }
            self.assertEqual(aggregates, len(digests) == 1)
            digests = {
                needs(aggregates, by_image, image=data) for data in images
            }
            self.assertEqual(3 if by_image else 1, len(digests))

    def test_the_flavor_is_kept_for_the_filter_alone(self) -> None:
        for aggregates, text in ((False, ''), (True, '{"a": "b"}')):
            kind = requests.read_kind(stored(), aggregates, False)
            self.assertEqual(text, kind.flavor)

    def test_the_order_of_extra_specs_does_not_count(self) -> None:
        one = flavor(extra_specs={'a': 'b', 'c': 'd'})
        other = flavor(extra_specs={'c': 'd', 'a': 'b'})
        for filters in FILTERS:
            self.assertEqual(
                requests.read_kind(stored(flavor=one), *filters),
                requests.read_kind(stored(flavor=other), *filters),
            )

    def test_nothing_of_a_tenants_text_is_kept(self) -> None:
        hints = {'heat_root_stack_id': 'root', 'different_host': 'x' * 10_000}
        kind = requests.read_kind(stored(scheduler_hints=hints), True, True)
        self.assertLess(len(repr(kind)), 1_000)

    def test_what_cannot_be_read_has_a_kind_of_its_own(self) -> None:
        for text in ('', '{', stored(flavor=None), stored(image='x')):
            self.assertEqual(
                order.Kind(), requests.read_kind(text, True, True), text
            )

    def test_a_server_may_have_no_image(self) -> None:
        self.assertNotEqual('', needs(False, False, image=None))
