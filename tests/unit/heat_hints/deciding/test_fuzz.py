# SPDX-License-Identifier: Apache-2.0

"""Whatever a template and the providers say, what is sent is Heat's word."""

import unittest

import hypothesis
from hypothesis import strategies as st

from heat_hints.deciding import hints
from os_placement_plugins import signature, stack_hints

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
NAMES = st.text() | st.sampled_from(
    (*stack_hints.RESERVED, 'heat_', 'heat_tier', 'group', '_nova_check_type')
)
HINTS = st.dictionaries(NAMES, JSON, max_size=6)
OWN = {'heat_stack_id': 'own', 'heat_resource_uuid': 'own'}


class TestAnything(unittest.TestCase):
    @hypothesis.given(
        HINTS,
        HINTS,
        HINTS,
        st.sampled_from((hints.USER_OVERRIDE, hints.USER_REJECT)),
        st.sampled_from((hints.FIRST_TEMPLATE, hints.FIRST_PROVIDER)),
        st.booleans(),
    )
    def test_no_reserved_name_is_sent_but_heats_own(
        self, template, other, offer, mode, first, signing
    ):
        # Another plug-in of Heat may add hints to a template's.
        stock = hints.allowed(
            {**template, **other}, template, mode, signing=signing
        )
        user = hints.user_hints(stock or {}, template)
        provided, refused = hints.accept(offer, ())
        self.assertEqual(
            set(map(str, offer)),
            {*provided, *refused}
            | {name for name, value in offer.items() if value is None},
        )
        for sent, own in (
            (hints.merge(OWN, user, provided, mode, first), OWN),
            (stock or {}, {}),
        ):
            for name in sent:
                if name in stack_hints.RESERVED and name in template:
                    self.assertEqual(own.get(name), sent[name])
                if signing and name in template and name not in provided:
                    self.assertFalse(
                        name.startswith(signature.PREFIX) and name not in own
                    )

    @hypothesis.given(st.lists(NAMES), NAMES)
    def test_a_reason_is_one_line(self, names, resource):
        reason = hints.why_refused(names, resource)
        self.assertLessEqual(len((reason or '').splitlines()), 1)
