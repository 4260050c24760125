# SPDX-License-Identifier: Apache-2.0

"""Each finding: what brings it about, and what does not."""

import unittest
from collections.abc import Iterator, Sequence

import ddt
from hypothesis import given

from nova_filters import conf
from nova_filters.matching import inputs
from nova_filters.matching.reason import Side
from nova_filters.matching.request import Request
from openstack_commands.aggregates.advice import inventory, lint, mistakes
from openstack_commands.aggregates.advice.mistakes import FindingCode
from testing.nova import strategies

_FLAG = inputs.FLAG
_ON = {_FLAG: 'True'}
_SOFT = {inputs.SOFT_FLAG: 'true'}
_SCOPED = f'{inputs.SCOPE}k'
_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_LIKES, _AVOIDS = 'aggregate_preferred:k', 'aggregate_avoided'

#: By code, values of a flavor beside an aggregate with the values 1 and 2.
VALUES: dict[FindingCode | None, tuple[str, ...]] = {
    FindingCode.EXCLUSIVE_SENTINEL: ('<or> ! <or> 1',),
    FindingCode.MALFORMED_VALUE: ('<or>', '>=', '>= two'),
    FindingCode.MISPLACED_OR: ('<or> 1 2 <or> 3', '1 <or> 2', '<or>1'),
    FindingCode.UNKNOWN_OPERATOR: ('> 2', '>=2', '<in>x'),
    FindingCode.EXPANDED_TILDE: ('/root', '/home/admin', '<or> 1 <or> /root'),
    FindingCode.COMMA_IN_FLAVOR: ('1,2', '<or> 1,2 <or> 3', 's== 1,2'),
    FindingCode.OUTER_SPACE: (' 1',),
    FindingCode.VALUE_NOT_OFFERED: ('3', '>= 3'),
    None: (
        '1',
        '*',
        '~',
        '!',
        '<or> 1 <or> ~',
        '<or> 1 <or>',
        '>= 2',
        's== 1',
        '<or> * <or> ~',
        '!= 7',
        '<in> 1',
        '<all-in> 1',
        's!= /home/x/y',
    ),
}
#: By code, what an aggregate has.
METADATA: dict[FindingCode | None, tuple[dict[str, str], ...]] = {
    FindingCode.EXCLUSIVE_SENTINEL: ({'k': '<or> ! <or> 1', **_ON},),
    FindingCode.MALFORMED_VALUE: ({'k': '1,<or>', **_ON},),
    FindingCode.MISPLACED_OR: ({'k': '1,<or>2', **_ON},),
    FindingCode.UNKNOWN_OPERATOR: ({'k': '>=2', **_ON},),
    FindingCode.EXPANDED_TILDE: ({'k': '1,/root', **_ON}, {'k': '/home/me'}),
    FindingCode.MISSPELLED_FLAG: (
        {'force_metadata_chek': 'True'},
        {_FLAG.upper(): 'True'},
        {'force-metadata-check': 'True'},
        {'force_metadata': 'True'},
        {'forced_metadata_checks': 'True'},
        {inputs.SCOPE + _FLAG: 'True'},
        {'prefer_metadata_chek': 'on'},
    ),
    FindingCode.UNCLEAR_FLAG: (
        {_FLAG: 'Ture'},
        {_FLAG: 'enabled'},
        {inputs.SOFT_FLAG: 'Ture'},
    ),
    FindingCode.SENTINEL_WITHOUT_FLAG: (
        {'k': '*'},
        {'k': '1,~'},
        {'k': '<or> 1 <or> 2'},
        {'k': '>= 2'},
    ),
    FindingCode.SCOPE_WITHOUT_FLAG: ({_SCOPED: '1'},),
    FindingCode.OUTER_SPACE: ({'k ': '1'}, {' k': '1', **_ON}),
    FindingCode.CONTRADICTORY_DEMANDS: ({'k': '!,1', **_ON},),
    None: (
        {},
        {'k': '1,2', 'availability_zone': 'az1'},
        {_SCOPED: '*', **_ON},
        {'k': '<or> 1 <or> 2', **_ON},
        {'k': '!', **_ON},
        {'k': '1', _FLAG: 'False'},
        {'k': '1', _FLAG: 'yes'},
        {'metadata': '1', 'check_force': '2', 'force_image_check': '3'},
        {'path': '/home/admin/x'},
    ),
}
#: What makes an extra spec one that no host meets.
_HOPELESS = {
    FindingCode.EXCLUSIVE_SENTINEL,
    FindingCode.MALFORMED_VALUE,
    FindingCode.COMMA_IN_FLAVOR,
    FindingCode.OUTER_SPACE,
    FindingCode.KEY_NOT_OFFERED,
    FindingCode.VALUE_NOT_OFFERED,
}


def _find(
    extra_specs: dict[str, str] | None,
    *metadata: dict[str, str],
    hosts: tuple[tuple[str, ...], ...] = (),
    exempt: inputs.Exempt = _EXEMPT,
) -> list[mistakes.Finding]:
    """Return what is found if nobody knows all hosts.

    :param hosts: of the aggregates a0, a1, …; one host in all by default.
    """
    flavors = [] if extra_specs is None else [('f', extra_specs)]
    aggregates = [
        inventory.HostAggregate(f'a{n}', data, hosts[n] if hosts else ('h',))
        for n, data in enumerate(metadata)
    ]
    made = [inventory.Flavor(*flavor) for flavor in flavors]
    stock = inventory.Stock(made, aggregates, exempt)
    return lint.lint(stock)


def _codes(*specs_and_metadata, **kwargs) -> set[FindingCode]:
    """Return the codes of what is found, less the mere hint on scopes."""
    return {f.code for f in _find(*specs_and_metadata, **kwargs)} - {
        FindingCode.UNSCOPED_KEY
    }


@ddt.ddt
class TextTest(unittest.TestCase):
    """Mistakes in one text."""

    @ddt.data(*VALUES)
    def test_a_mistake_in_a_value_is_found(
        self, code: FindingCode | None
    ) -> None:
        for text in VALUES[code]:
            codes = _codes({_SCOPED: text}, {'k': '1,2'})
            self.assertIn(code, codes or {None}, text)

    @ddt.data(*METADATA)
    def test_a_mistake_in_metadata_is_found(
        self, code: FindingCode | None
    ) -> None:
        for metadata in METADATA[code]:
            self.assertIn(code, _codes(None, metadata) or {None}, metadata)

    @ddt.data(
        ({_SCOPED: 'A100'}, {'k': 'a100'}, "has 'a100'"),
        ({_SCOPED: '<or> x <or> A100'}, {'k': 'a100,b'}, "has 'a100'"),
        ({_SCOPED: '1'}, {'K': '1'}, "has 'K'"),
        ({_SCOPED: '1'}, {'k ': '1'}, "has 'k '"),
        ({f'{_SCOPED} ': '1'}, {'k': '1'}, "has 'k'"),
    )
    @ddt.unpack
    def test_what_is_nearly_right_is_named(self, specs, data, words) -> None:
        text = f'An aggregate {words}: only white space, or upper'
        self.assertTrue(any(text in f.text for f in _find(specs, data)))

    @ddt.data(
        'hw:cpu_policy', 'trait:HW_CPU_X86_VMX', 'trait1:HW_CPU_X86_VMX',
        'resources:VCPU', 'resources_A:VCPU', 'quota:cpu_shares',
        'os:secure_boot', 'hide_hypervisor_id',
    )  # fmt: skip
    def test_a_sentinel_on_a_validated_key_is_found(self, key: str) -> None:
        for text in ('~', '*', '!', '<or> 1 <or> ~'):
            self.assertIn(FindingCode.REFUSED_BY_API, _codes({key: text}))
        # A plain value is the API's own business.
        self.assertNotIn(FindingCode.REFUSED_BY_API, _codes({key: '1'}))
        scoped = f'{inputs.SCOPE}{key}'
        self.assertNotIn(FindingCode.REFUSED_BY_API, _codes({scoped: '~'}))


@ddt.ddt
class CloudTest(unittest.TestCase):
    """What flavors and aggregates say together."""

    @ddt.data(
        ({_SCOPED: '1'}, {'l': '1'}, FindingCode.KEY_NOT_OFFERED),
        ({_SCOPED: '*'}, {'l': '1'}, FindingCode.KEY_NOT_OFFERED),
        # What may be absent need not be offered.
        ({_SCOPED: '!'}, {'l': '1'}),
        ({_SCOPED: '<or> 1 <or> ~'}, {'l': '1'}),
        # A forced aggregate's sentinel does not carry the key.
        (
            {_SCOPED: '1'},
            {'k': '~', **_ON},
            FindingCode.KEY_NOT_OFFERED,
            FindingCode.CLOSED_AGGREGATE,
        ),
        ({_LIKES: '1'}, {'k': '1'}),
        ({_LIKES: '~'}, {'k': '1'}),
        ({_LIKES: '3'}, {'k': '1'}, FindingCode.PREFERENCE_NOT_MET),
        (
            {'aggregate_prefer:k': '1'},
            {'k': '1'},
            FindingCode.MISSPELLED_PREFERENCE,
        ),
        ({f'{_AVOIDS}.9:q': '1'}, {'k': '1'}, FindingCode.PREFERENCE_NOT_MET),
        ({f'{_AVOIDS}.0:k': '1'}, {'k': '1'}, FindingCode.MALFORMED_VALUE),
        ({_LIKES: '<or>'}, {}, FindingCode.MALFORMED_VALUE),
        ({}, {'k': '1', **_SOFT}, FindingCode.AVOIDED_BY_ALL),
        ({}, {'k': '1,~', **_SOFT}),
        ({_SCOPED: '1'}, {'k': '1', **_SOFT}),
        ({_FLAG: 'True'}, {}, FindingCode.FLAG_IN_FLAVOR),
        ({inputs.SCOPE + _FLAG: 'True'}, {}, FindingCode.FLAG_IN_FLAVOR),
        # Other namespaces are read where an aggregate has the key.
        ({'hw:numa_cpus.0': '0,1'}, {'k': '1'}),
        (
            {'hw:numa_cpus.0': '0,1'},
            {'hw:numa_cpus.0': '0'},
            FindingCode.COMMA_IN_FLAVOR,
        ),
        (
            {'hypervisor_type': 'QEMU', 'k': '1'},
            {'hypervisor_type': 'QEMU', 'k': '1'},
            FindingCode.CAPABILITY_KEY,
        ),
        ({}, {'os': 'windows', **_ON}, FindingCode.CLOSED_AGGREGATE),
        ({f'{inputs.SCOPE}os': 'windows'}, {'os': 'windows', **_ON}),
        # Without flavors there is nothing to say.
        (None, {'os': 'windows', **_ON}),
        # What is exempt is not demanded.
        ({}, {'availability_zone': 'a', **_ON}),
    )
    def test_codes(self, case) -> None:
        specs, metadata, *codes = case
        self.assertEqual({*codes}, _codes(specs, metadata))

    def test_a_scope_is_proposed_for_a_bare_key(self) -> None:
        (finding,) = _find({'k': '1'}, {'k': '1'})
        self.assertEqual(
            (FindingCode.UNSCOPED_KEY, mistakes.Severity.INFO, _SCOPED),
            (finding.code, finding.code.severity, finding.remedy),
        )

    def test_the_remedy_is_the_whole_line_of_the_option(self) -> None:
        (finding,) = _find({}, {'rack': '1', **_ON})
        line = f'"exempt_metadata_keys = {",".join(_EXEMPT)},rack"'
        self.assertIn(line, finding.remedy)

    def test_a_second_aggregate_may_open_the_first(self) -> None:
        both = {'os': 'windows', **_ON}, {'os': '~', **_ON}
        self.assertEqual(set(), _codes({}, *both))
        # On hosts of its own it does not.
        codes = _codes({}, *both, hosts=(('h1',), ('h2',)))
        self.assertEqual({FindingCode.CLOSED_AGGREGATE}, codes)

    def test_aggregates_that_contradict_each_other_are_found(self) -> None:
        both = {'os': 'windows', **_ON}, {'os': '!', **_ON}
        # Both hosts have it from the same two aggregates.
        hosts = ('h1', 'h2', 'h3'), ('h2', 'h3')
        (finding,) = _find(None, *both, hosts=hosts)
        self.assertEqual(
            (FindingCode.CONTRADICTORY_DEMANDS, 'host', 'h2', 'os'),
            (finding.code, *finding[3:]),
        )
        self.assertIn("'a0', 'a1'", finding.text)
        # Apart from each other they are sound.
        codes = _codes(None, *both, hosts=(('h1',), ('h2',)))
        self.assertEqual(set(), codes)

    @ddt.data(
        (
            {_SCOPED: '1'},
            {'l': '1'},
            FindingCode.KEY_NOT_OFFERED,
            "no aggregate has 'k': no host passes",
            "k=… on an aggregate, or '<or> … <or> ~' in the flavor if the key "
            'may be absent',
        ),
        (
            {_SCOPED: '1'},
            {'K': '1'},
            FindingCode.KEY_NOT_OFFERED,
            "no aggregate has 'k': no host passes. An aggregate has 'K': only "
            'white space, or upper and lower case, differ',
            "'K'",
        ),
        (
            {_SCOPED: '<or> C <or> B'},
            {'k': 'a,c,b,a'},
            FindingCode.VALUE_NOT_OFFERED,
            "no aggregate has a 'k' that meets '<or> C <or> B': no host "
            "passes. An aggregate has 'b': only white space, or upper and "
            'lower case, differ',
            "values that are there: 'a', 'b', 'c'",
        ),
        (
            {_FLAG: 'True'},
            {},
            FindingCode.FLAG_IN_FLAVOR,
            'it has no effect in a flavor',
            f'{_FLAG}=True on the aggregate',
        ),
        (
            {_LIKES: '3'},
            {'k': '1'},
            FindingCode.PREFERENCE_NOT_MET,
            'no aggregate meets it, so it has no effect',
            "values that are there: '1'",
        ),
        (
            {_LIKES: '<or>'},
            {},
            FindingCode.MALFORMED_VALUE,
            "the flavor has 'aggregate_preferred:k': nothing follows <or>",
            'a value as in other extra specs, a factor from 1 to 100',
        ),
    )
    @ddt.unpack
    def test_a_finding_in_a_flavor_has_its_text_and_its_remedy(
        self, specs, metadata, code: FindingCode, text: str, remedy: str
    ) -> None:
        (name,) = specs
        self.assertEqual(
            [mistakes.Finding(code, text, remedy, 'flavor', 'f', name)],
            _find(specs, metadata),
        )

    @ddt.data(
        (
            {'k': '1, *'},
            FindingCode.SENTINEL_WITHOUT_FLAG,
            f"'*' is plain text here, because {_FLAG} is not on",
            f'{_FLAG}=True, or commas between values',
        ),
        (
            {_SCOPED: '1'},
            FindingCode.SCOPE_WITHOUT_FLAG,
            f'the scope is part of the key here, because {_FLAG} is not on',
            'k',
        ),
        # Each piece has it, and it is told once.
        (
            {'k': '>=,>=', **_ON},
            FindingCode.MALFORMED_VALUE,
            "'>=': '>=' has no operand",
            "'>= NUMBER', or 's== TEXT' for text",
        ),
    )
    @ddt.unpack
    def test_a_finding_in_metadata_has_its_text_and_its_remedy(
        self, metadata, code: FindingCode, text: str, remedy: str
    ) -> None:
        name = next(iter(metadata))
        self.assertEqual(
            [mistakes.Finding(code, text, remedy, 'aggregate', 'a0', name)],
            _find(None, metadata),
        )

    def test_the_progress_is_told_flavor_by_flavor(self) -> None:
        flavors = [inventory.Flavor(name, {_FLAG: 'on'}) for name in 'ab']
        progressed = []

        def progress(
            records: Sequence[inventory.Flavor], noun: str
        ) -> Iterator[inventory.Flavor]:
            for record in records:
                progressed.append((noun, record.name))
                yield record

        findings = lint.lint(inventory.Stock(flavors, []), progress=progress)
        self.assertEqual([('flavors', 'a'), ('flavors', 'b')], progressed)
        self.assertEqual(['a', 'b'], [finding.name for finding in findings])

    def test_the_worst_comes_first(self) -> None:
        data = {'k': '1', 'l': '*'}, {'m': '!,1', **_ON}
        findings = _find({'k': '1'}, *data, hosts=(('h',), ()))
        self.assertEqual(
            [
                (mistakes.Severity.ERROR, 'a1'),
                (mistakes.Severity.WARNING, 'a0'),
                (mistakes.Severity.INFO, 'f'),
            ],
            [(f.code.severity, f.name) for f in findings],
        )

    @given(strategies.extra_specs(), strategies.metadata_lists())
    def test_no_extra_spec_is_hopeless_without_a_finding(
        self, extra_specs, metadata
    ) -> None:
        # Whatever the evaluator refuses everywhere is among the findings.
        codes = _codes(extra_specs or {}, *metadata, exempt=())
        aggregates = [inputs.Aggregate('a', data) for data in metadata]
        for spec in inputs.read_flavor(extra_specs):
            reasons = [
                next(Request((spec,)).reasons(host_aggregates), None)
                for host_aggregates in ((), *((a,) for a in aggregates))
            ]
            if all(r and r.side is Side.FLAVOR for r in reasons):
                self.assertTrue(codes & _HOPELESS, (spec, codes))
