# SPDX-License-Identifier: Apache-2.0

"""Whatever Nova hands over, the filter answers and never raises."""

import logging
import types
import unittest
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from nova import objects

from testing.nova import engine, strategies
from tests.functional.nova_filters import base

objects.register_all()


def _holding(nova_object: Any, **fields: Any) -> Any:
    """Return one of Nova's objects with what its fields would not take."""
    for name, value in fields.items():
        setattr(nova_object, f'_obj_{name}', value)
    return nova_object


_ANYTHING = strategies.anything() | strategies.any_texts()
_AGGREGATES = st.builds(
    lambda name, metadata: _holding(
        objects.Aggregate(), name=name, metadata=metadata
    ),
    st.sampled_from(['a', 'b\n', None, 1, '\ud800']),
    _ANYTHING | st.sampled_from([None, [1]]),
) | st.sampled_from(
    [
        # Fields that nobody set.
        objects.Aggregate(),
        objects.Aggregate(name='name only'),
        objects.Aggregate(metadata={'k': '1'}),
        None,
        'no aggregate',
    ]
)
_HOSTS = st.builds(
    lambda aggregates: types.SimpleNamespace(host='h', aggregates=aggregates),
    st.lists(_AGGREGATES, max_size=3) | st.sampled_from([None, 5, 'ab', {}]),
) | st.just(object())
_REQUESTS = st.builds(
    lambda specs, hints: _holding(
        objects.RequestSpec(
            flavor=_holding(objects.Flavor(), extra_specs=specs)
        ),
        scheduler_hints=hints,
    ),
    _ANYTHING | st.sampled_from([None, [], ['k'], 1, 'k']),
    st.sampled_from(
        [{}, None, [], 'rebuild', {'_nova_check_type': None}, {1: object()}]
    ),
) | st.sampled_from(
    [
        objects.RequestSpec(),
        None,
        object(),
        objects.RequestSpec(flavor=objects.Flavor()),
    ]
)


class FuzzTest(unittest.TestCase):
    """The filter that Nova loaded."""

    def setUp(self) -> None:
        super().setUp()
        self.filter = base.loaded_filter()

    @given(st.lists(_HOSTS, max_size=4), _REQUESTS)
    def test_anything_at_all_has_an_answer(self, hosts, request) -> None:
        """One by one, hosts get the same one; each line can be written."""
        with engine.records() as logged:
            passed = self.filter.filter_all(hosts, request)
        identities = [id(host) for host in passed]
        with engine.records():
            alone = [self.filter.host_passes(host, request) for host in hosts]
        self.assertEqual([id(h) in identities for h in hosts], alone)
        for message in (record.getMessage() for record in logged):
            self.assertTrue(message.isprintable(), message)
            message.encode()
        levels = [record.levelno for record in logged]
        for level in (logging.WARNING, logging.INFO, logging.ERROR):
            self.assertLessEqual(levels.count(level), 1, logged)
        if logging.ERROR not in levels:
            nowhere = bool(hosts) and not passed
            self.assertEqual(nowhere, logging.INFO in levels)
