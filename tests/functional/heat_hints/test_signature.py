# SPDX-License-Identifier: Apache-2.0

"""``signing_key``: what is signed, what is not, and that no key is told."""

from testing.heat import loopback, stack_hints
from testing.heat.templates import server, stack, template, volume
from tests import signing
from tests.functional.heat_hints import base

#: No character that a log or JSON would write in another way.
KEY = 'first-key-0123456789abcdef0123456789'
OLD = 'older-key-0123456789abcdef0123456789'
SIGNATURE = 'heat_signature'

NESTED = stack(
    'root',
    template(
        claims=server(
            name='claims',
            hints={
                'heat_stack_id': 'forged',
                SIGNATURE: 'forged',
                'heat_tier': 'one',
                'heat_rack': 'one',
                'tier': 'one',
            },
        ),
        honest=server(name='honest', hints={'tier': 'one'}),
        nested={'type': 'inner.yaml'},
        volume=volume(),
    ),
    files={'inner.yaml': template(**{'ü,"': server(name='inner')})},
)


class _Secret:
    def test_no_key_is_in_the_log_with_all_its_dumps_of_options(self):
        self.assertIn('heat_hints.signing_key ', self.outcome.log)
        self.assertIn('  signing_key = ***', self.outcome.log)
        for key in (KEY, OLD, KEY[:20], OLD[:20]):
            self.assertNotIn(key, self.outcome.log)


class TestSigned(_Secret, base.ScenarioCase):
    """Two keys, on everything that sends hints, in the log at DEBUG."""

    options = {
        'signing_key': f' {KEY} , {OLD}',
        'resource_types': 'OS::Nova::Server,OS::Cinder::Volume',
        'providers': 'mapping_file',
        'mapping_file': '{folder}/mapping.yaml',
    }
    files = {
        'mapping.yaml': '- {hints: {heat_rack: provider, tier: provider}}\n'
    }
    settings = {'DEFAULT': {'debug': 'true'}}
    stacks = (
        NESTED,
        stack(
            'admins',
            template(one=server()),
            # By an admin of another project.
            steps=[('update_as_admin', template(one=server(), two=server()))],
        ),
    )

    def test_each_request_is_signed_with_the_first_key(self):
        self.assert_created('root')
        self.assertTrue(self.outcome.sent)
        for request in self.outcome.sent:
            self.assertEqual(
                signing.signature(request.hints, request.project, KEY),
                request.hints[SIGNATURE],
            )

    def test_neither_signature_nor_prefix_is_a_templates(self):
        sent = self.outcome.hints('claims')
        self.assertNotIn('forged', sent.values())
        self.assertNotIn('heat_tier', sent)
        # What Heat signs is a provider's, though a template gave one.
        self.assertEqual('provider', sent['heat_rack'])
        self.assertEqual('one', sent['tier'])

    def test_the_signature_is_for_the_project_that_nova_is_asked_by(self):
        self.assert_created('admins', action='UPDATE')
        (two,) = (
            r for r in self.outcome.sent if r.project == loopback.ADMIN_PROJECT
        )
        self.assertEqual('two', two.hints['heat_resource_name'])
        self.assertNotEqual(
            two.project, self.outcome.told['admins']['project']
        )


class TestKept(base.ScenarioCase):
    """``user_hints = keep``, and templates that claim to be another stack."""

    options = {
        'user_hints': 'keep',
        'hints': 'heat_root_stack_id,heat_stack_id',
        'providers': 'mapping_file',
        'mapping_file': '{folder}/mapping.yaml',
    }
    files = {'mapping.yaml': '- {hints: {tier: provider, own: "yes"}}\n'}
    stacks = (
        stack(
            'root',
            template(
                replaced=server(
                    name='replaced',
                    hints={'heat_root_stack_id': 'mine', 'tier': 'user'},
                ),
                # One that Heat does not send itself.
                added=server(name='added', hints={'heat_stack_name': 'mine'}),
            ),
        ),
    )

    def test_user_before_own_before_provider(self):
        self.assert_created('root')
        root = self.outcome.told['root']['root']
        self.assertEqual(
            {
                'heat_root_stack_id': 'mine',
                'heat_stack_id': root,
                'tier': 'user',
                'own': 'yes',
            },
            self.outcome.hints('replaced'),
        )
        self.assertEqual(
            'mine', self.outcome.hints('added')['heat_stack_name']
        )


class TestFewHints(base.ScenarioCase):
    """A key, and ``hints`` without the uuid; the provider wins.

    Heat's own option is on as well.
    """

    options = {
        'signing_key': KEY,
        'hints': 'heat_root_stack_id,heat_resource_name',
        'hint_precedence': 'provider',
        'providers': 'mapping_file',
        'mapping_file': '{folder}/mapping.yaml',
    }
    settings = {'DEFAULT': {'stack_scheduler_hints': 'true'}}
    files = TestKept.files
    FORGED = {'heat_root_stack_id': 'forged', 'heat_stack_id': 'forged'}
    stacks = (
        stack(
            'root',
            template(
                one=server(
                    name='one',
                    hints={**FORGED, 'tier': 'user', 'zone': 'user'},
                )
            ),
        ),
    )

    def test_only_chosen_hints_are_sent_and_the_id_for_the_signature(self):
        self.assert_created('root')
        sent = self.outcome.hints('one')
        del sent[SIGNATURE]
        self.assertEqual(
            {
                'heat_root_stack_id': self.outcome.told['root']['root'],
                'heat_resource_name': 'one',
                'heat_resource_uuid': self.outcome.only('root', 'one')['uuid'],
                **{'tier': 'provider', 'own': 'yes', 'zone': 'user'},
            },
            sent,
        )


#: Has hmac fail for the hook, as a broken or restricted OpenSSL would.
BROKEN_HMAC = """
import hmac

from os_placement_plugins import signature


class BrokenHmac:
    def __init__(self, conf):
        signature.hmac = self

    def new(self, key, text, *rest):
        if text == b'key id':
            return hmac.new(key, text, *rest)
        raise ValueError(f'no digest for {key}')

    def hints(self, request):
        return {'own': 'yes'}
"""


class _BrokenHmac(_Secret):
    files = {'broken_hmac.py': BROKEN_HMAC}
    entry_points = {
        'heat_hints.providers': {'broken_hmac': 'broken_hmac:BrokenHmac'}
    }
    stacks = (base.ONE,)


class TestFailingSignatureIgnored(_BrokenHmac, base.ScenarioCase):
    """``on_error = ignore``."""

    options = {'signing_key': KEY, 'providers': 'broken_hmac'}

    def test_the_hints_are_sent_unsigned_with_a_warning(self):
        self.assert_created('root')
        self.assertEqual(
            sorted([*stack_hints.SIX, 'own']),
            sorted(self.outcome.hints('one')),
        )
        (warning,) = self.outcome.warnings()
        self.assertIn('could not be signed (ValueError)', warning)


class TestFailingSignatureFails(_BrokenHmac, base.ScenarioCase):
    """``on_error = fail``."""

    options = {**TestFailingSignatureIgnored.options, 'on_error': 'fail'}

    def test_the_resource_fails_and_nothing_is_sent(self):
        self.assert_failed('root', 'Ask the operator')
        (error,) = self.outcome.errors()
        self.assertIn('could not be signed', error)
        self.assertNotIn(KEY, self.outcome.told['root']['reason'])
