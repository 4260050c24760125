# SPDX-License-Identifier: Apache-2.0

"""Each finding: what brings it about, and what does not."""

import unittest

import ddt
from hypothesis import given

from nova_filters import conf
from nova_filters.advice import inventory, lint, mistakes
from nova_filters.advice.mistakes import Code
from nova_filters.matching import inputs
from nova_filters.matching.reason import Side
from nova_filters.matching.request import Request
from testing.nova import inventories, strategies

_ON = {'force_metadata_check': 'True'}
_SOFT = {'prefer_metadata_check': 'true'}
_SCOPED = 'aggregate_instance_extra_specs:k'
_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])


def _lint(
    flavors: list[inventory.Flavor],
    aggregates: list[inventory.HostAggregate],
    exempt: inputs.Exempt,
) -> list[mistakes.Finding]:
    """Return what is found if nobody knows all hosts."""
    stock = inventories.stock(flavors, aggregates, exempt)
    return lint.lint(stock, complete=False)


def _codes(
    extra_specs: dict[str, str] | None = None,
    *metadata: dict[str, str],
    hosts: tuple[tuple[str, ...], ...] = (),
) -> set[Code]:
    """Return the codes of what is found, less the mere hint on scopes."""
    flavors = [] if extra_specs is None else [('f', extra_specs)]
    aggregates = [
        inventory.HostAggregate(
            f'a{number}', data, hosts[number] if hosts else ('h',)
        )
        for number, data in enumerate(metadata)
    ]
    found = _lint(
        [inventory.Flavor(*flavor) for flavor in flavors], aggregates, _EXEMPT
    )
    return {f.code for f in found} - {Code.UNSCOPED_KEY}


@ddt.ddt
class FlavorTest(unittest.TestCase):
    @ddt.data(
        ('<or> ! <or> 1', Code.EXCLUSIVE_SENTINEL),
        ('<or>', Code.MALFORMED_VALUE),
        ('>=', Code.MALFORMED_VALUE),
        ('>= two', Code.MALFORMED_VALUE),
        ('<or> 1 2 <or> 3', Code.MISPLACED_OR),
        ('1 <or> 2', Code.MISPLACED_OR),
        ('<or>1', Code.MISPLACED_OR),
        ('> 2', Code.UNKNOWN_OPERATOR),
        ('>=2', Code.UNKNOWN_OPERATOR),
        ('<in>x', Code.UNKNOWN_OPERATOR),
        ('/root', Code.EXPANDED_TILDE),
        ('/home/admin', Code.EXPANDED_TILDE),
        ('<or> 1 <or> /root', Code.EXPANDED_TILDE),
        ('1,2', Code.COMMA_IN_FLAVOR),
        ('<or> 1,2 <or> 3', Code.COMMA_IN_FLAVOR),
        ('s== 1,2', Code.COMMA_IN_FLAVOR),
        (' 1', Code.OUTER_SPACE),
        ('3', Code.VALUE_NOT_OFFERED),
        ('>= 3', Code.VALUE_NOT_OFFERED),
    )
    @ddt.unpack
    def test_a_mistake_in_a_value_is_found(
        self, text: str, code: Code
    ) -> None:
        self.assertIn(code, _codes({_SCOPED: text}, {'k': '1,2'}))

    @ddt.data(
        ('1', {'l': '1'}, {Code.KEY_NOT_OFFERED}),
        ('*', {'l': '1'}, {Code.KEY_NOT_OFFERED}),
        # A forced aggregate's sentinel does not carry the key.
        (
            *('1', {'k': '~', **_ON}),
            {Code.KEY_NOT_OFFERED, Code.CLOSED_AGGREGATE},
        ),
        # What may be absent need not be offered.
        ('!', {'l': '1'}, set()),
        ('<or> 1 <or> ~', {'l': '1'}, set()),
    )
    @ddt.unpack
    def test_a_key_that_no_aggregate_has_is_found(
        self, text: str, metadata: dict[str, str], codes: set[Code]
    ) -> None:
        self.assertEqual(codes, _codes({_SCOPED: text}, metadata))

    @ddt.data(
        ({'aggregate_preferred:k': '1'}, {'k': '1'}, set()),
        ({'aggregate_preferred:k': '~'}, {'k': '1'}, set()),
        (
            *({'aggregate_preferred:k': '3'}, {'k': '1'}),
            {Code.PREFERENCE_NOT_MET},
        ),
        (
            *({'aggregate_avoided.9:q': '1'}, {'k': '1'}),
            {Code.PREFERENCE_NOT_MET},
        ),
        ({'aggregate_avoided.0:k': '1'}, {'k': '1'}, {Code.MALFORMED_VALUE}),
        ({'aggregate_preferred:k': '<or>'}, {}, {Code.MALFORMED_VALUE}),
        ({}, {'k': '1', **_SOFT}, {Code.AVOIDED_BY_ALL}),
        ({}, {'k': '1,~', **_SOFT}, set()),
        ({_SCOPED: '1'}, {'k': '1', **_SOFT}, set()),
        ({}, {'prefer_metadata_chek': 'on'}, {Code.MISSPELLED_FLAG}),
        ({}, {'prefer_metadata_check': 'Ture'}, {Code.UNCLEAR_FLAG}),
    )
    @ddt.unpack
    def test_preferences(
        self, specs: dict[str, str], metadata: dict[str, str], codes: set[Code]
    ) -> None:
        self.assertEqual(codes, _codes(specs, metadata))

    @ddt.data(
        ({_SCOPED: 'A100'}, {'k': 'a100'}, "has 'a100'"),
        ({_SCOPED: '<or> x <or> A100'}, {'k': 'a100,b'}, "has 'a100'"),
        ({_SCOPED: '1'}, {'K': '1'}, "has 'K'"),
        ({_SCOPED: '1'}, {'k ': '1'}, "has 'k '"),
        ({f'{_SCOPED} ': '1'}, {'k': '1'}, "has 'k'"),
    )
    @ddt.unpack
    def test_what_is_nearly_right_is_named(
        self, specs: dict[str, str], metadata: dict[str, str], words: str
    ) -> None:
        found = _lint(
            [inventory.Flavor('f', specs)],
            [inventory.HostAggregate('a', metadata, ('h',))],
            _EXEMPT,
        )
        self.assertIn(
            f'An aggregate {words}: only white space, or upper',
            '\n'.join(f.text for f in found),
        )

    @ddt.data(
        '1', '*', '~', '!', '<or> 1 <or> ~', '<or> 1 <or>', '<or> * <or> ~',
        '>= 2', 's== 1', '!= 7', '<in> 1', '<all-in> 1', 's!= /home/x/y',
    )  # fmt: skip
    def test_a_sound_value_is_left_alone(self, text: str) -> None:
        self.assertEqual(set(), _codes({_SCOPED: text}, {'k': '1,2'}))

    @ddt.data(
        'hw:cpu_policy', 'trait:HW_CPU_X86_VMX', 'trait1:HW_CPU_X86_VMX',
        'resources:VCPU', 'resources_A:VCPU', 'quota:cpu_shares',
        'os:secure_boot', 'hide_hypervisor_id',
    )  # fmt: skip
    def test_a_sentinel_on_a_validated_key_is_found(self, key: str) -> None:
        for text in ('~', '*', '!', '<or> 1 <or> ~'):
            self.assertIn(Code.REFUSED_BY_API, _codes({key: text}))
        # A plain value is the API's own business.
        self.assertNotIn(Code.REFUSED_BY_API, _codes({key: '1'}))
        scoped = f'aggregate_instance_extra_specs:{key}'
        self.assertNotIn(Code.REFUSED_BY_API, _codes({scoped: '~'}))

    def test_other_namespaces_are_read_where_an_aggregate_has_the_key(
        self,
    ) -> None:
        extra_specs = {'hw:numa_cpus.0': '0,1'}
        self.assertEqual(set(), _codes(extra_specs, {'k': '1'}))
        self.assertEqual(
            {Code.COMMA_IN_FLAVOR},
            _codes(extra_specs, {'hw:numa_cpus.0': '0'}),
        )

    def test_capabilities_are_told_from_other_bare_keys(self) -> None:
        metadata = {'hypervisor_type': 'QEMU', 'k': '1'}
        self.assertEqual(
            {Code.CAPABILITY_KEY},
            _codes({'hypervisor_type': 'QEMU', 'k': '1'}, metadata),
        )
        (found,) = _lint(
            [inventory.Flavor('f', {'k': '1'})],
            [inventory.HostAggregate('a', metadata)],
            (),
        )
        self.assertEqual(
            (Code.UNSCOPED_KEY, mistakes.Severity.INFO, _SCOPED),
            (found.code, found.code.severity, found.remedy),
        )

    def test_the_flag_in_a_flavor_is_found(self) -> None:
        for key in (
            'force_metadata_check',
            'aggregate_instance_extra_specs:force_metadata_check',
        ):
            self.assertEqual({Code.FLAG_IN_FLAVOR}, _codes({key: 'True'}))


@ddt.ddt
class AggregateTest(unittest.TestCase):
    @ddt.data(
        ({'k': '<or> ! <or> 1', **_ON}, Code.EXCLUSIVE_SENTINEL),
        ({'k': '1,<or>', **_ON}, Code.MALFORMED_VALUE),
        ({'k': '1,<or>2', **_ON}, Code.MISPLACED_OR),
        ({'k': '>=2', **_ON}, Code.UNKNOWN_OPERATOR),
        ({'k': '1,/root', **_ON}, Code.EXPANDED_TILDE),
        ({'k': '/home/me'}, Code.EXPANDED_TILDE),
        ({'force_metadata_chek': 'True'}, Code.MISSPELLED_FLAG),
        ({'FORCE_METADATA_CHECK': 'True'}, Code.MISSPELLED_FLAG),
        ({'force-metadata-check': 'True'}, Code.MISSPELLED_FLAG),
        ({'forced_metadata_checks': 'True'}, Code.MISSPELLED_FLAG),
        ({'force_metadata': 'True'}, Code.MISSPELLED_FLAG),
        (
            {'aggregate_instance_extra_specs:force_metadata_check': 'True'},
            Code.MISSPELLED_FLAG,
        ),
        ({'force_metadata_check': 'Ture'}, Code.UNCLEAR_FLAG),
        ({'force_metadata_check': 'enabled'}, Code.UNCLEAR_FLAG),
        ({'k': '*'}, Code.SENTINEL_WITHOUT_FLAG),
        ({'k': '1,~'}, Code.SENTINEL_WITHOUT_FLAG),
        ({'k': '<or> 1 <or> 2'}, Code.SENTINEL_WITHOUT_FLAG),
        ({'k': '>= 2'}, Code.SENTINEL_WITHOUT_FLAG),
        ({_SCOPED: '1'}, Code.SCOPE_WITHOUT_FLAG),
        ({'k ': '1'}, Code.OUTER_SPACE),
        ({' k': '1', **_ON}, Code.OUTER_SPACE),
        ({'k': '!,1', **_ON}, Code.CONTRADICTORY_DEMANDS),
    )
    @ddt.unpack
    def test_a_mistake_in_metadata_is_found(
        self, metadata: dict[str, str], code: Code
    ) -> None:
        self.assertIn(code, _codes(None, metadata))

    @ddt.data(
        {},
        {'k': '1,2', 'availability_zone': 'az1'},
        {'k': '<or> 1 <or> 2', **_ON},
        {_SCOPED: '*', **_ON},
        {'k': '!', **_ON},
        {'k': '1', 'force_metadata_check': 'False'},
        {'k': '1', 'force_metadata_check': 'yes'},
        {'metadata': '1', 'check_force': '2', 'force_image_check': '3'},
        {'path': '/home/admin/x'},
    )
    def test_sound_metadata_are_left_alone(
        self, metadata: dict[str, str]
    ) -> None:
        self.assertEqual(set(), _codes(None, metadata))

    def test_an_aggregate_that_no_flavor_enters_is_found(self) -> None:
        forced = {'os': 'windows', **_ON}
        scoped = 'aggregate_instance_extra_specs:os'
        self.assertEqual({Code.CLOSED_AGGREGATE}, _codes({}, forced))
        self.assertEqual(set(), _codes({scoped: 'windows'}, forced))
        # Without flavors there is nothing to say.
        self.assertEqual(set(), _codes(None, forced))
        # What is exempt is not demanded.
        self.assertEqual(set(), _codes({}, {'availability_zone': 'a', **_ON}))

    def test_the_remedy_is_the_whole_line_of_the_option(self) -> None:
        aggregates = [
            inventory.HostAggregate('a', {'rack': '1', **_ON}, ('h',))
        ]
        found = _lint([inventory.Flavor('f', {})], aggregates, _EXEMPT)
        (remedy,) = (
            f.remedy for f in found if f.code is Code.CLOSED_AGGREGATE
        )
        self.assertIn(
            f'"exempt_metadata_keys = {",".join(_EXEMPT)},rack"', remedy
        )

    def test_a_second_aggregate_may_open_the_first(self) -> None:
        first, second = {'os': 'windows', **_ON}, {'os': '~', **_ON}
        self.assertEqual(set(), _codes({}, first, second))
        # On hosts of its own it does not.
        self.assertEqual(
            {Code.CLOSED_AGGREGATE},
            _codes({}, first, second, hosts=(('h1',), ('h2',))),
        )

    def test_aggregates_that_contradict_each_other_are_found(self) -> None:
        first, second = {'os': 'windows', **_ON}, {'os': '!', **_ON}
        aggregates = [
            inventory.HostAggregate('a', first, ('h1', 'h2', 'h3')),
            inventory.HostAggregate('b', second, ('h2', 'h3')),
        ]
        # Both hosts have it from the same two aggregates.
        (found,) = _lint([], aggregates, ())
        self.assertEqual(Code.CONTRADICTORY_DEMANDS, found.code)
        self.assertEqual(
            ('host', 'h2', 'os'), (found.owner, found.name, found.key)
        )
        self.assertIn("'a', 'b'", found.text)
        # Apart from each other they are sound.
        self.assertEqual(
            set(), _codes(None, first, second, hosts=(('h1',), ('h2',)))
        )

    def test_the_worst_comes_first(self) -> None:
        found = _lint(
            [inventory.Flavor('f', {'k': '1'})],
            [
                inventory.HostAggregate('a', {'k': '1', 'l': '*'}),
                inventory.HostAggregate('b', {'m': '!,1', **_ON}),
            ],
            (),
        )
        self.assertEqual(
            [
                (mistakes.Severity.ERROR, 'b'),
                (mistakes.Severity.WARNING, 'a'),
                (mistakes.Severity.INFO, 'f'),
            ],
            [(f.code.severity, f.name) for f in found],
        )


class RobustnessTest(unittest.TestCase):
    @given(strategies.extra_specs(), strategies.metadata_lists())
    def test_no_extra_spec_is_hopeless_without_a_finding(
        self, extra_specs, metadata
    ) -> None:
        found = _lint(
            [inventory.Flavor('f', extra_specs or {})],
            [
                inventory.HostAggregate(f'a{number}', data, ('h',))
                for number, data in enumerate(metadata)
            ],
            (),
        )
        flavor = inputs.read_flavor(extra_specs)
        aggregates = [inputs.Aggregate('a', data) for data in metadata]
        # Whatever the evaluator refuses everywhere is among the findings.
        codes = {f.code for f in found}
        for spec in flavor:
            reasons = [
                next(Request((spec,)).reasons(own), None)
                for own in ((), *((a,) for a in aggregates))
            ]
            if all(r and r.side is Side.FLAVOR for r in reasons):
                self.assertTrue(codes & _HOPELESS, (spec, codes))


#: What makes an extra spec one that no host meets.
_HOPELESS = {
    Code.EXCLUSIVE_SENTINEL,
    Code.MALFORMED_VALUE,
    Code.COMMA_IN_FLAVOR,
    Code.OUTER_SPACE,
    Code.KEY_NOT_OFFERED,
    Code.VALUE_NOT_OFFERED,
}
