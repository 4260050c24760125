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


def find_malformed(text: str) -> Iterable[Finding]:
    return text_mistakes.find_malformed('k', requirement.parse(text))


#: A check, the code of what it finds, and each text that is checked.
MISTAKES: tuple[tuple[Any, ...], ...] = (
    (find_malformed, Code.MALFORMED_VALUE, '<or> ! <or> 1', '<or>', '== two'),
    (
        text_mistakes.find_misspelled_flag,
        Code.MISSPELLED_FLAG,
        *('force_metadata', 'Force-Metadata-Check', SCOPE + FLAG),
        'prefer_metadata_chek',
    ),
    (
        text_mistakes.find_misspelled_namespace,
        Code.NAMESPACE_WITHOUT_EFFECT,
        *('aggregate_prefer:disk', 'aggregate_avoid:hw:cpu'),
        *('aggregate_preferred_10:disk', 'Aggregate-Avoided10:disk'),
        *('aggregate:disk', 'host_aggregate:disk'),
        *(f'x:y:{SCOPE}hw:ssd', f' {SCOPE}hw:ssd', f'hw:{SCOPE}ssd'),
        'aggregate_instance_extra_spec:hw:ssd',
        'aggregate-instance-extra-specs:hw:ssd',
        'agregate_instance_extra_specs:hw:ssd',
        'AggregateInstanceExtraSpecsFilter:hw:ssd',
        'aggregate_instance_extra_specs :hw:ssd',
    ),
)
#: A check, and each text in which it finds nothing.
SOUND: tuple[tuple[Any, ...], ...] = (
    (find_malformed, '1', '*', '!', '~', '<or> 1', '1 <or> 2', '>= 2', '>=2'),
    (
        text_mistakes.find_misspelled_flag,
        *('metadata', 'check_force', 'force_image_check'),
    ),
    (
        text_mistakes.find_misspelled_namespace,
        *('aggregate_preferred:disk', 'aggregate_prefer'),
        *('aggregate_avoided.10:disk', 'hw:cpu_policy'),
        *(f'{SCOPE}disk', 'extra_specs:disk', 'capabilities:x'),
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
