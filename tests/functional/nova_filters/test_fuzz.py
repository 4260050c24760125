# SPDX-License-Identifier: Apache-2.0

"""Whatever Nova hands over, the filter answers and never raises."""

import logging
import types
import unittest
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from nova import objects

from testing.nova import states, strategies
from tests.functional.nova_filters import base


def _aggregate(name: Any, metadata: Any) -> Any:
    """Return an Aggregate that holds what its fields would not take."""
    aggregate = objects.Aggregate()
    aggregate._obj_name = name
    aggregate._obj_metadata = metadata
    return aggregate


def _request(extra_specs: Any, hints: Any) -> Any:
    """Return a request that holds what its fields would not take."""
    request = states.request({})
    request.flavor._obj_extra_specs = extra_specs
    request._obj_scheduler_hints = hints
    return request


# Nova's objects come into being when they are registered: hence the lambdas.
_AGGREGATES = st.lists(
    st.one_of(
        st.builds(
            _aggregate,
            st.sampled_from(['a', 'b\n', None, 1, '\ud800']),
            st.one_of(st.none(), strategies.anything(), st.just([1])),
        ),
        strategies.any_texts().map(lambda data: _aggregate('text', data)),
        # Fields that nobody set.
        st.builds(lambda: objects.Aggregate()),
        st.builds(lambda: objects.Aggregate(name='name only')),
        st.builds(lambda: objects.Aggregate(metadata={'k': '1'})),
        st.none(),
        st.just('no aggregate'),
    ),
    max_size=3,
)
_HOSTS = st.lists(
    st.one_of(
        _AGGREGATES.map(lambda found: states.host_state('h', found)),
        st.sampled_from([None, 5, 'ab', {}]).map(
            lambda none: types.SimpleNamespace(aggregates=none)
        ),
        st.builds(object),
    ),
    max_size=4,
)
_HINTS = st.sampled_from(
    [{}, None, [], 'rebuild', {'_nova_check_type': None}, {1: object()}]
)
_REQUESTS = st.one_of(
    st.builds(
        _request, strategies.anything() | strategies.any_texts(), _HINTS
    ),
    st.builds(_request, st.sampled_from([None, [], ['k'], 1, 'k']), _HINTS),
    # Fields that nobody set.
    st.builds(lambda: objects.RequestSpec()),
    st.builds(lambda: objects.RequestSpec(flavor=objects.Flavor())),
    st.none(),
    st.builds(object),
)


class FuzzTest(unittest.TestCase):
    """The filter that Nova loaded."""

    def setUp(self) -> None:
        super().setUp()
        self.filter = base.loaded_filter()

    @given(_HOSTS, _REQUESTS)
    def test_anything_at_all_has_an_answer(self, hosts, request) -> None:
        """One by one, hosts get the same one; each line can be written."""
        with base.records() as found:
            passed = self.filter.filter_all(hosts, request)
        identities = [id(host) for host in passed]
        with base.records():
            alone = [self.filter.host_passes(host, request) for host in hosts]
        self.assertEqual([id(h) in identities for h in hosts], alone)
        for message in (record.getMessage() for record in found):
            self.assertTrue(message.isprintable(), message)
            message.encode()
        levels = [record.levelno for record in found]
        for level in (logging.WARNING, logging.INFO, logging.ERROR):
            self.assertLessEqual(levels.count(level), 1, found)
        if logging.ERROR not in levels:
            nowhere = bool(hosts) and not passed
            self.assertEqual(nowhere, logging.INFO in levels)
