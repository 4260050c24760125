# SPDX-License-Identifier: Apache-2.0

"""``signing_key``, a project that is hostile, and that no key is told."""

import json

from os_placement_plugins import signature, stack_hints
from testing.heat import loopback
from testing.heat.templates import (
    group,
    instance,
    scaled,
    server,
    stack,
    template,
    volume,
)
from tests import signing
from tests.functional.heat_hints import base

#: No character that a log or JSON would write in another way.
KEY = 'first-key-0123456789abcdef0123456789'
OLD = 'older-key-0123456789abcdef0123456789'
FORGED = {
    **dict.fromkeys(stack_hints.RESERVED, 'forged'),
    'heat_tier': 'forged',
    'heat_rack': 'forged',
}
INSTANCE = instance(
    NovaSchedulerHints=[
        {'Key': name, 'Value': value} for name, value in FORGED.items()
    ]
)
MEMBER = server(hints=FORGED)
PARAMETER = server(scheduler_hints={'get_param': 'hints'})
LINE = '\n00:00 1 ERROR heat_hints made up\r\n'
LARGE = {'heat_x': 'x' * 100_000, 'y' * 1000: 'y'}

#: Reserved names by every way into a template.
WAYS = stack(
    'ways',
    {
        **template(
            literal=MEMBER,
            parameter=PARAMETER,
            names={
                'type': 'OS::Heat::Value',
                'properties': {'type': 'json', 'value': FORGED},
            },
            attribute=server(scheduler_hints={'get_attr': ['names', 'value']}),
            function=server(
                scheduler_hints={'map_merge': [FORGED, {'tier': '1'}]}
            ),
            instance=INSTANCE,
            nested={'type': 'inner.yaml'},
            group=group(1, MEMBER),
            scaled=scaled(1, MEMBER),
            alias={**MEMBER, 'type': 'My::Server'},
            disk=volume(scheduler_hints=FORGED),
            large=server(hints=LARGE),
            line=server(
                hints={f'heat_{LINE}': LINE, f'tier{LINE}': LINE},
                metadata={'heat_hints': f'maybe{LINE}'},
            ),
            odd=server(
                name='odd',
                hints={
                    'tier': {'a': [{'b': None}]},
                    'heat_stack_id': [{'a': 'b'}],
                    'flag': True,
                },
            ),
        ),
        'parameters': {'hints': {'type': 'json'}},
    },
    files={'inner.yaml': template(**{'ü,"': MEMBER})},
    environment={
        'parameter_defaults': {'hints': FORGED},
        'resource_registry': {'My::Server': 'OS::Nova::Server'},
    },
)
AMAZON = {
    'AWSTemplateFormatVersion': '2010-09-09',
    'Resources': {
        'one': {
            'Type': INSTANCE['type'],
            'Properties': INSTANCE['properties'],
        }
    },
}


class TestSigned(base.ScenarioCase):
    """Two keys, on everything that sends hints, in the log at DEBUG."""

    options = {
        'signing_key': f' {KEY} , {OLD}',
        'scope': 'opt_out',
        'resource_types': (
            'OS::Nova::Server,AWS::EC2::Instance,OS::Cinder::Volume'
        ),
        'providers': 'mapping_file',
        'mapping_file': '{folder}/mapping.yaml',
    }
    files = {'mapping.yaml': '- {hints: {heat_rack: provider, tier: rack}}\n'}
    settings = {'DEFAULT': {'debug': 'true'}}
    stacks = (
        WAYS,
        stack('amazon', AMAZON),
        stack(
            'scope',
            template(
                one=server(
                    hints={**FORGED, 'tier': 'gold'},
                    metadata={'heat_hints': False},
                )
            ),
        ),
        stack(
            'admins',
            template(one=server(hints={'tier': '1'})),
            # By an admin of another project.
            steps=[('update_as_admin', template(one=MEMBER, two=server()))],
        ),
    )

    def test_each_request_is_of_its_stack_and_signed_with_the_first_key(self):
        self.assert_created('ways', 'amazon')
        self.assert_created('admins', action='UPDATE')
        owners = {
            self.outcome.told[name]['project']: name
            for name in ('ways', 'amazon', 'admins')
        }
        owners[loopback.ADMIN_PROJECT] = 'admins'
        sent = [r for r in self.outcome.sent if r.project in owners]
        self.assertEqual(13 + 1 + 3, len(sent))
        for request in sent:
            hints = request.hints
            root = self.outcome.told[owners[request.project]]['root']
            self.assertEqual(root, hints['heat_root_stack_id'])
            self.assertEqual('provider', hints['heat_rack'])
            self.assertNotIn('heat_tier', hints)
            self.assertNotIn('forged', json.dumps(hints))
            self.assertEqual(
                signing.signature(hints, request.project, KEY),
                hints[signature.HINT],
            )

    def test_no_key_is_in_the_log_with_all_its_dumps_of_options(self):
        self.assertIn('heat_hints.signing_key ', self.outcome.log)
        self.assertIn('  signing_key = ***', self.outcome.log)
        for key in (KEY[:20], OLD[:20]):
            self.assertNotIn(key, self.outcome.log)

    def test_reserved_names_out_of_scope(self):
        self.assert_created('scope')
        (request,) = self.outcome.sent_for('scope')
        self.assertEqual({'tier': 'gold'}, request.hints)

    def test_other_hints_of_a_template_are_its_own(self):
        by_name = {
            r.hints['heat_resource_name']: r.hints
            for r in self.outcome.sent_for('ways')
        }
        self.assertEqual('1', by_name['function']['tier'])
        self.assertEqual('y', by_name['large']['y' * 1000])
        self.assertNotIn('heat_x', by_name['large'])
        self.assertEqual('{"a":[{"b":null}]}', by_name['odd']['tier'])
        self.assertEqual('True', by_name['odd']['flag'])

    def test_a_newline_makes_no_line_of_the_log(self):
        lines = self.outcome.log.splitlines()
        forged = [line for line in lines if line.startswith('00:00 1 ERROR')]
        self.assertEqual([], forged)
        (warning,) = self.outcome.lines('WARNING')
        self.assertIn(r'maybe\n00:00', warning)


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


class TestBothOptions(base.ScenarioCase):
    """Heat's own option is on as well; few hints; the provider wins."""

    options = {
        'signing_key': KEY,
        'scope': 'opt_out',
        'hints': 'heat_root_stack_id,heat_resource_name',
        'hint_precedence': 'provider',
        'providers': 'mapping_file',
        'mapping_file': '{folder}/mapping.yaml',
    }
    settings = {'DEFAULT': {'stack_scheduler_hints': 'true'}}
    files = TestKept.files
    stacks = (
        stack(
            'root',
            template(
                one=server(
                    name='one', hints={**FORGED, 'tier': 'user', 'zone': 'z'}
                ),
                left_out=server(
                    name='left_out', metadata={'heat_hints': False}
                ),
                volume=volume(),
            ),
        ),
    )

    def test_only_chosen_hints_are_sent_and_the_id_for_the_signature(self):
        self.assert_created('root')
        sent = self.outcome.hints('one')
        del sent[signature.HINT]
        self.assertEqual(
            {
                'heat_root_stack_id': self.outcome.told['root']['root'],
                'heat_resource_name': 'one',
                'heat_resource_uuid': self.outcome.only('root', 'one')['uuid'],
                **{'tier': 'provider', 'own': 'yes', 'zone': 'z'},
            },
            sent,
        )

    def test_heats_own_option_covers_what_is_left_out(self):
        for name in ('left_out', 'disk'):
            self.assertEqual(
                sorted(stack_hints.NAMES), sorted(self.outcome.hints(name))
            )
        (warning,) = self.outcome.lines('WARNING')
        for words in ('stack_scheduler_hints is on', 'scope leave out'):
            self.assertIn(words, warning)
