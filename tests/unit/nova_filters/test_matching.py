# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The decision tables: each cell, and every example of the specification."""

import dataclasses
import unittest

import ddt
from hypothesis import given

from demo.nova import cases
from nova_filters import batch, matching
from tests.unit.nova_filters import strategies

_ON = {'force_metadata_check': 'true'}


def verdict(
    extra_specs: dict[str, str] | None,
    *metadata: dict[str, str],
    exempt: tuple[str, ...] = (),
) -> matching.Verdict:
    """Return the verdict on a host in aggregates named a0, a1, …

    Whatever is asked here, many hosts at once must be judged alike.
    """
    aggregates = [
        matching.Aggregate(f'a{index}', data)
        for index, data in enumerate(metadata)
    ]
    flavor = matching.read_flavor(extra_specs)
    found = matching.evaluate(flavor, aggregates, exempt)
    sifted = batch.Batch(flavor, exempt).sift([Host(aggregates)])
    if bool(sifted.passed) is not found.passed:
        raise AssertionError(f'{sifted} instead of {found}')
    return found


@dataclasses.dataclass
class Host:
    """A host, as far as the filter looks at it."""

    aggregates: list[matching.Aggregate]


@ddt.ddt
class SpecificationTest(unittest.TestCase):
    """Every example of the specification, as its sentences say."""

    @ddt.data(*cases.CASES)
    def test_the_example_comes_out_as_written(self, case: cases.Case) -> None:
        for flavor, extra_specs in case.flavors.items():
            passed = {
                name
                for name, metadata in case.aggregates.items()
                if verdict(extra_specs, metadata).passed
            }
            self.assertEqual(case.wanted[flavor], passed, flavor)

    def test_cases_name_what_they_hold(self) -> None:
        for case in cases.CASES:
            self.assertEqual(set(case.flavors), set(case.wanted))
            for names in case.wanted.values():
                self.assertLessEqual(names, set(case.aggregates))


#: (extra spec on k, metadata of the host's aggregates, wanted).
_FLAVOR_CELLS = (
    # plain, operator, <or>: no aggregate carries k
    ('1', [], False),
    ('1', [{}], False),
    ('>= 1', [{}], False),
    ('<or> 1', [{}], False),
    ('1', [{'k': '~', **_ON}], False),
    ('1', [{'k': '!', **_ON}], False),
    # plain, operator, <or>: A has a value
    ('1', [{'k': '1'}], True),
    ('1', [{'k': '2'}], False),
    ('1', [{'k': '2,1'}], True),
    ('1', [{'k': '2'}, {'k': '1'}], True),
    ('>= 2', [{'k': '3'}], True),
    ('>= 2', [{'k': '1'}], False),
    ('<or> 1 <or> 2', [{'k': '2'}], True),
    ('<or> 1 <or> 2', [{'k': '3'}], False),
    ('1', [{'k': '*', **_ON}], True),
    ('1', [{'k': '<or> 1 <or> ~', **_ON}], True),
    ('3', [{'k': '>= 2', **_ON}], True),
    # *
    ('*', [], False),
    ('*', [{'k': '~', **_ON}], False),
    ('*', [{'k': '!', **_ON}], False),
    ('*', [{'k': ''}], True),
    ('*', [{'k': 'x'}], True),
    ('*', [{'k': '>= 2', **_ON}], True),
    # ~ alone
    ('~', [], True),
    ('~', [{'k': '~', **_ON}], True),
    ('~', [{'k': '!', **_ON}], True),
    ('~', [{'k': '1'}], False),
    ('~', [{'k': '1'}, {'k': '~', **_ON}], True),
    ('~', [{'k': '1'}, {'k': '!', **_ON}], False),
    ('~', [{'k': '<or> 1 <or> ~', **_ON}], True),
    # <or> v <or> ~
    ('<or> 1 <or> ~', [], True),
    ('<or> 1 <or> ~', [{'k': '~', **_ON}], True),
    ('<or> 1 <or> ~', [{'k': '1'}], True),
    ('<or> 1 <or> ~', [{'k': '2'}], False),
    # <or> * <or> ~
    ('<or> * <or> ~', [], True),
    ('<or> * <or> ~', [{'k': '!', **_ON}], True),
    ('<or> * <or> ~', [{'k': '1'}], True),
    # !
    ('!', [], True),
    ('!', [{'k': '~', **_ON}], True),
    ('!', [{'k': '!', **_ON}], True),
    ('!', [{'k': '1'}], False),
    ('!', [{'k': ''}], False),
    ('!', [{'k': '<or> 1 <or> ~', **_ON}], False),
    # what nothing can meet
    ('<or>', [], False),
    ('<or>', [{'k': '<or>'}], False),
    ('<or> ! <or> 1', [], False),
    ('<or> ! <or> 1', [{'k': '1'}], False),
    ('>= two', [{'k': 'two'}], False),
    ('>= 2', [{'k': 'two'}], False),
    ('>= 2', [{'k': 'two,3'}], True),
)

#: (the flavor's extra specs on k, D by forced aggregate, wanted).
_DEMAND_CELLS = (
    # values, *, operators
    ({}, ['1'], False),
    ({}, ['*'], False),
    ({}, ['>= 1'], False),
    ({}, ['1', '2'], False),
    ({'k': '1'}, ['1'], True),
    ({'k': '2'}, ['1'], False),
    ({'k': '2'}, ['1', '2'], True),
    ({'k': '2'}, ['1,2'], True),
    ({'k': '2'}, ['*'], True),
    ({'k': '2'}, ['>= 1'], True),
    ({'k': '0'}, ['>= 1'], False),
    ({'k': '>= 1'}, ['>=  1'], True),
    ({'k': '>= 1'}, ['>= 2'], False),
    ({'k': '*'}, ['1'], True),
    ({'k': '~'}, ['1'], False),
    ({'k': '<or> 1 <or> ~'}, ['1'], True),
    ({'k': '!'}, ['1'], False),
    # contains ~
    ({}, ['~'], True),
    ({}, ['<or> 1 <or> ~'], True),
    ({}, ['1', '~'], True),
    ({}, ['1,~'], True),
    ({'k': '1'}, ['~'], False),
    ({'k': '1'}, ['<or> 1 <or> ~'], True),
    ({'k': '2'}, ['<or> 1 <or> ~'], False),
    ({'k': '2'}, ['<or> * <or> ~'], True),
    ({'k': '~'}, ['<or> 1 <or> ~'], True),
    ({'k': '!'}, ['~'], True),
    # ! only
    ({}, ['!'], True),
    ({}, ['!', '!'], True),
    ({'k': '1'}, ['!'], False),
    ({'k': '~'}, ['!'], True),
    ({'k': '!'}, ['!'], True),
    ({'k': '<or> 1 <or> ~'}, ['!'], True),
    ({'k': '*'}, ['!'], False),
    ({'k': '~', 'aggregate_instance_extra_specs:k': '1'}, ['!'], False),
    # ! and anything else
    ({}, ['!', '1'], False),
    ({}, ['!,~'], False),
    ({}, ['!,1'], False),
    ({}, ['<or> ! <or> 1'], False),
    ({'k': '1'}, ['!', '1'], False),
    ({'k': '~'}, ['!', '~'], False),
    ({'k': '~'}, ['!,*'], False),
    # what nothing can meet
    ({}, ['<or>'], False),
    ({'k': '1'}, ['<or>'], False),
    ({'k': '1'}, ['>= x,1'], True),
)


@ddt.ddt
class TableTest(unittest.TestCase):
    """Both decision tables, cell by cell."""

    @ddt.data(*_FLAVOR_CELLS)
    @ddt.unpack
    def test_flavor_check(
        self, text: str, metadata: list[dict[str, str]], wanted: bool
    ) -> None:
        # Exempt from demand, so that nothing but check 1 decides.
        found = verdict({'k': text}, *metadata, exempt=('*',))
        self.assertIs(wanted, found.passed, found.reason)

    @ddt.data(*_FLAVOR_CELLS)
    @ddt.unpack
    def test_flavor_check_of_the_scoped_key(
        self, text: str, metadata: list[dict[str, str]], wanted: bool
    ) -> None:
        found = verdict(
            {'aggregate_instance_extra_specs:k': text},
            *metadata,
            exempt=('*',),
        )
        self.assertIs(wanted, found.passed, found.reason)

    @ddt.data(*_FLAVOR_CELLS)
    @ddt.unpack
    def test_flavor_check_of_an_optional_key(
        self, text: str, metadata: list[dict[str, str]], wanted: bool
    ) -> None:
        renamed = [
            {('n:k' if key == 'k' else key): value for key, value in m.items()}
            for m in metadata
        ]
        carried = any(
            'k' in m and not (m.get('k') in ('~', '!') and len(m) > 1)
            for m in metadata
        )
        found = verdict({'n:k': text}, *renamed, exempt=('*',))
        self.assertIs(wanted or not carried, found.passed, found.reason)

    @ddt.data(*_DEMAND_CELLS)
    @ddt.unpack
    def test_aggregate_demand(
        self, extra_specs: dict[str, str], values: list[str], wanted: bool
    ) -> None:
        found = verdict(
            extra_specs, *({'k': value, **_ON} for value in values)
        )
        self.assertIs(wanted, found.passed, found.reason)

    @ddt.data('1', '*', '>= 1', '!,1', '<or>')
    def test_an_exempt_key_is_never_demanded(self, value: str) -> None:
        found = verdict({}, {'zone': value, **_ON}, exempt=('zo*',))
        self.assertTrue(found.passed)

    def test_an_exempt_key_that_the_flavor_has_is_checked(self) -> None:
        aggregate = {'zone': '1', **_ON}
        for value, wanted in (('1', True), ('2', False)):
            found = verdict({'zone': value}, aggregate, exempt=('zone',))
            self.assertIs(wanted, found.passed)

    def test_exempt_patterns_mind_the_case(self) -> None:
        found = verdict({}, {'Zone': '1', **_ON}, exempt=('zone',))
        self.assertFalse(found.passed)


class RuleTest(unittest.TestCase):
    """What the page says between and below the tables."""

    def test_no_extra_specs_are_no_requirements(self) -> None:
        for extra_specs in (None, {}):
            self.assertTrue(verdict(extra_specs).passed)
            self.assertTrue(verdict(extra_specs, {'k': '1'}).passed)
            self.assertFalse(verdict(extra_specs, {'k': '1', **_ON}).passed)

    def test_bare_and_scoped_requirements_must_both_hold(self) -> None:
        extra_specs = {'k': '>= 1', 'aggregate_instance_extra_specs:k': '!= 2'}
        self.assertTrue(verdict(extra_specs, {'k': '3'}).passed)
        self.assertFalse(verdict(extra_specs, {'k': '2'}).passed)
        self.assertFalse(verdict(extra_specs, {'k': '0'}).passed)

    def test_the_scope_makes_a_namespaced_key_mandatory(self) -> None:
        scoped = {'aggregate_instance_extra_specs:hw:x': '1'}
        self.assertTrue(verdict({'hw:x': '1'}, {}).passed)
        self.assertFalse(verdict(scoped, {}).passed)
        self.assertTrue(verdict(scoped, {'hw:x': '1'}).passed)

    def test_the_scope_is_stripped_in_forced_metadata_only(self) -> None:
        metadata = {'aggregate_instance_extra_specs:k': '1'}
        self.assertFalse(verdict({'k': '1'}, metadata).passed)
        self.assertTrue(verdict({'k': '1'}, metadata | _ON).passed)
        self.assertFalse(verdict({}, metadata | _ON).passed)

    def test_the_flag_in_a_flavor_is_ignored(self) -> None:
        for key in (
            'force_metadata_check',
            'aggregate_instance_extra_specs:force_metadata_check',
        ):
            self.assertTrue(verdict({key: 'True'}, {}).passed)

    def test_the_flag_itself_is_not_demanded(self) -> None:
        self.assertTrue(verdict({}, _ON).passed)
        scoped = {'aggregate_instance_extra_specs:force_metadata_check': '1'}
        self.assertTrue(verdict({}, scoped | _ON).passed)

    def test_the_flag_belongs_to_its_own_aggregate(self) -> None:
        found = verdict({}, {'k': '1'}, {'other': '~', **_ON})
        self.assertTrue(found.passed)

    def test_an_unforced_aggregate_never_widens_a_forced_one(self) -> None:
        forced = {'k': '1', **_ON}
        self.assertFalse(verdict({'k': '2'}, forced, {'k': '2'}).passed)
        self.assertFalse(verdict({}, forced, {'k': '~'}).passed)

    def test_a_metadata_key_set_to_none_is_absent(self) -> None:
        self.assertTrue(verdict({'k': '!'}, {'k': None}).passed)
        self.assertTrue(verdict({}, {'k': None, **_ON}).passed)

    @given(strategies.extra_specs(), strategies.metadata_lists())
    def test_there_is_always_a_verdict(self, extra_specs, metadata) -> None:
        found = verdict(extra_specs, *metadata)
        self.assertIs(found.passed, found.reason is None)
        if found.reason is not None:
            self.assertLess(len(str(found.reason)), 2500)
            self.assertTrue(str(found.reason).isprintable())

    @given(strategies.extra_specs(), strategies.metadata_lists())
    def test_the_order_of_aggregates_is_irrelevant(
        self, extra_specs, metadata
    ) -> None:
        self.assertIs(
            verdict(extra_specs, *metadata).passed,
            verdict(extra_specs, *reversed(metadata)).passed,
        )


@ddt.ddt
class ReasonTest(unittest.TestCase):
    """A refusal says which side, which key, and what was wanted."""

    @ddt.data(
        (
            {'gpu': 'a100'},
            {},
            matching.Side.FLAVOR,
            matching.Kind.MISSING,
            "'gpu' not in any aggregate",
            "'gpu' not in any aggregate",
        ),
        (
            {'gpu': 'a100'},
            {'gpu': 'h100'},
            matching.Side.FLAVOR,
            matching.Kind.MISMATCH,
            "'gpu' does not match 'a100'",
            "'gpu' does not match 'a100'; aggregate 'a0' has 'h100'",
        ),
        (
            {'gpu': '!'},
            {'gpu': 'h100'},
            matching.Side.FLAVOR,
            matching.Kind.FORBIDDEN,
            "'gpu' must not be in an aggregate",
            "'gpu' must not be in an aggregate; aggregate 'a0' has 'h100'",
        ),
        (
            {'gpu': '>= two'},
            {},
            matching.Side.FLAVOR,
            matching.Kind.MALFORMED,
            "'gpu' is malformed in the flavor",
            "'gpu' is malformed in the flavor ('>= two': 'two' is not a "
            'number)',
        ),
        (
            {},
            {'os': 'windows', **_ON},
            matching.Side.AGGREGATE,
            matching.Kind.MISSING,
            "aggregate 'a0' demands 'os'",
            "aggregate 'a0' demands 'os'",
        ),
        (
            {'n:os': '~'},
            {'n:os': '!', 'os': '!', 'x': '!,~', **_ON},
            matching.Side.AGGREGATE,
            matching.Kind.CONTRADICTION,
            "aggregate 'a0' contradicts itself on 'x'",
            "aggregate 'a0' contradicts itself on 'x'",
        ),
        (
            {'n:os': 'linux'},
            {'n:os': '!', **_ON},
            matching.Side.AGGREGATE,
            matching.Kind.FORBIDDEN,
            "aggregate 'a0' forbids 'n:os'",
            "aggregate 'a0' forbids 'n:os'; the flavor has 'linux'",
        ),
    )
    @ddt.unpack
    def test_the_reason_is_told(
        self, extra_specs, metadata, side, kind, summary, text
    ) -> None:
        reason = verdict(extra_specs, metadata).reason
        self.assertIs(side, reason.side)
        self.assertIs(kind, reason.kind)
        self.assertEqual(summary, reason.summary())
        self.assertEqual(text, str(reason))

    def test_an_unmet_demand_names_the_forced_aggregate(self) -> None:
        reason = verdict({'k': '2'}, {'k': '1', **_ON}, {'k': '2'}).reason
        self.assertEqual(('a0',), reason.aggregate)
        self.assertEqual(('1',), reason.wanted)
        self.assertEqual(('2',), reason.found)
        self.assertEqual(
            "aggregate 'a0' demands 'k' to be '1'; the flavor has '2'",
            str(reason),
        )

    def test_control_characters_do_not_reach_the_log(self) -> None:
        reason = verdict({'a\nb': 'c\x1b[31m'}, {'a\nb': 'd\r'}).reason
        self.assertTrue(str(reason).isprintable())
