# SPDX-License-Identifier: Apache-2.0

"""Numbers and words of the pages, each from what it speaks of."""

import dataclasses
import math
import re
import subprocess

import ddt

from heat_hints import hints, providers
from heat_hints import status as heat_status
from nova_filters import conf
from nova_filters import status as nova_status
from nova_filters.matching import inputs, matcher, preferences, requirement
from nova_filters.spread import teams
from os_placement_plugins import signature, upgrade_check
from senlin_plugins import conf as senlin_conf
from senlin_plugins import status as senlin_status
from senlin_plugins.planning import apportionment, spec
from tests import pages, signing
from tests.pages import NUMBERS
from tests.unit.heat_hints import requests


class UpgradeCheckTest(pages.PageTestCase):
    """The page ``upgrade-checks``."""

    def test_the_exit_codes(self):
        for code, words in (
            (upgrade_check.SUCCESS, 'The check found no problem'),
            (upgrade_check.WARNING, 'A warning: something'),
            (upgrade_check.FAILURE, 'A failure: the service cannot work'),
            # As in tests.unit.test_upgrade_checks.
            (255, 'The command could not check anything.'),
        ):
            self.assert_page_says('upgrade-checks', str(int(code)), words)

    def test_where_each_command_runs(self):
        for checks in heat_status, nova_status, senlin_status:
            self.assert_page_says(
                'upgrade-checks',
                f'``{checks.Checks.command}``',
                f'a {checks.Checks.service} host',
            )


@ddt.ddt
class PreferencesTest(pages.PageTestCase):
    """The page ``preferences``."""

    def score(self, extra_specs, *metadata):
        """Return the points of a host in aggregates, and the verb for it."""
        aggregates = [inputs.Aggregate('a', data) for data in metadata]
        preferred = preferences.Preferences(extra_specs, aggregates)
        points = preferred.score(aggregates)
        return points, 'gains' if points > 0 else 'loses'

    @ddt.data('preferred', 'avoided')
    def test_an_extra_spec(self, kind):
        points, verb = self.score({f'aggregate_{kind}:k': '1'}, {'k': '1'})
        self.assertEqual(1, abs(points))
        self.assert_page_says(
            'preferences',
            f'``aggregate_{kind}:KEY=VALUE``',
            f'a host {verb} a point if its aggregates meet ``KEY=VALUE``',
        )

    def test_a_factor(self):
        factor = 10
        points, _ = self.score(
            {f'aggregate_preferred.{factor}:k': '1'}, {'k': '1'}
        )
        valid = []
        for number in range(200):
            specs = {f'aggregate_preferred.{number}:k': '1'}
            if not preferences.read_preferences(specs)[1]:
                valid.append(number)
        self.assert_page_says(
            'preferences',
            f'``aggregate_preferred.{factor}:KEY=...``',
            f'the same for {points} points. Any whole number from '
            f'{valid[0]} to {valid[-1]} is possible.',
        )

    def test_an_aggregate(self):
        soft = {'k': '1', 'prefer_metadata_check': 'true'}
        for aggregates in ([soft], [soft, soft]):
            points, verb = self.score({}, *aggregates)
            self.assertEqual((-1, 'loses'), (points, verb))
        self.assert_page_says(
            'preferences',
            'With the metadata ``prefer_metadata_check=true``, an aggregate '
            'prefers flavors that meet its other metadata. For each key that '
            'the flavor does not meet, the hosts of the aggregate lose '
            f'{NUMBERS[-points]} point. A host in several aggregates with '
            f'this key still {verb} {NUMBERS[-points]} point for the key.',
        )
        flavor = {f'{inputs.SCOPE}k': '1'}
        for value, other, points in (
            ('>= two', soft, 0),
            ('>= two', {'k': '1'}, -1),
            ('!,2', soft, -1),
        ):
            malformed = {**soft, 'k': value}
            self.assertEqual(points, self.score(flavor, malformed, other)[0])
        self.assert_page_says(
            'preferences',
            'If another aggregate of the host also has '
            '``prefer_metadata_check``, and the flavor meets its value for '
            'the same key, the host loses no point. The exception does not '
            'apply if the malformed value contains ``!``.',
        )
        forced = {**soft, 'force_metadata_check': 'true'}
        self.assertEqual(0, self.score({}, forced)[0])

    def test_the_weights(self):
        weights = [f'{preferences.weight(10**n):g}' for n in range(3)]
        self.assert_page_says(
            'preferences',
            'The weight of a host is {} for 1 point, {} for 10 points and {} '
            'for 100 points: 1 plus the decimal logarithm.'.format(*weights),
        )
        for points in range(1, 101):
            weight = preferences.weight(points)
            self.assertAlmostEqual(1 + math.log10(points), weight)
            self.assertEqual(-weight, preferences.weight(-points))

    def test_the_default_multiplier(self):
        default = f'{conf.DEFAULTS["preference_weight_multiplier"]:g}'
        self.assert_page_says('preferences', default, 'The default.')


class FilterTest(pages.PageTestCase):
    """The pages ``nova`` and ``quickstart-nova``."""

    def test_a_forced_aggregate(self):
        metadata = {'k': '1', 'force_metadata_check': 'True'}
        aggregate = inputs.Aggregate('a', metadata)
        refuses = next(
            matcher.Matcher([]).explain_mismatches([aggregate]), None
        )
        verb = 'refuse' if refuses else 'accept'
        self.assert_page_says(
            'quickstart-nova',
            'The hosts of an aggregate with ``force_metadata_check=True`` '
            'accept a flavor if it has a matching extra spec for each other '
            f'metadata key of the aggregate. They {verb} all other flavors.',
        )

    def test_a_key_that_is_added_to_a_flavor(self):
        forced = {'k': '1', 'force_metadata_check': 'true'}
        hosts = [[], [inputs.Aggregate('a', forced)]]
        passed = []
        for extra_specs in {}, {f'{inputs.SCOPE}k': '1'}:
            flavor = matcher.Matcher(inputs.read_flavor(extra_specs))
            refused = [bool(flavor.list_mismatches(host)) for host in hosts]
            passed.append(refused.index(False))
        # First the host in no aggregate, and then the other host.
        self.assertEqual([0, 1], passed)
        self.assert_page_says(
            'nova',
            'Add the key to the flavor, or correct its value. The flavor then '
            'no longer uses hosts without the key.',
        )

    def test_the_sign_of_equality(self):
        equal = requirement.parse('= 2')
        holds = [number for number in '123' if equal.accepts([number])]
        meaning = {'23': 'at least', '12': 'at most'}[''.join(holds)]
        self.assert_page_says('nova', f'(``=`` means "{meaning}")')


class SpreadTest(pages.PageTestCase):
    """The page ``nova-spread``."""

    def test_the_defaults(self):
        for option, says in (
            ('stack_affinity_weight_multiplier', 'below 0: spread stacks;'),
            ('server_group_weight_multiplier', '0: off; above 0: the policy'),
        ):
            default = f'{conf.DEFAULTS[option]:g}'
            self.assert_page_says(
                'nova-spread', f'``{option}``', default, says
            )
        (level,) = conf.DEFAULTS['stack_spread_over']
        self.assert_page_says(
            'nova-spread', '``stack_spread_over``', f'``{level}``'
        )

    def test_how_long_a_start_may_take(self):
        minutes = teams.PENDING.total_seconds() / 60
        self.assert_page_says(
            'nova-spread',
            f'If a member has no host in the database {NUMBERS[minutes]} '
            'minutes after its request, the weigher assumes that its start or '
            'its move has failed.',
        )


class HeatTest(pages.PageTestCase):
    """The pages ``heat`` and ``heat-providers``."""

    def test_the_six_hints(self):
        meanings = {
            'id-root': 'the id of the root stack',
            'id-inner': 'the id of the stack that holds the server',
            'web-inner-abc': 'the name of the stack that holds the server',
            'web': 'the path from the root stack to the stack that holds the '
            'server',
            'db': "the resource's name in its template",
            'uuid-db': "the resource's id in Heat's database",
        }
        sent = hints.identifiers(requests.REQUEST)
        self.assertEqual(len(meanings), len(sent))
        for name, value in sent.items():
            first = value[0] if isinstance(value, list) else value
            self.assert_page_says('heat', f'``{name}``', meanings[first])

    def test_what_the_name_of_a_stack_is(self):
        sent = hints.identifiers(requests.REQUEST)
        fields = {
            requests.REQUEST.stack_name: 'name',
            requests.REQUEST.stack_id: 'id',
        }
        told = fields.pop(sent['heat_stack_name'])
        (other,) = fields.values()
        self.assert_page_says(
            'heat',
            f'``heat_stack_name`` is the {told} of the stack, not its '
            f'{other}.',
        )

    def test_which_hints_a_provider_cannot_set(self):
        (names,) = re.findall(
            'all hints that Nova itself uses, such as (.+?)\\.',
            pages.prose('heat-providers'),
        )
        for name in re.findall(r'``(\w+)``', names):
            accepted, refused = hints.accept({name: 'x'}, ())
            self.assertEqual({name: hints.REASON_NOVA}, refused)
            self.assertEqual({}, accepted)

    def test_what_a_key_is(self):
        least = signature.MIN_KEY_LENGTH
        self.assert_page_says(
            'heat',
            f'A key has at least {least} characters, and contains no comma '
            'and no ``$``.',
        )

    def test_a_key_of_openssl_is_long_enough(self):
        for page in 'heat', 'quickstart-stack', 'roll-out':
            (size,) = re.findall(r'openssl rand -hex (\d+)', pages.prose(page))
            # A byte is two characters.
            self.assertTrue(signature.Keys([2 * int(size) * 'f']))

    def test_the_order_of_a_change_of_keys(self):
        old, new = signing.KEY, signing.OTHER_KEY
        sent = signing.signed(signing.EXAMPLE, key=new)
        for keys, is_believed in ([old], False), ([old, new], True):
            is_signed = signature.Keys(keys).signed(sent, 'p1')
            self.assertIs(is_believed, is_signed)
        self.assert_page_says(
            'heat',
            'Set ``signing_key = old,new`` in ``nova.conf`` and restart '
            '``nova-scheduler``. It then accepts both keys.',
            'Set ``signing_key = new`` in ``heat.conf`` and restart '
            '``heat-engine``.',
        )

    def test_the_order_in_which_services_get_their_first_key(self):
        first, second = re.findall(
            r'^Add the lines to ``(\w+)\.conf``, and restart',
            pages.prose('heat'),
            re.M,
        )
        self.assertEqual({'heat', 'nova'}, {first, second})
        # What Heat sends, and what Nova checks it with, in between.
        sent = {'heat_root_stack_id': 'r'}
        keys = signature.Keys()
        if first == 'heat':
            sent = signing.signed(sent)
        else:
            keys = signature.Keys([signing.KEY])
        self.assertEqual('r', keys.read_root_stack_id(sent, 'p1'))

    def test_what_becomes_of_the_hints_of_a_template(self):
        template = {'heat_stack_id': 'forged', 'heat_tier': 'a', 'tier': 'b'}
        own = hints.identifiers(requests.REQUEST)
        sent = {}
        for signing_is_on in False, True:
            left = hints.drop_reserved(template, signing=signing_is_on)
            sent[signing_is_on] = {**left, **own}
        verb = 'keeps'
        if sent[False]['heat_stack_id'] == own['heat_stack_id']:
            verb = 'replaces'
        self.assertEqual('a', sent[False]['heat_tier'])
        self.assertNotIn('heat_tier', sent[True])
        self.assertEqual('b', sent[True]['tier'])
        self.assert_page_says(
            'SECURITY',
            f"If a template sets one of Heat's six hints, Heat {verb} the "
            'value (``heat.rst``).',
            'Heat drops all hints whose names begin with ``heat_``.',
        )

    def test_the_fields_of_a_request(self):
        names = [field.name for field in dataclasses.fields(hints.Request)]
        cells = pages.prose('heat-providers').partition('Field\nValue\n')[2]
        self.assertEqual(
            [f'``{name}``' for name in names],
            cells.splitlines()[::2][: len(names)],
        )

    def test_the_limits_of_providers(self):
        calls = providers.MAX_CALLS
        self.assert_page_says(
            'heat-providers',
            f'at most {calls} in one worker.',
        )
        number = NUMBERS[calls].capitalize()
        self.assert_page_says('heat', f'{number} calls to the provider hang.')


class SecurityTest(pages.PageTestCase):
    """The page ``SECURITY``."""

    def test_a_key_that_can_be_guessed_is_guessed_from_a_signature(self):
        phrase = 'correct horse battery staple and more'
        # What a tenant can see of a server.
        seen = signing.signed(signing.EXAMPLE, key=phrase)
        guesses = ['p' * signature.MIN_KEY_LENGTH, phrase]
        found = [
            guess
            for guess in guesses
            if signature.Keys([guess]).signed(seen, 'p1')
        ]
        self.assertEqual([phrase], found)
        self.assert_page_says(
            'SECURITY',
            'With a signature, they can test guesses of the key on their own '
            'machines.',
        )

    def test_the_command_makes_a_random_key(self):
        ((command, length),) = re.findall(
            r'``(\w.+?)`` makes a random key of (\d+) characters',
            pages.prose('SECURITY'),
        )
        made = [
            subprocess.check_output(command.split(), text=True).strip()
            for _ in range(2)
        ]
        self.assertNotEqual(*made)
        for key in made:
            self.assertEqual(int(length), len(key))
            self.assertTrue(signature.Keys([key]))


class SenlinTest(pages.PageTestCase):
    """The page ``senlin``."""

    def test_the_defaults_of_a_region(self):
        self.assert_page_says(
            'senlin',
            "The region's share of the cluster, relative to the other "
            f'regions. The default is {spec.DEFAULT_WEIGHT}.',
        )
        self.assert_page_says(
            'senlin', f'The default of {spec.NO_CAP} means no cap.'
        )

    def test_a_region_without_weight(self):
        regions = [spec.Region('a', 1, 2), spec.Region('b', 0)]
        for count, result in (2, {'a': 2, 'b': 0}), (3, {'a': 2, 'b': 1}):
            plan = apportionment.plan_growth(regions, {}, count).plan
            self.assertEqual(result, {'a': 0, 'b': 0, **plan})
        self.assert_page_says(
            'senlin',
            'A region with weight 0 gets nodes when the other regions are '
            'full.',
        )

    def test_how_long_a_plan_may_take(self):
        (timeout,) = (
            option.default
            for option in senlin_conf.OPTS
            if option.name == 'region_timeout'
        )
        self.assert_page_says(
            'senlin',
            'If a service does not answer, the action takes longer: up to '
            f'``region_timeout`` ({timeout} seconds by default) and one '
            'second more.',
        )
