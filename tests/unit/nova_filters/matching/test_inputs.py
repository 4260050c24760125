# SPDX-License-Identifier: Apache-2.0

"""What the filter reads of extra specs and of metadata."""

import fnmatch
import types
import unittest

from hypothesis import given
from hypothesis import strategies as st

from nova_filters.matching import inputs, requirement


class ExemptionTest(unittest.TestCase):
    @given(st.text(max_size=8), st.text(max_size=8))
    def test_any_text_may_stand_in_the_option(self, key, pattern) -> None:
        patterns = (pattern, f'[{pattern}', f'[!{pattern}', f'*{pattern}]')
        matches = [fnmatch.fnmatchcase(key, each) for each in patterns]
        is_exempt = bool(inputs.compile_exemption(patterns)(key))
        self.assertEqual(any(matches), is_exempt)


class FlavorTest(unittest.TestCase):
    def test_extra_specs_come_by_key(self) -> None:
        specs = inputs.read_flavor(
            {
                'b': '2',
                f'{inputs.SCOPE}b': '1',
                'ns:k': '3',
                f'{inputs.SCOPE}ns:k': '4',
                'a': '5',
            }
        )
        self.assertEqual(
            [
                inputs.FlavorSpec(key, optional, requirement.parse(text))
                for key, optional, text in (
                    ('a', False, '5'),
                    ('b', False, '1'),
                    ('b', False, '2'),
                    # The scope makes a key of a namespace mandatory.
                    ('ns:k', False, '4'),
                    ('ns:k', True, '3'),
                )
            ],
            [*specs],
        )

    def test_the_flags_and_preferences_are_left_out(self) -> None:
        specs = {
            inputs.FLAG: 'true',
            inputs.SOFT_FLAG: 'true',
            f'{inputs.SCOPE}{inputs.FLAG}': 'true',
            'aggregate_preferred:k': '1',
        }
        self.assertEqual((), inputs.read_flavor(specs))
        self.assertEqual((), inputs.read_flavor(None))


class AggregateTest(unittest.TestCase):
    def test_only_a_flag_strips_the_scope_of_a_key(self) -> None:
        metadata = {
            'k': '1',
            f'{inputs.SCOPE}k': '2',
            'gone': None,
        }
        aggregate = inputs.Aggregate('a', metadata)
        self.assertEqual(
            [('k', '1'), (f'{inputs.SCOPE}k', '2')], [*aggregate.items()]
        )
        for flag in inputs.FLAGS:
            aggregate = inputs.Aggregate('a', {**metadata, flag: 'on'})
            items = [*aggregate.items(flag)]
            self.assertEqual([('k', '1'), ('k', '2')], items)
            pieces = [piece.text for piece in aggregate.pieces('k', flag)]
            self.assertEqual(['1', '2'], pieces)

    def test_an_aggregate_of_nova_is_read_as_far_as_it_can_be(self) -> None:
        for fields, readable in (
            ({'name': 'n', 'metadata': {'k': '1'}}, ('n', {'k': '1'})),
            ({'name': 7, 'metadata': None}, ('7', {})),
            ({'metadata': {'k': '1', 2: '3', 'l': 4}}, ('?', {'k': '1'})),
            ({'name': 'n'}, ('n', {})),
            ({'name': 'n', 'metadata': 5}, ('n', {})),
        ):
            nova_aggregate = types.SimpleNamespace(**fields)
            aggregate = inputs.read_aggregate(nova_aggregate)
            self.assertEqual(
                readable, (aggregate.name, aggregate.metadata), fields
            )
