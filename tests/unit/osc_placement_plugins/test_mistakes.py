# SPDX-License-Identifier: Apache-2.0

"""Each mistake in one key or one value, and what to write instead."""

import unittest
from collections.abc import Iterable

import ddt

from nova_filters.matching import inputs, requirement
from osc_placement_plugins import mistakes
from osc_placement_plugins.mistakes import FindingCode


def _told(findings: Iterable[mistakes.Finding]) -> list[tuple[str, str]]:
    """Return the code and the remedy of findings."""
    return [(finding.code, finding.remedy) for finding in findings]


@ddt.ddt
class MalformedTest(unittest.TestCase):
    @ddt.data(
        (
            '<or> ! <or> 1',
            FindingCode.EXCLUSIVE_SENTINEL,
            "'!' alone, or the alternatives without it",
        ),
        ('<or>', FindingCode.MALFORMED_VALUE, "'<or> VALUE'"),
        (
            '== two',
            FindingCode.MALFORMED_VALUE,
            "'== NUMBER', or 's== TEXT' for text",
        ),
        ('<or> 1 2 <or> 3', FindingCode.MISPLACED_OR, "'<or> A <or> B'"),
        ('1 <or> 2', FindingCode.MISPLACED_OR, "'<or> A <or> B'"),
        (
            ' >=2 ',
            FindingCode.UNKNOWN_OPERATOR,
            'an operator of Nova, a space, a value: != <= <all-in> <in> = == '
            '>= s!= s< s<= s== s> s>=',
        ),
    )
    @ddt.unpack
    def test_a_value_that_cannot_be_meant_is_told(
        self, text: str, code: FindingCode, remedy: str
    ) -> None:
        findings = _told(mistakes.malformed(requirement.parse(text)))
        self.assertEqual([(code, remedy)], findings)

    @ddt.data(
        '', '1', '*', '!', '~', '<or> 1', '<or> 1 <or> 2', '>= 2', 's== <or>',
        '<in> a <or> b', 'a>b', '<all-in> 1 2',
    )  # fmt: skip
    def test_a_sound_value_is_no_mistake(self, text: str) -> None:
        need = requirement.parse(text)
        self.assertEqual([], [*mistakes.malformed(need)])


@ddt.ddt
class ExpandedTest(unittest.TestCase):
    @ddt.data('/root', '/home/me', '/Users/me', '1,/root', '<or> 1 <or> /root')
    def test_a_home_directory_was_a_tilde(self, text: str) -> None:
        self.assertEqual(
            [(FindingCode.EXPANDED_TILDE, "in quotes: 'KEY=~'")],
            _told(mistakes.expanded(text)),
        )

    @ddt.data('/rooted', '/home', '/home/me/x', 'x/root', '~')
    def test_another_path_was_none(self, text: str) -> None:
        self.assertEqual([], [*mistakes.expanded(text)])


@ddt.ddt
class MisspelledTest(unittest.TestCase):
    @ddt.data(
        ('force_metadata', 'force_metadata_check'),
        ('Force-Metadata-Check', 'force_metadata_check'),
        (f'{inputs.SCOPE}force_metadata_check', 'force_metadata_check'),
        ('prefer_metadata_chek', 'prefer_metadata_check'),
    )
    @ddt.unpack
    def test_a_key_that_is_nearly_a_flag_is_told(
        self, key: str, flag: str
    ) -> None:
        self.assertEqual(
            [(FindingCode.MISSPELLED_FLAG, f'{flag}=True')],
            _told(mistakes.misspelled(key)),
        )

    @ddt.data(
        ('aggregate_prefer:disk', 'aggregate_preferred:disk'),
        ('aggregate_avoid:hw:cpu', 'aggregate_avoided:hw:cpu'),
        ('aggregate_preferred_10:disk', 'aggregate_preferred.10:disk'),
        ('Aggregate-Avoided10:disk', 'aggregate_avoided.10:disk'),
    )
    @ddt.unpack
    def test_what_is_nearly_a_preference_is_told(
        self, name: str, meant: str
    ) -> None:
        self.assertEqual(
            [(FindingCode.MISSPELLED_PREFERENCE, meant)],
            _told(mistakes.ineffective(name)),
        )

    @ddt.data(
        'aggregate_preferred:disk',
        'aggregate_avoided.10:disk',
        'aggregate_instance_extra_specs:disk',
        'aggregate_prefer',
        'hw:cpu_policy',
    )
    def test_what_is_none_is_not_told(self, name: str) -> None:
        self.assertEqual([], [*mistakes.ineffective(name)])

    @ddt.data(
        ('hw:aggregate_instance_extra_specs:ssd', 'ssd'),
        ('x:y:aggregate_instance_extra_specs:hw:ssd', 'hw:ssd'),
    )
    @ddt.unpack
    def test_a_scope_behind_another_prefix_is_told(
        self, name: str, key: str
    ) -> None:
        self.assertEqual(
            [(FindingCode.MISPLACED_SCOPE, f'{inputs.SCOPE}{key}')],
            _told(mistakes.ineffective(name)),
        )

    def test_white_space_around_a_key_is_told(self) -> None:
        self.assertEqual(
            [(FindingCode.OUTER_SPACE, "'k'")],
            _told(mistakes.misspelled('k ')),
        )

    @ddt.data('metadata', 'check_force', 'force_image_check', 'k')
    def test_another_key_is_no_mistake(self, key: str) -> None:
        self.assertEqual([], [*mistakes.misspelled(key)])


class AlikeTest(unittest.TestCase):
    def test_texts_may_differ_in_case_and_outer_space(self) -> None:
        keys = ['b', 'A', ' a', 'A', 'aa', 'a']
        self.assertEqual([' a', 'A', 'a'], mistakes.alike('a ', keys))
        self.assertEqual([], mistakes.alike('c', keys))


@ddt.ddt
class UnmatchableTest(unittest.TestCase):
    @ddt.data('1,2', '<or> 3 <or> 1,2', 's== 1,2', '<in> 1,2')
    def test_no_aggregate_offers_a_comma(self, text: str) -> None:
        self.assertEqual(
            [(FindingCode.COMMA_IN_FLAVOR, "'<or> A <or> B'")],
            _told(mistakes.unmatchable(requirement.parse(text))),
        )

    def test_no_aggregate_offers_outer_space(self) -> None:
        self.assertEqual(
            [(FindingCode.OUTER_SPACE, "'1'")],
            _told(mistakes.unmatchable(requirement.parse(' 1'))),
        )

    @ddt.data('1', '<or> 1 <or> 2', 's!= 1,2', '>= 2', '*', '~')
    def test_what_can_be_offered_is_no_mistake(self, text: str) -> None:
        need = requirement.parse(text)
        self.assertEqual([], [*mistakes.unmatchable(need)])


@ddt.ddt
class ScopeTest(unittest.TestCase):
    @ddt.data(
        ('hw:cpu_policy', '~'),
        ('hw:cpu_policy', '*'),
        ('hw:cpu_policy', '!'),
        ('trait1:HW_CPU_X86_VMX', '<or> 1 <or> ~'),
        ('resources_A:VCPU', '~'),
        ('quota:cpu_shares', '~'),
        ('os:secure_boot', '~'),
        ('hide_hypervisor_id', '~'),
    )
    @ddt.unpack
    def test_novas_api_refuses_a_sentinel(self, key: str, text: str) -> None:
        remedy = f'{inputs.SCOPE}{key}'
        self.assertEqual(
            [(FindingCode.REFUSED_BY_API, remedy)],
            _told(mistakes.scope(key, requirement.parse(text))),
        )

    @ddt.data(
        ('hypervisor_type', FindingCode.CAPABILITY_KEY),
        ('num_whatever', FindingCode.CAPABILITY_KEY),
    )
    @ddt.unpack
    def test_nova_may_read_a_bare_key(
        self, key: str, code: FindingCode
    ) -> None:
        self.assertEqual(
            [(code, f'{inputs.SCOPE}{key}')],
            _told(mistakes.scope(key, requirement.parse('1'))),
        )

    @ddt.data(
        ('hw:cpu_policy', 'shared'),
        ('mine:key', '~'),
        ('gpu', '~'),
        (f'{inputs.SCOPE}gpu', '~'),
    )
    @ddt.unpack
    def test_a_namespace_is_no_mistake(self, key: str, text: str) -> None:
        self.assertEqual([], [*mistakes.scope(key, requirement.parse(text))])


@ddt.ddt
class FlagTest(unittest.TestCase):
    @ddt.data('Ture', 'enabled', '2')
    def test_a_value_that_leaves_the_flag_off_is_told(self, text: str) -> None:
        self.assertEqual(
            [
                (
                    FindingCode.UNCLEAR_FLAG,
                    'force_metadata_check=True or force_metadata_check=False',
                )
            ],
            _told(mistakes.flag(inputs.FLAG, text)),
        )

    @ddt.data('True', 'yes', 'x,1', 'False', ' No ', '0', 'off', '')
    def test_a_clear_value_is_no_mistake(self, text: str) -> None:
        self.assertEqual([], [*mistakes.flag(inputs.FLAG, text)])

    def test_a_scope_switches_the_flag_off(self) -> None:
        self.assertEqual(
            [(FindingCode.MISSPELLED_FLAG, 'prefer_metadata_check=True')],
            _told(mistakes.flag(inputs.SCOPE + inputs.SOFT_FLAG, 'True')),
        )
