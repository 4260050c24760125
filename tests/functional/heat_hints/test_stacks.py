# SPDX-License-Identifier: Apache-2.0

"""The six hints on stacks of every shape, by both of Heat's engines."""

import collections
import json

from os_placement_plugins import signature
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

MEMBER = server()
#: How many stacks are nested, each in the one before: each level takes Heat
#: about 0.3 seconds.
DEPTH = 4
DEEP = {
    f'level{level}.yaml': template(
        here=MEMBER, below={'type': f'level{level + 1}.yaml'}
    )
    for level in range(1, DEPTH)
}
#: As odd as Heat lets them be: in the names of stacks, and so of resources
#: that make stacks, it takes letters, digits and these three signs only.
ODD_STACK = 'Stack_with.dots-and_dashes'
ODD_NAMES = (
    *('a,b', 'quoted "name"', "it's", 'größe', '服务器', '💻', '[null,"x"]'),
    *(' blank ', '%(percent)s', '{brace}', 'back\\slash'),
)
EVERYTHING = stack(
    ODD_STACK,
    template(
        top=server(hints={'group_of': 'mine'}),
        group=group(2, MEMBER),
        scaled=scaled(2, MEMBER),
        instance=instance(),
        volume=volume(),
        below={'type': 'level1.yaml'},
        # A user's environment gives a type another name.
        alias={**MEMBER, 'type': 'My::Server'},
        **dict.fromkeys(ODD_NAMES, MEMBER),
        **{'nest_1.x-y': {'type': 'inner.yaml'}},
    ),
    files={
        **DEEP,
        f'level{DEPTH}.yaml': template(here=MEMBER),
        'inner.yaml': template(**{'x,y "ü"': MEMBER}),
    },
    environment={'resource_registry': {'My::Server': 'OS::Nova::Server'}},
)
#: How many resources there are of each type.
TYPES = {'Server': 7 + DEPTH + len(ODD_NAMES), 'Instance': 1, 'Volume': 1}


class _Stacks:
    options = {
        'resource_types': (
            'OS::Nova::Server,AWS::EC2::Instance,OS::Cinder::Volume'
        )
    }
    settings = {'DEFAULT': {'max_nested_stack_depth': str(DEPTH)}}
    stacks = (EVERYTHING,)

    def path(self, hints, resource):
        """Return the path that the option ``path_format`` asks for."""
        return hints['heat_path_in_stack']

    def test_each_resource_says_what_heat_says_about_it(self):
        self.assert_created(ODD_STACK)
        resources = [
            {**resource, 'type': resource['type'].rpartition('::')[2]}
            for resource in self.outcome.told[ODD_STACK]['resources']
        ]
        resources = [r for r in resources if r['type'] in TYPES]
        self.assertEqual(
            TYPES, collections.Counter(r['type'] for r in resources)
        )
        sent = {r.hints['heat_resource_uuid']: r for r in self.outcome.sent}
        self.assertEqual(len(resources), len(self.outcome.sent))
        for resource in resources:
            wanted = self.outcome.wanted(ODD_STACK, resource)
            wanted['heat_path_in_stack'] = self.path(wanted, resource)
            if resource['name'] == 'top':
                # The template's other hints are sent beside the six.
                wanted['group_of'] = 'mine'
            hints = self.checked(sent[resource['uuid']])
            self.assertEqual(wanted, hints)

    def checked(self, request):
        """Return the hints of a request without their signature."""
        return request.hints

    def test_the_log_has_neither_errors_nor_warnings_of_this_package(self):
        self.assert_quiet()


class TestConvergence(_Stacks, base.ScenarioCase):
    """Heat's engine of today."""


class TestLegacyEngine(_Stacks, base.ScenarioCase):
    """``convergence_engine = false``, ``path_format = json``, and a key."""

    options = {
        **_Stacks.options,
        'path_format': 'json',
        'signing_key': signing.KEY,
    }
    convergence = False

    def path(self, hints, resource):
        return json.dumps(
            resource['path'], ensure_ascii=False, separators=(',', ':')
        )

    def checked(self, request):
        hints = request.hints
        self.assertEqual(
            signing.signature(hints, request.project, signing.KEY),
            hints.pop(signature.HINT),
        )
        return hints
