# SPDX-License-Identifier: Apache-2.0

"""Whatever Nova hands over, the filter answers and never raises."""

import logging
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from nova import objects

from nova_filters.matching import inputs
from nova_filters.matching.request import Request
from testing.nova import states, strategies
from tests.functional.nova_filters import base


def _aggregate(name: Any, metadata: Any) -> Any:
    """Return an Aggregate that holds what its fields would not take."""
    aggregate = objects.Aggregate()
    aggregate._obj_name = name
    aggregate._obj_metadata = metadata
    return aggregate


def _host(aggregates: Any) -> Any:
    """Return a host whose aggregates are anything."""
    state = states.host_state('host')
    state.aggregates = aggregates
    return state


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
_NO_LISTS = st.sampled_from([None, 5, 'ab', {}])
_HOSTS = st.lists(
    st.one_of(
        _AGGREGATES.map(lambda found: states.host_state('h', found)),
        st.builds(_host, _NO_LISTS),
        st.builds(object),
    ),
    max_size=4,
)
_HINTS = st.sampled_from(
    [{}, None, [], 'rebuild', {'_nova_check_type': None}, {1: object()}]
)
_REQUESTS = st.one_of(
    st.builds(_request, strategies.anything(), _HINTS),
    st.builds(_request, st.sampled_from([None, [], ['k'], 1, 'k']), _HINTS),
    # Fields that nobody set.
    st.builds(lambda: objects.RequestSpec()),
    st.builds(lambda: objects.RequestSpec(flavor=objects.Flavor())),
    st.none(),
    st.builds(object),
)


def _texts(data: dict[Any, Any]) -> dict[str, str]:
    """Return what Nova's fields would take of a mapping."""
    return {k: value for k, value in data.items() if isinstance(value, str)}


class FuzzTest(base.OptionTestCase):
    """The filter that Nova loaded."""

    def setUp(self) -> None:
        super().setUp()
        self.filter = base.loaded_filter()
        self.set_option('exempt_metadata_keys', [])

    def judge(
        self, hosts: list[Any], request: Any
    ) -> tuple[list[Any], list[logging.LogRecord]]:
        """Return the hosts that pass, and what is logged meanwhile.

        One by one it must be the same ones, and each line must be one line
        that can be written.
        """
        with base.records() as found:
            passed = self.filter.filter_all(hosts, request)
        identities = [id(host) for host in passed]
        with base.records():
            alone = [self.filter.host_passes(h, request) for h in hosts]
        self.assertEqual([id(h) in identities for h in hosts], alone)
        for message in (record.getMessage() for record in found):
            self.assertTrue(message.isprintable(), message)
            message.encode()
        levels = [record.levelno for record in found]
        for level in (logging.WARNING, logging.INFO, logging.ERROR):
            self.assertLessEqual(levels.count(level), 1, found)
        return passed, found

    @given(
        strategies.any_texts(), st.lists(strategies.any_texts(), max_size=3)
    )
    def test_any_text_is_judged_as_the_evaluator_does(
        self, extra_specs, metadata
    ) -> None:
        extra_specs = _texts(extra_specs)
        aggregates = states.aggregates(*map(_texts, metadata))
        hosts = [
            states.host_state('all', aggregates),
            *(states.host_state(a.name, [a]) for a in aggregates),
            states.host_state('none'),
        ]
        flavor = inputs.read_flavor(extra_specs)
        wanted = [
            next(Request(flavor).reasons(host.aggregates), None)
            for host in hosts
        ]
        passed, found = self.judge(hosts, states.request(extra_specs))
        self.assertEqual(
            [h.host for h, r in zip(hosts, wanted, strict=True) if r is None],
            [host.host for host in passed],
        )
        levels = {record.levelno for record in found}
        self.assertEqual(not passed, logging.INFO in levels)
        self.assertNotIn(logging.ERROR, levels)
        # A set of aggregates may belong to two hosts: one line for both.
        self.assertEqual(
            {str(reason) for reason in wanted if reason is not None},
            {
                str(record.args['reason'])
                for record in found
                if record.levelno == logging.DEBUG
            },
        )

    @given(_HOSTS, _REQUESTS)
    def test_anything_at_all_has_an_answer(self, hosts, request) -> None:
        self.judge(hosts, request)
