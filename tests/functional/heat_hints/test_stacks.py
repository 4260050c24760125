# SPDX-License-Identifier: Apache-2.0

"""The hints of servers whose templates forge them in every way.

Heat signs them.
"""

import collections

from os_placement_plugins import stack_hints
from testing.heat.templates import instance, server, stack, template
from tests import signing
from tests.functional.heat_hints import base

OLD_KEY = 'older-key-0123456789abcdef0123456789'
FORGED = {
    **dict.fromkeys(stack_hints.RESERVED, 'forged'),
    'heat_tier': 'forged',
    'heat_rack': 'forged',
}
MEMBER = server(hints=FORGED)
INSTANCE = instance(
    NovaSchedulerHints=[
        {'Key': name, 'Value': value} for name, value in FORGED.items()
    ]
)
LINE = '\n00:00 1 ERROR heat_hints made up\r\n'
#: As odd as Heat lets them be: in the names of stacks, and so of resources
#: that make stacks, it takes letters, digits and these three signs only.
ODD_STACK = 'Stack_with.dots-and_dashes'
ODD_NAMES = (
    'a,b',
    'quoted "name"',
    "it's",
    'größe',
    '服务器',
    '💻',
    '[null,"x"]',
    ' blank ',
    '%(percent)s',
    '{brace}',
    'back\\slash',
)
#: Reserved names by every way into a template, and of every shape.
EVERYTHING = {
    **template(
        top=MEMBER,
        instance=INSTANCE,
        # A user's environment gives a type another name.
        alias={**MEMBER, 'type': 'My::Server'},
        parameter=server(scheduler_hints={'get_param': 'hints'}),
        names={
            'type': 'OS::Heat::Value',
            'properties': {'type': 'json', 'value': FORGED},
        },
        attribute=server(scheduler_hints={'get_attr': ['names', 'value']}),
        function=server(scheduler_hints={'map_merge': [FORGED, {'tier': 1}]}),
        large=server(hints={'heat_x': 'x' * 100_000, 'y' * 1000: 'y'}),
        line=server(
            hints={f'heat_{LINE}': LINE, f'tier{LINE}': LINE},
        ),
        odd=server(
            hints={
                'tier': ['a', 1, 1.5],
                'heat_stack_id': [{'a': 'b'}],
                'flag': True,
            },
        ),
        **dict.fromkeys(ODD_NAMES, MEMBER),
        **{'nest_1.x-y': {'type': 'inner.yaml'}},
    ),
    'parameters': {'hints': {'type': 'json'}},
}
FILES = {'inner.yaml': template(**{'x,y "ü"': MEMBER})}
ENVIRONMENT = {
    'parameter_defaults': {'hints': FORGED},
    'resource_registry': {'My::Server': 'OS::Nova::Server'},
}
PROVIDER = (
    base.PROVIDER
    + """
    def hints(self, request):
        names = sorted(request.user_hints)
        return {
            'heat_rack': 'provider',
            'tier': 'rack',
            'number': 7,
            'asked': [request.resource_type, *names],
        }
"""
)
#: What the provider gives, and the templates beside what they forge.
PROVIDED = {'heat_rack': 'provider', 'tier': 'rack', 'number': '7'}
OTHERS = {
    'function': {'tier': 1},
    'large': {'y' * 1000: 'y'},
    'line': {f'tier{LINE}': LINE},
    'odd': {'tier': ['a', 1, 1.5], 'flag': True},
}
#: How many servers each stack has that were asked for there.
LEFT = {
    ODD_STACK: 9 + len(ODD_NAMES) + 1,
    'admins': 2,
}
#: The server of an update that another one replaces.
REPLACED = 1


class TestStacks(base.ScenarioCase):
    options = {
        'signing_key': f' {signing.KEY} , {OLD_KEY}',
        'providers': 'provider',
    }
    files = {'providers_for_tests.py': PROVIDER}
    entry_points = {
        'heat_hints.providers': {'provider': 'providers_for_tests:Provider'}
    }
    settings = {'DEFAULT': {'debug': 'true'}}
    stacks = (
        stack(ODD_STACK, EVERYTHING, files=FILES, environment=ENVIRONMENT),
        stack(
            'admins',
            template(web=server(hints={'tier': '1'})),
            # By an admin of another project.
            steps=[('update_as_admin', template(web=MEMBER, db=server()))],
        ),
    )

    def test_each_request_says_what_heat_says_of_its_resource(self):
        self.assert_created(ODD_STACK)
        admins = self.outcome.stacks['admins']
        self.assertEqual('UPDATE_COMPLETE', admins['status'], admins)
        sent = {
            request.hints['heat_resource_uuid']: request
            for request in self.outcome.sent
            if 'heat_resource_uuid' in request.hints
        }
        left = collections.Counter()
        for name in LEFT:
            for resource in self.outcome.stacks[name]['resources']:
                if resource['uuid'] in sent:
                    left[name] += 1
                    self.assert_told(name, resource, sent[resource['uuid']])
        self.assertEqual(LEFT, left)
        # Nothing is created by asking.
        self.assertEqual(sum(LEFT.values()) + REPLACED, len(sent))
        self.assertEqual(len(sent), len(self.outcome.sent))

    def assert_told(self, stack, resource, request):
        """Check all hints of a request for a resource."""
        expected = self.outcome.expected_hints(stack, resource)
        template_hints = OTHERS.get(resource['name'], {})
        # The template's hint wins over a provider's.
        expected |= PROVIDED | template_hints
        # The type's own name, not that of the environment.
        of_amazon = resource['type'] == 'AWS::EC2::Instance'
        kind = resource['type'] if of_amazon else 'OS::Nova::Server'
        expected['asked'] = [kind, *sorted(template_hints)]
        hints = request.hints
        self.assertEqual(
            signing.signature(hints, request.project, signing.KEY),
            hints.pop(stack_hints.SIGNATURE),
        )
        self.assertEqual(expected, hints)

    def test_a_line_names_the_hints_of_a_template_that_are_dropped(self):
        lines = self.outcome.lines('INFO')
        for name, hints in (
            ('odd', "'heat_stack_id'"),
            ('large', "'heat_x'"),
            # It has nine, and four are named.
            ('top', "('heat_[a-z_]+', ){4}5 more"),
        ):
            (line,) = (x for x in lines if f" resource '{name}' of" in x)
            self.assertRegex(line, f'reserved for Heat: {hints}\\. Give')

    def test_no_key_is_in_the_log_with_all_its_dumps_of_options(self):
        self.assertIn('heat_hints.signing_key ', self.outcome.log)
        self.assertIn('  signing_key = ***', self.outcome.log)
        for key in (signing.KEY, OLD_KEY):
            for part in (key[:6], key[-6:]):
                self.assertNotIn(part, self.outcome.log)

    def test_no_odd_text_begins_a_line_of_the_log(self):
        # As Heat's log begins a line, and as the texts do.
        error = r'(?m)^[-\d:. ]+ ERROR heat_hints'
        self.assertNotRegex(self.outcome.log, error)
