# SPDX-License-Identifier: Apache-2.0

"""What Nova stores of a server's stack."""

import json

from tests import signing
from tests.cloud import base, layout


def server(name: str, **properties: object) -> dict:
    """Return the resource of a server without a network."""
    return {
        'type': 'OS::Nova::Server',
        'properties': {
            'name': name,
            'flavor': layout.FLAVOR,
            'image': layout.IMAGE,
            'networks': [{'allocate_network': 'none'}],
            **properties,
        },
    }


#: How many servers a group has. Four workers make them.
WORKERS = 10

FORGED = {'heat_root_stack_id': 'somebody-else', 'rack': 'r7'}

TEMPLATE = {
    'heat_template_version': '2018-08-31',
    'resources': {
        # A template cannot claim another stack.
        'liar': server('liar', scheduler_hints=FORGED),
        'workers': {
            'type': 'OS::Heat::ResourceGroup',
            'properties': {
                'count': WORKERS,
                'resource_def': server('worker-%index%'),
            },
        },
    },
}


#: Heat asks its own API for the stack in this stack.
OTHER = {
    'heat_template_version': '2018-08-31',
    'resources': {
        'other': {
            'type': 'OS::Heat::Stack',
            'properties': {
                'template': json.dumps(
                    {
                        'heat_template_version': '2018-08-31',
                        'resources': {'web': server('web')},
                    }
                ),
            },
        },
    },
}


class StackTest(base.CloudTest):
    def create_stack(self, template):
        """Create a stack, and return it with the hints of all servers."""
        heat = self.user[base.ONE].orchestration
        # There is one Heat for both regions. The openstack command sends
        # this; the SDK does not, and Heat then takes the region of its
        # configuration.
        heat.additional_headers['X-Region-Name'] = self.region
        stack = heat.create_stack(name=base.unique('stack'), template=template)
        self.addCleanup(heat.wait_for_delete, stack, wait=300)
        self.addCleanup(heat.delete_stack, stack)
        heat.wait_for_status(
            stack, 'CREATE_COMPLETE', failures=['CREATE_FAILED'], wait=300
        )
        servers = self.user[self.region].compute.servers()
        hints = {
            server.name: self.hints(self.region, server.id)
            for server in servers
        }
        return stack, hints


class TestHints(StackTest):
    def test_servers_carry_their_place(self):
        project = self.user[base.ONE].current_project_id
        stack, hints = self.create_stack(TEMPLATE)
        workers = {f'worker-{number}' for number in range(WORKERS)}
        self.assertEqual({'liar', *workers}, set(hints))
        for name, own in hints.items():
            self.assertEqual([stack.id], own['heat_root_stack_id'])
            path = [
                step.partition(',')[0] for step in own['heat_path_in_stack']
            ]
            parents = [] if name == 'liar' else ['workers']
            self.assertEqual([stack.name, *parents], path)
            signature = signing.signature(own, project, signing.KEY)
            self.assertEqual([signature], own['heat_signature'])
        self.assertEqual(['r7'], hints['liar']['rack'])


class TestOtherStack(StackTest):
    def test_a_stack_of_heats_api_is_a_root_stack_in_its_own_region(self):
        stack, hints = self.create_stack(OTHER)
        (own,) = hints.values()
        self.assertEqual(own['heat_stack_id'], own['heat_root_stack_id'])
        self.assertNotEqual([stack.id], own['heat_stack_id'])


class TestHintsInNewestNova(TestHints):
    region = base.TWO
