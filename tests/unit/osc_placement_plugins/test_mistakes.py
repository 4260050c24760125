# SPDX-License-Identifier: Apache-2.0

"""Each mistake in one key or one value, and what to write instead."""

import functools
import unittest
from collections.abc import Callable, Iterable
from typing import Any

import ddt

from nova_filters.matching import inputs, requirement
from osc_placement_plugins import mistakes
from osc_placement_plugins.mistakes import FindingCode as Code

FLAG = inputs.FLAG
OR = "'<or> A <or> B'"
IN_QUOTES = "in quotes: 'KEY=~'"
ON_OR_OFF = f'{FLAG}=True or {FLAG}=False'
_Check = Callable[..., Iterable[mistakes.Finding]]


def of_text(check: _Check, *more: str) -> Iterable[mistakes.Finding]:
    """Check a value, perhaps with its key before it."""
    *key, text = more
    return check(*key, requirement.parse(text))


malformed = functools.partial(of_text, mistakes.malformed)
unmatchable = functools.partial(of_text, mistakes.unmatchable)
scope = functools.partial(of_text, mistakes.scope)

#: A check, the code of what it finds, the remedy, and each what is checked.
MISTAKES: tuple[tuple[Any, ...], ...] = (
    (
        malformed,
        Code.EXCLUSIVE_SENTINEL,
        "'!' alone, or the alternatives without it",
        '<or> ! <or> 1',
    ),
    (malformed, Code.MALFORMED_VALUE, "'<or> VALUE'", '<or>'),
    (
        malformed,
        Code.MALFORMED_VALUE,
        "'== NUMBER', or 's== TEXT' for text",
        '== two',
    ),
    (malformed, Code.MISPLACED_OR, OR, '<or> 1 2 <or> 3', '1 <or> 2'),
    (
        malformed,
        Code.UNKNOWN_OPERATOR,
        'an operator of Nova, a space, a value: != <= <all-in> <in> = == >= '
        's!= s< s<= s== s> s>=',
        ' >=2 ',
    ),
    (
        mistakes.expanded,
        Code.EXPANDED_TILDE,
        IN_QUOTES,
        *('/root', '/home/me', '/Users/me', '1,/root', '<or> 1 <or> /root'),
    ),
    (
        mistakes.misspelled,
        Code.MISSPELLED_FLAG,
        f'{FLAG}=True',
        *('force_metadata', 'Force-Metadata-Check', inputs.SCOPE + FLAG),
    ),
    (
        mistakes.misspelled,
        Code.MISSPELLED_FLAG,
        f'{inputs.SOFT_FLAG}=True',
        'prefer_metadata_chek',
    ),
    (mistakes.misspelled, Code.OUTER_SPACE, "'k'", 'k '),
    *(
        (mistakes.ineffective, Code.MISSPELLED_PREFERENCE, meant, name)
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
        mistakes.ineffective,
        Code.MISPLACED_SCOPE,
        f'{inputs.SCOPE}hw:ssd',
        f'x:y:{inputs.SCOPE}hw:ssd',
    ),
    (
        unmatchable,
        Code.COMMA_IN_FLAVOR,
        OR,
        *('1,2', '<or> 3 <or> 1,2', 's== 1,2', '<in> 1,2'),
    ),
    (unmatchable, Code.OUTER_SPACE, "'1'", ' 1'),
    *(
        (scope, Code.REFUSED_BY_API, inputs.SCOPE + key, (key, text))
        for key, text in (
            ('hw:cpu_policy', '~'),
            ('hw:cpu_policy', '*'),
            ('hw:cpu_policy', '!'),
            ('trait1:HW_CPU_X86_VMX', '<or> 1 <or> ~'),
            ('resources_A:VCPU', '~'),
            ('quota:cpu_shares', '~'),
            ('os:secure_boot', '~'),
            ('hide_hypervisor_id', '~'),
        )
    ),
    *(
        (scope, Code.CAPABILITY_KEY, inputs.SCOPE + key, (key, '1'))
        for key in ('hypervisor_type', 'num_whatever')
    ),
    (
        mistakes.flag,
        Code.UNCLEAR_FLAG,
        ON_OR_OFF,
        *((FLAG, text) for text in ('Ture', 'enabled', '2')),
    ),
    (
        mistakes.flag,
        Code.MISSPELLED_FLAG,
        f'{inputs.SOFT_FLAG}=True',
        (inputs.SCOPE + inputs.SOFT_FLAG, 'True'),
    ),
)
#: A check, and each in what it finds nothing.
SOUND: tuple[tuple[Any, ...], ...] = (
    (malformed, '', '1', '*', '!', '~', '<or> 1', '<or> 1 <or> 2', '>= 2'),
    (malformed, 's== <or>', '<in> a <or> b', 'a>b', '<all-in> 1 2'),
    (mistakes.expanded, '/rooted', '/home', '/home/me/x', 'x/root', '~'),
    (mistakes.misspelled, 'metadata', 'check_force', 'force_image_check', 'k'),
    (mistakes.ineffective, 'aggregate_preferred:disk', 'aggregate_prefer'),
    (mistakes.ineffective, 'aggregate_avoided.10:disk', 'hw:cpu_policy'),
    (mistakes.ineffective, f'{inputs.SCOPE}disk'),
    (unmatchable, '1', '<or> 1 <or> 2', 's!= 1,2', '>= 2', '*', '~'),
    (scope, ('hw:cpu_policy', 'shared'), ('mine:key', '~'), ('gpu', '~')),
    (scope, (f'{inputs.SCOPE}gpu', '~')),
    (
        mistakes.flag,
        *((FLAG, text) for text in ('True', 'yes', 'x,1', 'False', ' No ')),
        *((FLAG, text) for text in ('0', 'off', '')),
    ),
)


@ddt.ddt
class MistakesTest(unittest.TestCase):
    def assertFound(self, expected: Any, check: _Check, checked: Any) -> None:
        """Assert the codes and the remedies of what a check finds."""
        arguments = (checked,) if isinstance(checked, str) else checked
        self.assertEqual(
            expected,
            [(found.code, found.remedy) for found in check(*arguments)],
            checked,
        )

    @ddt.data(*MISTAKES)
    def test_a_mistake_is_told_with_its_remedy(self, case: Any) -> None:
        check, code, remedy, *each = case
        for checked in each:
            self.assertFound([(code, remedy)], check, checked)

    @ddt.data(*SOUND)
    def test_nothing_else_is_told(self, case: Any) -> None:
        check, *each = case
        for checked in each:
            self.assertFound([], check, checked)

    def test_texts_may_differ_in_case_and_outer_space(self) -> None:
        keys = ['b', 'A', ' a', 'A', 'aa', 'a']
        self.assertEqual([' a', 'A', 'a'], mistakes.alike('a ', keys))
        self.assertEqual([], mistakes.alike('c', keys))
