# SPDX-License-Identifier: Apache-2.0

"""Each mistake in one key or one value."""

import unittest
from collections.abc import Iterable
from typing import Any

import ddt

from nova_filters.matching import inputs, requirement
from osc_placement_plugins.lint import text_mistakes
from osc_placement_plugins.lint.findings import Finding
from osc_placement_plugins.lint.findings import FindingCode as Code

FLAG = inputs.FLAG
SCOPE = inputs.SCOPE


def find_in_value(text: str) -> Iterable[Finding]:
    return text_mistakes.find_in_value('k', requirement.parse(text))


def find_expanded_tilde(text: str) -> Iterable[Finding]:
    return text_mistakes.find_expanded_tilde('k', text)


find_outer_space = text_mistakes.find_outer_space
find_misspelled_flag = text_mistakes.find_misspelled_flag
find_namespace = text_mistakes.find_misspelled_namespace

#: A check, the code of what it finds, and each text that is checked.
MISTAKES: tuple[tuple[Any, ...], ...] = (
    (find_in_value, Code.MALFORMED_VALUE, '<or> ! <or> 1', '<or>', '== two'),
    (
        find_in_value,
        Code.MISREAD_VALUE,
        *('1 <or> 2', '<or> 1 2 <or> 3', '1 2 <or>', '1<or>', ' >=2 '),
    ),
    (
        find_expanded_tilde,
        Code.EXPANDED_TILDE,
        *('/root', '/Users/me', '<or> 1 <or> /home/me', '1,/root'),
    ),
    (
        find_misspelled_flag,
        Code.MISSPELLED_FLAG,
        *('force_metadata', 'Force-Metadata-Check', SCOPE + FLAG),
        'prefer_metadata_chek',
    ),
    (
        find_outer_space,
        Code.OUTER_SPACE,
        *('k ', ' k', f'{SCOPE}k ', f'{SCOPE} k'),
    ),
)
#: What was meant with a namespace, and each key with it.
NAMESPACES = (
    ('aggregate_preferred:disk', 'aggregate_prefer:disk'),
    ('aggregate_avoided:hw:cpu', 'aggregate_avoid:hw:cpu'),
    # It is near to both.
    ('aggregate_preferred:disk', 'aggregate_red:disk'),
    ('aggregate_preferred.10:disk', 'aggregate_preferred_10:disk'),
    ('aggregate_avoided.10:disk', 'Aggregate-Avoided10:disk'),
    (
        f'{SCOPE}hw:ssd',
        f'x:y:{SCOPE}hw:ssd',
        f' {SCOPE}hw:ssd',
        'aggregate_instance_extra_spec:hw:ssd',
        'aggregate-instance-extra-specs:hw:ssd',
        'aggregate_instances_extra_specs:hw:ssd',
        'AggregateInstanceExtraSpecs:hw:ssd',
        'AggregateInstanceExtraSpecsFilter:hw:ssd',
        'aggregate_instance_extra_specs :hw:ssd',
        'aggregate_extra_specs:hw:ssd',
    ),
)
#: A check, and each text in which it finds nothing.
SOUND: tuple[tuple[Any, ...], ...] = (
    (find_in_value, '1', '*', '!', '~', '<or> 1', '<or> 1 <or> 2', '>= 2'),
    (find_in_value, 's== <or>', '<in> a <or> b', 'a>b', '<all-in> 1 2'),
    (find_expanded_tilde, '/rooted', '/home', '/home/me/x', 'x/root', '~'),
    (find_misspelled_flag, 'metadata', 'check_force', 'force_image_check'),
    (find_outer_space, 'k', f'{SCOPE}k'),
    (
        find_namespace,
        *('aggregate_preferred:disk', 'aggregate_prefer'),
        *('aggregate_avoided.10:disk', 'hw:cpu_policy', 'aggregate:disk'),
        *(f'{SCOPE}disk', 'extra_specs:disk', 'capabilities:x'),
        'aggregate_instance_type_filter:x',
    ),
)


@ddt.ddt
class TextMistakesTest(unittest.TestCase):
    @ddt.data(*MISTAKES)
    def test_a_mistake_is_told(self, case: Any) -> None:
        check, code, *texts = case
        for text in texts:
            (finding,) = check(text)
            self.assertEqual(code, finding.code, text)

    @ddt.data(*NAMESPACES)
    def test_the_namespace_that_was_meant_is_told(self, case: Any) -> None:
        meant, *names = case
        for name in names:
            (finding,) = find_namespace(name)
            self.assertEqual(Code.NAMESPACE_WITHOUT_EFFECT, finding.code)
            self.assertIn(f"not read as '{meant}'", finding.text)

    @ddt.data(*SOUND)
    def test_nothing_else_is_told(self, case: Any) -> None:
        check, *texts = case
        for text in texts:
            self.assertEqual([], [*check(text)], text)

    def test_texts_may_differ_in_case_and_outer_space(self) -> None:
        keys = ['b', 'A', ' a', 'A', 'aa', 'a', 'a ']
        self.assertEqual(
            [' a', 'A', 'a'], text_mistakes.find_similar('a ', keys)
        )
        self.assertEqual([], text_mistakes.find_similar('c', keys))
