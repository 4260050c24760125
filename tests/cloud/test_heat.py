# SPDX-License-Identifier: Apache-2.0

"""What Nova stores of a server's stack."""

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


FORGED = {'heat_root_stack_id': 'somebody-else', 'rack': 'r7'}

TEMPLATE = {
    'heat_template_version': '2018-08-31',
    'resources': {
        # A template cannot claim another stack.
        'liar': server('liar', scheduler_hints=FORGED),
        'workers': {
            'type': 'OS::Heat::ResourceGroup',
            'properties': {
                'count': 2,
                'resource_def': server('worker-%index%'),
            },
        },
    },
}


class TestHints(base.CloudTest):
    def test_servers_carry_their_place(self):
        user = self.user[base.ONE]
        heat = user.orchestration
        # There is one Heat for both regions. The openstack command sends
        # this; the SDK does not, and Heat then takes the region of its
        # configuration.
        heat.additional_headers['X-Region-Name'] = self.region
        stack = heat.create_stack(name=base.unique('stack'), template=TEMPLATE)
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
        self.assertEqual({'liar', 'worker-0', 'worker-1'}, set(hints))
        for name, own in hints.items():
            self.assertEqual([stack.id], own['heat_root_stack_id'])
            path = [
                step.partition(',')[0] for step in own['heat_path_in_stack']
            ]
            parents = [] if name == 'liar' else ['workers']
            self.assertEqual([stack.name, *parents], path)
            signature = signing.signature(
                own, user.current_project_id, signing.KEY
            )
            self.assertEqual([signature], own['heat_signature'])
        self.assertEqual(['r7'], hints['liar']['rack'])


class TestHintsInNewestNova(TestHints):
    region = base.TWO
