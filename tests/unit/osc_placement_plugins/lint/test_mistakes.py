# SPDX-License-Identifier: Apache-2.0

"""Each finding: what brings it about, and what does not."""

import unittest

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters import conf
from nova_filters.matching import inputs
from nova_filters.matching.matcher import Matcher
from nova_filters.matching.mismatch import Side
from osc_placement_plugins.lint import mistakes
from osc_placement_plugins.lint.findings import ERROR, WARNING, Finding
from osc_placement_plugins.lint.findings import FindingCode as Code
from osc_placement_plugins.source.records import Flavor
from testing.nova import strategies
from tests.unit.osc_placement_plugins.inventories import make_inventory

_FLAG = inputs.FLAG
_ON = {_FLAG: 'True'}
_SCOPED = f'{inputs.SCOPE}k'
_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_LIKES = 'aggregate_preferred:k'

#: Values of a flavor beside an aggregate with the values 1 and 2, and what is
#: found.
VALUES = (
    ('<or> ! <or> 1', Code.MALFORMED_VALUE),
    ('>=2', Code.NOT_OFFERED),
    ('1,2', Code.NOT_OFFERED),
    (' 1', Code.NOT_OFFERED),
    ('3', Code.NOT_OFFERED),
    ('>= 3', Code.NOT_OFFERED),
    ('1',),
    ('*',),
    ('~',),
    ('!',),
    ('<or> 1 <or> ~',),
    ('>= 2',),
)
#: Metadata of an aggregate, and what is found without a flavor.
METADATA = (
    (
        {'k': '<or> ! <or> 1', **_ON},
        Code.MALFORMED_VALUE,
        Code.CONTRADICTORY_DEMANDS,
    ),
    ({'k': '1,~'}, Code.MISREAD_VALUE),
    ({'force_metadata_chek': 'True'}, Code.MISSPELLED_FLAG),
    ({_FLAG: 'Ture'}, Code.FLAG_WITHOUT_EFFECT),
    ({_FLAG: 'enabled'}, Code.FLAG_WITHOUT_EFFECT),
    ({inputs.SOFT_FLAG: '2'}, Code.FLAG_WITHOUT_EFFECT),
    ({f'{inputs.SCOPE}{_FLAG}': 'True'}, Code.FLAG_WITHOUT_EFFECT),
    ({_FLAG: ' No '},),
    ({_FLAG: 'off'},),
    ({_FLAG: ''},),
    ({'k': '!,1', **_ON}, Code.CONTRADICTORY_DEMANDS),
    ({'k': '1,2', 'availability_zone': 'az1'},),
    ({_SCOPED: '*', **_ON},),
    ({'k': '<or> 1 <or> 2', **_ON},),
    ({'k': '1', _FLAG: 'False'},),
    # What a flavor may omit is no plain text here.
    ({'k': '1,~', inputs.SOFT_FLAG: 'true'},),
    # The filter reads no sentinels there.
    ({'k': '<or> 1 <or> 2', inputs.SOFT_FLAG: 'on'}, Code.MISREAD_VALUE),
    ({'ram_weight_multiplier': 'nan'}, Code.ENDLESS_MULTIPLIER),
    ({'cpu_weight_multiplier': '-inf'}, Code.ENDLESS_MULTIPLIER),
    ({'cpu_weight_multiplier': '-1e9'},),
    ({'cpu_weight_multiplier': 'many'},),
    # All keys are exempt from demand, or there is none.
    ({'os_distro': 'windows', **_ON}, Code.FLAG_WITHOUT_EFFECT),
    ({'trait:CUSTOM_X': 'required', **_ON}, Code.FLAG_WITHOUT_EFFECT),
    ({'os_type': 'x', inputs.SOFT_FLAG: 'on'}, Code.FLAG_WITHOUT_EFFECT),
    ({**_ON}, Code.FLAG_WITHOUT_EFFECT),
    ({'os_distro': 'windows', 'k': '1,~', **_ON},),
)
#: Extra specs of a flavor, metadata of an aggregate, and what is found.
TOGETHER = (
    # What may be absent need not be offered.
    ({_SCOPED: '<or> 1 <or> ~'}, {'l': '1'}),
    # A forced aggregate's sentinel does not carry the key.
    (
        {_SCOPED: '1'},
        {'k': '~', **_ON},
        Code.NOT_OFFERED,
        Code.CLOSED_AGGREGATE,
    ),
    ({_LIKES: '1'}, {'k': '1'}),
    ({'aggregate_prefer:k': '1'}, {'k': '1'}, Code.NAMESPACE_WITHOUT_EFFECT),
    # A published how-to teaches it; nothing reads it.
    ({f'hw:{_SCOPED}': '1'}, {'k': '1'}, Code.NAMESPACE_WITHOUT_EFFECT),
    (
        {'aggregate_instance_extra_spec:k': '1'},
        {'k': '1'},
        Code.NAMESPACE_WITHOUT_EFFECT,
    ),
    ({'host_aggregate:k': '1'}, {'k': '1'}, Code.NAMESPACE_WITHOUT_EFFECT),
    # It is not skipped.
    ({'host_aggregate:k': '1'}, {'host_aggregate:k': '1'}),
    # Other namespaces are read where an aggregate has the key.
    ({'hw:numa_cpus.0': '0,1'}, {'k': '1'}),
    ({'hw:numa_cpus.0': '>='}, {'hw:numa_cpus.0': '0'}, Code.MALFORMED_VALUE),
    # Hosts without the key take the flavor.
    ({'hw:numa_cpus.0': '0,1'}, {'hw:numa_cpus.0': '0'}),
    ({'hw:x': '0,1'}, {'hw:x': '*', **_ON}),
    # This aggregate accepts each value.
    ({_SCOPED: '0,1'}, {'k': '*', **_ON}),
    ({}, {'os': 'windows', **_ON}, Code.CLOSED_AGGREGATE),
)
#: What makes an extra spec one that no host meets.
_HOPELESS = {Code.MALFORMED_VALUE, Code.NOT_OFFERED}


def find(
    flavors: list[dict[str, str]],
    *aggregates: tuple[dict[str, str], str],
    states: dict[str, str] | None = None,
    exempt: inputs.Exempt = _EXEMPT,
) -> list[Finding]:
    """Return what is found.

    :param flavors: the extra specs of the flavors f0, f1, …
    :param aggregates: the metadata and the hosts of a0, a1, …
    :param states: of all hosts; None if there is no list of hosts.
    """
    inventory = make_inventory(aggregates, states, exempt)
    return mistakes.find_mistakes(
        [Flavor(f'f{n}', specs) for n, specs in enumerate(flavors)], inventory
    )


def codes_of(findings: list[Finding]) -> set[Code]:
    return {finding.code for finding in findings}


@ddt.ddt
class CodesTest(unittest.TestCase):
    @ddt.data(*VALUES)
    def test_mistakes_in_a_value(self, case) -> None:
        text, *codes = case
        findings = find([{_SCOPED: text}], ({'k': '1,2'}, 'h'))
        self.assertEqual({*codes}, codes_of(findings))

    @ddt.data(*METADATA)
    def test_mistakes_in_metadata(self, case) -> None:
        metadata, *codes = case
        self.assertEqual({*codes}, codes_of(find([], (metadata, 'h'))))

    @ddt.data(*TOGETHER)
    def test_what_flavors_and_aggregates_say_together(self, case) -> None:
        specs, metadata, *codes = case
        self.assertEqual({*codes}, codes_of(find([specs], (metadata, 'h'))))

    @given(strategies.EXTRA_SPECS, st.lists(strategies.METADATA, max_size=3))
    def test_no_extra_spec_is_hopeless_without_a_finding(
        self, extra_specs, metadata
    ) -> None:
        # Whatever the evaluator refuses everywhere is among the findings.
        pairs = [(data, 'h') for data in metadata]
        codes = codes_of(find([extra_specs or {}], *pairs, exempt=()))
        aggregates = [inputs.Aggregate('a', data) for data in metadata]
        for spec in inputs.read_flavor(extra_specs):
            reasons = [
                next(
                    Matcher((spec,)).explain_mismatches(host_aggregates), None
                )
                for host_aggregates in ((), *((a,) for a in aggregates))
            ]
            if all(r and r.side is Side.FLAVOR for r in reasons):
                self.assertTrue(codes & _HOPELESS, (spec, codes))


@ddt.ddt
class TextTest(unittest.TestCase):
    def test_no_finding_has_a_command(self) -> None:
        # A copied command changes a cloud, and no finding can know whether the
        # flavor or the aggregate is wrong.
        clouds = [
            *(([{_SCOPED: text}], {'k': '1,2'}) for text, *_ in VALUES),
            *(([], metadata) for metadata, *_ in METADATA),
            *(([specs], metadata) for specs, metadata, *_ in TOGETHER),
            ([{_LIKES: '3'}], {'k': '1'}),
        ]
        findings = []
        for flavors, metadata in clouds:
            for states in None, {'h': 'up'}, {'h': 'down'}:
                findings += find(flavors, (metadata, 'h'), states=states)
        self.assertEqual({*Code}, codes_of(findings))
        for finding in findings:
            for word in 'openstack', '--property', 'unset':
                self.assertNotIn(word, str(finding))

    @ddt.data(
        ('1', {'l': '1'}, ', so no host passes'),
        # The aggregate accepts each value, but offers none.
        ('1', {'k': '~', **_ON}, ', so no host passes'),
        (
            '1',
            {'K': '1'},
            ", so no host passes. An aggregate has 'K': only white space, or "
            'upper and lower case, differ',
        ),
        (
            'B',
            {'k': 'a,c,b'},
            " with a value that meets 'B', so no host passes. An aggregate "
            "has 'b': only white space, or upper and lower case, differ",
        ),
        # Sentinels are no values that a flavor could ask for.
        (
            '1',
            {'k': '2,<or> 3 <or> ~', **_ON},
            " with a value that meets '1', so no host passes. Aggregates have "
            "'2', '3'",
        ),
        (
            '1',
            {'k ': '1'},
            ", so no host passes. An aggregate has 'k ': only white space, or "
            'upper and lower case, differ',
        ),
        (
            '1, 2',
            {'k': '1,2'},
            " with a value that meets '1, 2', so no host passes. Aggregates "
            "have '1', '2'",
        ),
        (
            '<or> C <or> B',
            {'k': 'a,c,b,a'},
            " with a value that meets '<or> C <or> B', so no host passes. An "
            "aggregate has 'b': only white space, or upper and lower case, "
            'differ',
        ),
    )
    @ddt.unpack
    def test_what_aggregates_have_in_place_of_it_is_told(
        self, value, metadata, text: str
    ) -> None:
        finding, *_ = find([{_SCOPED: value}], (metadata, 'h'))
        self.assertEqual(
            Finding(
                Code.NOT_OFFERED,
                _SCOPED,
                f"no aggregate has 'k'{text}",
                owner='flavor',
                name='f0',
            ),
            finding,
        )

    @ddt.data(
        (
            {inputs.SCOPE + _FLAG: 'True'},
            {},
            Code.FLAG_WITHOUT_EFFECT,
            'the flag has no effect in a flavor',
        ),
        (
            {_LIKES: '3'},
            {'k': '1'},
            Code.PREFERENCE_WITHOUT_EFFECT,
            'no aggregate meets it, so it has no effect',
        ),
        (
            {_LIKES: '<or>'},
            {},
            Code.PREFERENCE_WITHOUT_EFFECT,
            "the flavor has 'aggregate_preferred:k': nothing follows <or>",
        ),
    )
    @ddt.unpack
    def test_a_finding_in_a_flavor_has_its_text(
        self, specs, metadata, code: Code, text: str
    ) -> None:
        (name,) = specs
        finding, *_ = find([specs], (metadata, 'h'))
        self.assertEqual(
            Finding(code, name, text, owner='flavor', name='f0'), finding
        )

    @ddt.data(
        (
            {'k': '1, *'},
            Code.MISREAD_VALUE,
            f"'*': read as plain text, because {_FLAG} is not on",
        ),
        (
            {_SCOPED: '1'},
            Code.NAMESPACE_WITHOUT_EFFECT,
            f'the scope is part of the key here, because {_FLAG} is not on',
        ),
        # Each piece has it, and it is told once.
        (
            {'k': '>=,>=', **_ON},
            Code.MALFORMED_VALUE,
            "'>=': '>=' has no operand",
        ),
    )
    @ddt.unpack
    def test_a_finding_in_metadata_has_its_text(
        self, metadata, code: Code, text: str
    ) -> None:
        name = next(iter(metadata))
        self.assertEqual(
            [Finding(code, name, text, owner='aggregate', name='a0')],
            find([], (metadata, 'h')),
        )

    def test_the_worst_comes_first(self) -> None:
        findings = find(
            [{'k': '1'}],
            ({'k': '1', 'l': '*'}, 'h'),
            ({'m': '!,1', **_ON}, ''),
        )
        self.assertEqual(
            [
                (ERROR, 'a1'),
                (WARNING, 'a0'),
            ],
            [(finding.severity, finding.name) for finding in findings],
        )


@ddt.ddt
class DemandTest(unittest.TestCase):
    """Demands that no flavor meets, or that exclude each other."""

    FORCED = {'a': '1', 'b': '2', **_ON}, 'h1'

    @ddt.data(
        # The key that keeps out most is told.
        ([{}, {}, {'b': '1'}, {'a': '1'}], [FORCED], [('a0', 'b')]),
        ([{}, {'a': '1', 'b': '2', 'c': '3'}], [FORCED], []),
        ([], [FORCED], []),
        # Without the flag, nothing is demanded.
        ([{}], [({'a': '1'}, 'h1')], []),
        # A flavor that refuses the hosts is not kept out.
        ([{'k': '!'}], [({'k': '1,~', **_ON}, 'h1')], []),
        # a1 lets the flavor omit "m", and demands "a" itself.
        (
            [{}],
            [({'m': '1', **_ON}, 'h1'), ({'a': '1', 'm': '~', **_ON}, 'h1')],
            [('a1', 'a')],
        ),
    )
    @ddt.unpack
    def test_an_aggregate_that_no_flavor_may_use(
        self, flavors, aggregates, closed
    ) -> None:
        states = {'h1': 'up', 'h2': 'up', 'h3': 'up'}
        self.assertEqual(
            closed,
            [
                (finding.name, finding.key)
                for finding in find(flavors, *aggregates, states=states)
                if finding.code is Code.CLOSED_AGGREGATE
            ],
        )

    def test_exempt_keys_are_not_demanded(self) -> None:
        (finding,) = find([{}], self.FORCED, exempt=('a', 'b'))
        self.assertEqual(
            Finding(
                Code.FLAG_WITHOUT_EFFECT,
                _FLAG,
                'the flag has no effect, because exempt_metadata_keys covers '
                "all other keys: 'a', 'b'",
                owner='aggregate',
                name='a0',
            ),
            finding,
        )

    def test_a_key_of_another_program_is_made_exempt(self) -> None:
        windows = {'os': 'windows', 'evacuable': 'true', **_ON}, 'h1'
        flavors = [{f'{inputs.SCOPE}os': 'windows'}]
        closed, _ = sorted(find(flavors, windows), key=lambda each: each.code)
        self.assertEqual('evacuable', closed.key)
        exempt = (*_EXEMPT, 'evacuable')
        self.assertEqual([], find(flavors, windows, exempt=exempt))

    def test_both_sides_of_a_closed_aggregate_are_told(self) -> None:
        (finding,) = find([{}], ({'gpu': 'k80', **_ON}, 'h1'))
        self.assertEqual(
            "no flavor meets what it demands; 'gpu' keeps out 1 of 1. Either "
            'the flavor for its hosts is missing or misspelled, or the '
            'aggregate demands too much',
            finding.text,
        )

    @ddt.data(
        ([({'k': '1,!', 'l': '!', 'm': '2', **_ON}, 'h1')], [('a0', 'k')]),
        # Hosts in the same aggregates have one mistake.
        (
            [
                ({'k': '1', 'l': '1', **_ON}, 'h1 h2 h3'),
                ({'k': '!', 'l': '!', **_ON}, 'h2 h3'),
                ({'rack': '1'}, 'h3'),
            ],
            [('h2', 'k'), ('h2', 'l')],
        ),
    )
    @ddt.unpack
    def test_demands_that_exclude_each_other(self, aggregates, keys) -> None:
        findings = find([], *aggregates)
        self.assertEqual({Code.CONTRADICTORY_DEMANDS}, codes_of(findings))
        self.assertEqual(keys, [(f.name, f.key) for f in findings])


@ddt.ddt
class ConfinedTest(unittest.TestCase):
    """Flavors without a host that is up."""

    STATES = {'h1': 'up', 'h2': 'disabled', 'h3': 'down'}

    @ddt.data(
        ({'gpu': '1'}, 'h2 h3', STATES, [Code.NO_HOST]),
        ({'gpu': '1'}, 'h3', STATES, [Code.NO_HOST]),
        ({'gpu': '1'}, 'h1', STATES, []),
        ({'gpu': '1'}, 'h1 h2', STATES, []),
        ({}, 'h1 h2', STATES, []),
        # Hosts that nobody has listed may take a flavor.
        ({'gpu': '!'}, 'h1', None, []),
        ({'gpu': '!'}, 'h1', {}, [Code.NO_HOST]),
        ({'gpu': '<or> 2 <or> ~'}, 'h1', {'h1': 'up'}, [Code.NO_HOST]),
    )
    @ddt.unpack
    def test_codes(self, specs, gpu_hosts: str, states, codes) -> None:
        findings = find([specs], ({'gpu': '1'}, gpu_hosts), states=states)
        self.assertEqual(codes, [finding.code for finding in findings])

    @ddt.data(
        {_SCOPED: '1,2'},
        {_SCOPED: '3'},
        {f'{_SCOPED} ': '1'},
        {_SCOPED: '>='},
        {'m': '1'},
    )
    def test_one_mistake_is_one_error(self, specs) -> None:
        states = {'h1': 'up', 'h2': 'up'}
        findings = find([specs], ({'k': '1'}, 'h1'), states=states)
        errors = {finding for finding in findings if finding.severity == ERROR}
        self.assertEqual(1, len(errors), errors)

    def test_two_mistakes_are_two_errors(self) -> None:
        # No host has both, and an optional value is malformed.
        specs = {'gpu': '1', 'ssd': '2', 'hw:x': '>='}
        findings = find(
            [specs],
            ({'gpu': '1', 'hw:x': '1'}, 'h1'),
            ({'ssd': '2'}, 'h2'),
        )
        self.assertEqual(
            {Code.MALFORMED_VALUE, Code.NO_HOST},
            {finding.code for finding in findings},
        )

    def test_the_hosts_are_counted_by_reason(self) -> None:
        findings = find(
            [{'gpu': '1', 'ssd': '2'}],
            ({'gpu': '1'}, 'h1 h2'),
            ({'ssd': '2'}, 'h3'),
        )
        self.assertEqual(
            Finding(
                Code.NO_HOST,
                '',
                "0 of 3 hosts take it: 'ssd' not in any aggregate (2), 'gpu' "
                'not in any aggregate (1)',
                owner='flavor',
                name='f0',
            ),
            findings[0],
        )
