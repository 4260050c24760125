# SPDX-License-Identifier: Apache-2.0

"""The specs of both policies, as files, options and the API give them."""

import unittest

import ddt

from senlin_plugins.planning import spec, values
from senlin_plugins.planning.spec import Region, Spec

TYPE = 'senlin_plugins.policy.region_placement'


def spec_of(*regions, **fields):
    """Return the spec of a policy.

    :param fields: further fields, or other values of these.
    """
    return {
        'type': TYPE,
        'version': '1.0',
        'properties': {'regions': list(regions)},
        **fields,
    }


@ddt.ddt
class RegionSpec(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ({'name': 'a'}, Region('a', 100, -1)),
        ({'name': 'a', 'weight': '3', 'cap': '-1'}, Region('a', 3, -1)),
        (
            {'name': 'a', 'weight': 10**30, 'cap': 10**30},
            Region('a', 10**30, 10**30),
        ),
        ({'name': 'a', 'weight': 0, 'cap': 0}, Region('a', 0, 0)),
        # YAML reads such a name as a number.
        ({'name': 1}, Region('1', 100, -1)),
    )
    def test_a_region_has_the_defaults_of_the_policy(self, item, region):
        self.assertEqual((region,), spec.parse_regions(spec_of(item)).regions)

    @ddt.data(
        ({'version': 1.0}, True),
        ({'description': 'of the web servers'}, True),
        ({'type': 'senlin.policy.region_placement'}, False),
    )
    @ddt.unpack
    def test_the_plans_of_senlins_own_policy_take_no_effect(
        self, fields, effective
    ):
        parsed = spec.parse_regions(spec_of({'name': 'a'}, **fields))
        self.assertEqual(Spec((Region('a'),), effective), parsed)

    @ddt.unpack
    @ddt.data(
        (None, 'The spec is not a mapping'),
        ({}, "'type' is 'None': it must be " + TYPE),
        (spec_of(type='senlin.policy.deletion'), "'type' is 'senlin.policy."),
        (spec_of(version=2), "'version' is '2': it must be 1.0."),
        (spec_of(description=None), "'description' is empty"),
        (spec_of(properties=None), "'properties' is not a mapping"),
        (spec_of(regions=[]), "'regions' is not known in the spec"),
        (spec_of(properties={}), "'regions' must be a list"),
        (
            spec_of(properties={'regions': [], 'zones': []}),
            "'zones' is not known in 'properties': it may have regions.",
        ),
        (spec_of(), "'regions' is empty: name at least one region."),
        (spec_of('a'), "The region 'a' is not a mapping"),
        (spec_of({}), "'name' of a region is missing"),
        (
            spec_of({'name': 'a'}, {'name': ''}),
            "'name' of a region is empty: give the region's name.",
        ),
        (
            spec_of({'name': 'a', 'wieght': 1}),
            "'wieght' is not known in region 'a': it may have name, weight, "
            'cap.',
        ),
        (
            spec_of({'name': 'a', 'weight': -1}),
            "'weight' of region 'a' is '-1': it must be 0 or greater.",
        ),
        (
            spec_of({'name': 'a', 'cap': -2}),
            "'cap' of region 'a' is '-2': it must be -1 or greater.",
        ),
        (
            spec_of({'name': 'b'}, {'name': 'a'}, {'name': 'a'}),
            "'name' of a region is 'a' 2 times: name each region once.",
        ),
    )
    def test_a_wrong_spec_is_refused_with_what_is_accepted(self, wrong, text):
        with self.assertRaises(values.WrongValue) as caught:
            spec.parse_regions(wrong)
        self.assertIn(text, str(caught.exception))


HOOK = {'type': 'zaqar', 'params': {'queue': 'goodbye'}, 'timeout': 9}


@ddt.ddt
class DeletionSpec(unittest.TestCase):
    def check(self, properties, hook, version='1.1'):
        defaults = {'criteria': 'OLDEST_FIRST', 'grace_period': 0}
        return spec.check_deletion(defaults | properties, hook, version)

    @ddt.data(
        ({}, {}, '1.0'),
        ({'criteria': 'RANDOM', 'grace_period': 3}, {}, '1.0'),
        ({}, HOOK | {'timeout': 0}, '1.1'),
    )
    @ddt.unpack
    def test_what_is_accepted(self, properties, hook, version):
        self.assertIsNone(self.check(properties, hook, version))

    @ddt.data(
        ({'criteria': ['RANDOM']}, {}, "is '['RANDOM']': it must be one of"),
        ({'grace_period': -1}, {}, "'grace_period' is '-1'"),
        ({}, HOOK | {'params': {}}, "must have 'queue'"),
        ({}, HOOK | {'params': {'queue': ''}}, "must have 'queue'"),
        (
            {},
            {'type': 'webhook', 'params': {'url': 'http://x'}, 'timeout': 0},
            "'type' of 'hooks' is 'webhook': Senlin cannot send such hooks",
        ),
        ({}, HOOK | {'timeout': -1}, "'timeout' of 'hooks' is '-1'"),
        ({}, HOOK | {'type': ['zaqar']}, "is '['zaqar']': Senlin cann"),
    )
    @ddt.unpack
    def test_what_is_refused(self, properties, hook, reason):
        with self.assertRaises(values.WrongValue) as caught:
            self.check(properties, hook)
        self.assertIn(reason, str(caught.exception))

    def test_hooks_need_version_1_1(self):
        with self.assertRaisesRegex(values.WrongValue, 'needs version 1.1'):
            self.check({}, HOOK, '1.0')


@ddt.ddt
class WaitingSeconds(unittest.TestCase):
    @ddt.data(
        # (grace period, hook, seconds since the start, limit, seconds)
        (10, {}, 0.0, 615, 10),
        (0, HOOK, 0.0, 614, 9),
        (0, HOOK | {'timeout': 0}, 0.0, 605, 0),
        (10, HOOK, 4.2, 629, 24),
        # The clock was set back.
        (10, HOOK, -9.0, 624, 19),
    )
    @ddt.unpack
    def test_the_limit_leaves_time_for_nova(
        self, grace, hook, passed, limit, seconds
    ):
        arguments = grace, hook, passed, 600
        counted = spec.count_waiting_seconds(*arguments, limit)
        self.assertEqual(seconds, counted)
        with self.assertRaises(values.WrongValue) as caught:
            spec.count_waiting_seconds(*arguments, limit - 1)
        timeout = hook.get('timeout', 0)
        self.assertEqual(
            f"'grace_period' is '{grace}', 'timeout' of 'hooks' is "
            f"'{timeout}', and Senlin waits up to '600' seconds for Nova, but "
            f"the timeout of the cluster is '{limit - 1}': Senlin could give "
            'up before Nova has deleted the servers. Set the timeout of the '
            f"cluster to '{limit}' or more.",
            str(caught.exception),
        )

    def test_without_a_pause_the_policy_adds_no_time(self):
        self.assertEqual(0, spec.count_waiting_seconds(0, {}, 0.0, 600, 6))
