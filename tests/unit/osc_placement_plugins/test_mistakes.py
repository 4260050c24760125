# SPDX-License-Identifier: Apache-2.0

"""Each mistake in one key or one value, and what was probably meant."""

import functools
import unittest
from collections.abc import Callable, Iterable
from typing import Any

import ddt

from nova_filters.matching import inputs, requirement
from osc_placement_plugins import mistakes
from osc_placement_plugins.mistakes import FindingCode as Code

FLAG = inputs.FLAG
_Check = Callable[..., Iterable[mistakes.Finding]]


def of_text(check: _Check, *more: str) -> Iterable[mistakes.Finding]:
    """Check a value, perhaps with its key before it."""
    *key, text = more
    return check(*key, requirement.parse(text))


malformed = functools.partial(of_text, mistakes.malformed)
unmatchable = functools.partial(of_text, mistakes.unmatchable)

#: A check, the code of what it finds, the key or the value that was meant, and
#: each what is checked.
MISTAKES: tuple[tuple[Any, ...], ...] = (
    (malformed, Code.MALFORMED_VALUE, '', '<or> ! <or> 1', '<or>', '== two'),
    (malformed, Code.MISPLACED_OR, '<or> 1 <or> 2', '1 <or> 2'),
    (malformed, Code.MISPLACED_OR, '', '<or> 1 2 <or> 3', '1 2 <or>', '1<or>'),
    (malformed, Code.UNKNOWN_OPERATOR, '', ' >=2 '),
    (mistakes.expanded, Code.EXPANDED_TILDE, '~', '/root', '/Users/me'),
    (
        mistakes.expanded,
        Code.EXPANDED_TILDE,
        '<or> 1 <or> ~',
        '<or> 1 <or> /home/me',
    ),
    (mistakes.expanded, Code.EXPANDED_TILDE, '1,/root', '1,/root'),
    (
        mistakes.misspelled_key,
        Code.MISSPELLED_FLAG,
        '',
        *('force_metadata', 'Force-Metadata-Check', inputs.SCOPE + FLAG),
        'prefer_metadata_chek',
    ),
    (mistakes.misspelled_key, Code.OUTER_SPACE, 'k', 'k ', ' k'),
    (
        mistakes.misspelled_key,
        Code.OUTER_SPACE,
        f'{inputs.SCOPE}k',
        *(f'{inputs.SCOPE}k ', f'{inputs.SCOPE} k'),
    ),
    *(
        (
            mistakes.misspelled_namespace,
            Code.MISSPELLED_PREFERENCE,
            meant,
            name,
        )
        for name, meant in (
            ('aggregate_prefer:disk', 'aggregate_preferred:disk'),
            ('aggregate_avoid:hw:cpu', 'aggregate_avoided:hw:cpu'),
            # It is near to both.
            ('aggregate_red:disk', 'aggregate_preferred:disk'),
            ('aggregate_preferred_10:disk', 'aggregate_preferred.10:disk'),
            ('Aggregate-Avoided10:disk', 'aggregate_avoided.10:disk'),
        )
    ),
    (
        mistakes.misspelled_namespace,
        Code.MISSPELLED_SCOPE,
        f'{inputs.SCOPE}hw:ssd',
        f'x:y:{inputs.SCOPE}hw:ssd',
        f' {inputs.SCOPE}hw:ssd',
        'aggregate_instance_extra_spec:hw:ssd',
        'aggregate-instance-extra-specs:hw:ssd',
        'aggregate_instances_extra_specs:hw:ssd',
        'AggregateInstanceExtraSpecs:hw:ssd',
        'AggregateInstanceExtraSpecsFilter:hw:ssd',
        'aggregate_instance_extra_specs :hw:ssd',
        'aggregate_extra_specs:hw:ssd',
    ),
    (unmatchable, Code.COMMA_IN_FLAVOR, '<or> 1 <or> 2', '1,2', '1, 2'),
    (
        unmatchable,
        Code.COMMA_IN_FLAVOR,
        '<or> 3 <or> 1 <or> 2',
        '<or> 3 <or> 1,2',
    ),
    (
        unmatchable,
        Code.COMMA_IN_FLAVOR,
        '',
        *('s== 1,2', '<in> 1,2', '1,,2', 'a b,c', '1,<or>'),
    ),
    (unmatchable, Code.OUTER_SPACE, '1', ' 1'),
    (
        mistakes.flag,
        Code.UNCLEAR_FLAG,
        '',
        *((FLAG, text) for text in ('Ture', 'enabled', '2')),
    ),
    (
        mistakes.flag,
        Code.MISSPELLED_FLAG,
        '',
        (inputs.SCOPE + inputs.SOFT_FLAG, 'True'),
    ),
)
#: A check, and each in what it finds nothing.
SOUND: tuple[tuple[Any, ...], ...] = (
    (malformed, '', '1', '*', '!', '~', '<or> 1', '<or> 1 <or> 2', '>= 2'),
    (malformed, 's== <or>', '<in> a <or> b', 'a>b', '<all-in> 1 2'),
    (mistakes.expanded, '/rooted', '/home', '/home/me/x', 'x/root', '~'),
    (mistakes.misspelled_key, 'metadata', 'check_force', 'force_image_check'),
    (mistakes.misspelled_key, 'k', f'{inputs.SCOPE}k'),
    (
        mistakes.misspelled_namespace,
        *('aggregate_preferred:disk', 'aggregate_prefer'),
        *('aggregate_avoided.10:disk', 'hw:cpu_policy', 'aggregate:disk'),
        *(f'{inputs.SCOPE}disk', 'extra_specs:disk', 'capabilities:x'),
        'aggregate_instance_type_filter:x',
    ),
    (unmatchable, '1', '<or> 1 <or> 2', 's!= 1,2', '>= 2', '*', '~'),
    (
        mistakes.flag,
        *((FLAG, text) for text in ('True', 'yes', 'x,1', 'False', ' No ')),
        *((FLAG, text) for text in ('0', 'off', '')),
    ),
)


@ddt.ddt
class MistakesTest(unittest.TestCase):
    def assertFound(self, expected: Any, check: _Check, checked: Any) -> None:
        """Assert the codes of what a check finds, and what was meant."""
        arguments = (checked,) if isinstance(checked, str) else checked
        self.assertEqual(
            expected,
            [
                (found.code, found.meant_key + found.meant_value)
                for found in check(*arguments)
            ],
            checked,
        )

    @ddt.data(*MISTAKES)
    def test_a_mistake_is_told_with_what_was_meant(self, case: Any) -> None:
        check, code, meant, *each = case
        for checked in each:
            self.assertFound([(code, meant)], check, checked)

    @ddt.data(*SOUND)
    def test_nothing_else_is_told(self, case: Any) -> None:
        check, *each = case
        for checked in each:
            self.assertFound([], check, checked)

    def test_texts_may_differ_in_case_and_outer_space(self) -> None:
        keys = ['b', 'A', ' a', 'A', 'aa', 'a', 'a ']
        self.assertEqual([' a', 'A', 'a'], mistakes.alike('a ', keys))
        self.assertEqual([], mistakes.alike('c', keys))
