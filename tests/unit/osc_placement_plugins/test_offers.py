# SPDX-License-Identifier: Apache-2.0

"""Each finding: what brings it about, and what does not."""

import unittest

import ddt
from hypothesis import given

from nova_filters import conf
from nova_filters.matching import inputs
from nova_filters.matching.judge import Judge
from nova_filters.matching.reason import Side
from osc_placement_plugins import mistakes, offers
from osc_placement_plugins.mistakes import FindingCode
from osc_placement_plugins.records import Aggregate, Flavor, Host, Inventory
from testing.nova import strategies

_FLAG = inputs.FLAG
_ON = {_FLAG: 'True'}
_SOFT = {inputs.SOFT_FLAG: 'true'}
_SCOPED = f'{inputs.SCOPE}k'
_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_LIKES = 'aggregate_preferred:k'

#: By code, values of a flavor beside an aggregate with the values 1 and 2.
VALUES: dict[FindingCode | None, tuple[str, ...]] = {
    FindingCode.EXCLUSIVE_SENTINEL: ('<or> ! <or> 1',),
    FindingCode.MALFORMED_VALUE: ('>= two',),
    FindingCode.MISPLACED_OR: ('<or>1',),
    FindingCode.UNKNOWN_OPERATOR: ('>=2',),
    FindingCode.EXPANDED_TILDE: ('/root',),
    FindingCode.COMMA_IN_FLAVOR: ('1,2',),
    FindingCode.OUTER_SPACE: (' 1',),
    FindingCode.VALUE_NOT_OFFERED: ('3', '>= 3'),
    None: ('1', '*', '~', '!', '<or> 1 <or> ~', '>= 2'),
}
#: By code, what an aggregate has.
METADATA: dict[FindingCode | None, tuple[dict[str, str], ...]] = {
    FindingCode.EXCLUSIVE_SENTINEL: ({'k': '<or> ! <or> 1', **_ON},),
    FindingCode.MISPLACED_OR: ({'k': '1,<or>2', **_ON},),
    FindingCode.UNKNOWN_OPERATOR: ({'k': '>=2', **_ON},),
    FindingCode.EXPANDED_TILDE: ({'k': '/home/me'},),
    FindingCode.MISSPELLED_FLAG: (
        {'force_metadata_chek': 'True'},
        {inputs.SCOPE + _FLAG: 'True'},
    ),
    FindingCode.UNCLEAR_FLAG: ({_FLAG: 'Ture'}, {inputs.SOFT_FLAG: 'Ture'}),
    FindingCode.OUTER_SPACE: ({'k ': '1'},),
    FindingCode.CONTRADICTORY_DEMANDS: ({'k': '!,1', **_ON},),
    None: (
        {'k': '1,2', 'availability_zone': 'az1'},
        {_SCOPED: '*', **_ON},
        {'k': '<or> 1 <or> 2', **_ON},
        {'k': '1', _FLAG: 'False'},
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
    flavors = [] if extra_specs is None else [Flavor('f', extra_specs)]
    aggregates = [
        Aggregate(f'a{n}', data, hosts[n] if hosts else ('h',))
        for n, data in enumerate(metadata)
    ]
    return offers.find(flavors, Inventory(aggregates, exempt))


def _codes(*specs_and_metadata, **kwargs) -> set[FindingCode]:
    """Return the codes of what is found."""
    return {f.code for f in _find(*specs_and_metadata, **kwargs)}


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


@ddt.ddt
class CloudTest(unittest.TestCase):
    """What flavors and aggregates say together."""

    @ddt.data(
        # What may be absent need not be offered.
        ({_SCOPED: '<or> 1 <or> ~'}, {'l': '1'}),
        # A forced aggregate's sentinel does not carry the key.
        (
            {_SCOPED: '1'},
            {'k': '~', **_ON},
            FindingCode.KEY_NOT_OFFERED,
            FindingCode.CLOSED_AGGREGATE,
        ),
        ({_LIKES: '1'}, {'k': '1'}),
        (
            {'aggregate_prefer:k': '1'},
            {'k': '1'},
            FindingCode.MISSPELLED_PREFERENCE,
        ),
        # A published how-to teaches it; nothing reads it.
        (
            {'hw:aggregate_instance_extra_specs:k': '1'},
            {'k': '1'},
            FindingCode.MISPLACED_SCOPE,
        ),
        # The blank belongs to the key.
        ({f'{_SCOPED} ': '~'}, {'k': '1'}, FindingCode.OUTER_SPACE),
        # What a flavor may omit is no plain text here.
        ({}, {'k': '1,~', **_SOFT}),
        # Nova's API reads it, whether an aggregate has the key or not.
        ({'hw:cpu_policy': '~'}, {'k': '1'}, FindingCode.REFUSED_BY_API),
        # Other namespaces are read where an aggregate has the key.
        ({'hw:numa_cpus.0': '0,1'}, {'k': '1'}),
        (
            {'hw:numa_cpus.0': '0,1'},
            {'hw:numa_cpus.0': '0'},
            FindingCode.COMMA_IN_FLAVOR,
        ),
        ({}, {'os': 'windows', **_ON}, FindingCode.CLOSED_AGGREGATE),
    )
    def test_codes(self, case) -> None:
        specs, metadata, *codes = case
        self.assertEqual({*codes}, _codes(specs, metadata))

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
            {inputs.SCOPE + _FLAG: 'True'},
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

    def test_the_worst_comes_first(self) -> None:
        data = {'k': '1', 'l': '*'}, {'m': '!,1', **_ON}
        findings = _find({'k': '1'}, *data, hosts=(('h',), ()))
        self.assertEqual(
            [
                (mistakes.Severity.ERROR, 'a1'),
                (mistakes.Severity.WARNING, 'a0'),
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
                next(Judge((spec,)).reasons(host_aggregates), None)
                for host_aggregates in ((), *((a,) for a in aggregates))
            ]
            if all(r and r.side is Side.FLAVOR for r in reasons):
                self.assertTrue(codes & _HOPELESS, (spec, codes))


def _offer(
    flavors: list[dict[str, str]],
    *aggregates: tuple[dict[str, str], str],
    states: dict[str, str] | None = None,
    exempt: inputs.Exempt = (),
) -> list[tuple[str, str, str]]:
    """Return the code, the object and the key of each finding.

    :param flavors: the extra specs of the flavors f0, f1, …
    :param aggregates: the metadata and the hosts of a0, a1, …
    :param states: of all hosts; None if there is no list of hosts.
    """
    services = None
    if states is not None:
        services = [Host(name, state=state) for name, state in states.items()]
    inventory = Inventory(
        [
            Aggregate(f'a{n}', metadata, tuple(names.split()))
            for n, (metadata, names) in enumerate(aggregates)
        ],
        exempt,
        services,
    )
    made = [Flavor(f'f{n}', specs) for n, specs in enumerate(flavors)]
    return [
        (finding.code.value, finding.name, finding.key)
        for finding in offers.find(made, inventory)
    ]


@ddt.ddt
class DemandTest(unittest.TestCase):
    """Demands that no flavor meets, or that exclude each other."""

    FORCED = {'a': '1', 'b': '2', **_ON}, 'h1'
    CLOSED = 'closed-aggregate'

    @ddt.data(
        # The key that keeps out most is told.
        (
            [{}, {}, {'b': '1'}, {'a': '1'}],
            [FORCED],
            [(CLOSED, 'a0', 'b')],
        ),
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
            [(CLOSED, 'a1', 'a')],
        ),
    )
    @ddt.unpack
    def test_an_aggregate_that_no_flavor_may_use(
        self, flavors, aggregates, findings
    ) -> None:
        states = {'h1': 'up', 'h2': 'up', 'h3': 'up'}
        self.assertEqual(
            findings,
            [
                finding
                for finding in _offer(flavors, *aggregates, states=states)
                if finding[0] == self.CLOSED
            ],
        )

    def test_exempt_keys_are_not_demanded(self) -> None:
        self.assertEqual([], _offer([{}], self.FORCED, exempt=('a', 'b')))

    def test_the_remedy_opens_nothing_but_the_aggregate(self) -> None:
        old = {'gpu': 'k80', **_ON}
        new = {'gpu': 'h100', **_ON}
        (first, second) = _find({}, old, new, hosts=(('h1',), ('h2',)))
        for finding, name in ((first, 'a0'), (second, 'a1')):
            self.assertEqual(
                (FindingCode.CLOSED_AGGREGATE, name),
                (finding.code, finding.name),
            )
            self.assertEqual(
                'aggregate_instance_extra_specs:gpu=… in a flavor, or a piece '
                "'~' in this aggregate's value if flavors without the key may "
                'use its hosts',
                finding.remedy,
            )
        # The remedy, followed: a flavor without the key passes on h1 alone.
        old['gpu'] = 'k80,~'
        (finding,) = _find({}, old, new, hosts=(('h1',), ('h2',)))
        self.assertEqual('a1', finding.name)

    @ddt.data(
        ([({'k': '1,!', 'l': '!', 'm': '2', **_ON}, 'h1')], ['a0 k']),
        # Hosts in the same aggregates have one mistake.
        (
            [
                ({'k': '1', 'l': '1', **_ON}, 'h1 h2 h3'),
                ({'k': '!', 'l': '!', **_ON}, 'h2 h3'),
                ({'rack': '1'}, 'h3'),
            ],
            ['h2 k', 'h2 l'],
        ),
    )
    @ddt.unpack
    def test_demands_that_exclude_each_other(self, aggregates, names) -> None:
        findings = _offer([], *aggregates)
        self.assertEqual(
            [('contradictory-demands', *name.split()) for name in names],
            findings,
        )


@ddt.ddt
class ConfinedTest(unittest.TestCase):
    """Flavors without a host, or with only one."""

    STATES = {'h1': 'up', 'h2': 'disabled', 'h3': 'down'}

    @ddt.data(
        ({'gpu': '1'}, 'h2 h3', ['no-host-up']),
        ({'gpu': '1'}, 'h1', ['one-host']),
        ({'gpu': '1'}, 'h3', ['no-host-up']),
        ({'gpu': '1'}, 'h1 h2', []),
        ({}, 'h1 h2', []),
    )
    @ddt.unpack
    def test_codes(self, specs, gpu_hosts: str, codes) -> None:
        findings = _offer(
            [specs], ({'gpu': '1'}, gpu_hosts), states=self.STATES
        )
        self.assertEqual(codes, [code for code, _, _ in findings])

    @ddt.data(
        ('!', None, []),
        ('!', {}, ['no-host']),
        ('<or> 2 <or> ~', {'h1': 'up'}, ['no-host']),
    )
    @ddt.unpack
    def test_hosts_that_nobody_has_listed_may_take_a_flavor(
        self, text: str, states, codes
    ) -> None:
        findings = _offer([{'gpu': text}], ({'gpu': '1'}, 'h1'), states=states)
        self.assertEqual(codes, [code for code, _, _ in findings])

    def test_the_hosts_are_counted_by_key(self) -> None:
        findings = _find(
            {'gpu': '1', 'ssd': '2'},
            {'gpu': '1'},
            {'ssd': '2'},
            hosts=(('h1', 'h2'), ('h3',)),
        )
        (finding,) = [f for f in findings if f.code is FindingCode.NO_HOST]
        self.assertEqual(
            "0 of 3 hosts take it: 2 because of 'ssd', 1 because of 'gpu'",
            finding.text,
        )
        self.assertEqual(
            'see openstack aggregate filter explain f', finding.remedy
        )
