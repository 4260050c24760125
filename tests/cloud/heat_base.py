# SPDX-License-Identifier: Apache-2.0

"""What the tests with stacks share."""

import json

from tests.cloud import base, layout, mariadb


class StackTest(base.CloudTest):
    """A test with stacks, which are deleted behind it."""

    def setUp(self) -> None:
        super().setUp()
        self.heat = self.user[base.ONE].orchestration
        # There is one Heat for both regions. The openstack command sends
        # this; the SDK does not, and Heat then takes the region of its
        # configuration.
        self.heat.additional_headers['X-Region-Name'] = self.region

    def make_stack(
        self, template: str, files: dict[str, str] | None = None
    ) -> str:
        """Make a stack, wait until it is complete, and return its id.

        :param files: the templates that the template names.
        """
        name = base.unique('stack')
        body = {'stack_name': name, 'template': template, 'files': files or {}}
        response = self.heat.post('/stacks', json=body)
        self.assertEqual(201, response.status_code, response.text)
        stack = response.json()['stack']['id']
        self.addCleanup(self.remove_stack, name, stack)
        self.wait_for_stack(stack, 'CREATE_COMPLETE')
        return stack

    def remove_stack(self, name: str, stack: str) -> None:
        """Delete a stack and wait until it is gone."""
        self.heat.delete(f'/stacks/{name}/{stack}')
        self.wait_for_stack(stack, 'DELETE_COMPLETE')

    def show(self, stack: str) -> dict:
        """Return what Heat says about a stack."""
        return self.heat.get(f'/stacks/{stack}').json()['stack']

    def wait_for_stack(self, stack: str, complete: str) -> None:
        """Wait until a stack is done; fail if it is not done well.

        :param complete: its status then, such as ``CREATE_COMPLETE``.
        """

        def check_ended() -> None:
            failed = complete.replace('COMPLETE', 'FAILED')
            ((status,),) = mariadb.query(
                'heat',
                "SELECT CONCAT(action, '_', status) FROM stack WHERE id = %s",
                stack,
            )
            self.assertIn(status, (complete, failed), f'stack {stack}')

        self.wait_for(check_ended)
        shown = self.show(stack)
        self.assertEqual(
            complete, shown['stack_status'], shown['stack_status_reason']
        )

    def resources(self, stack: str, kind: str) -> list[dict]:
        """Return the resources of a type in a stack and all below it.

        :returns: what Heat's database says: ``uuid``, ``name``, ``server``
            (the physical id), ``stack_id`` and ``stack_name``.
        """
        name = self.show(stack)['stack_name']
        listed = self.heat.get(
            f'/stacks/{name}/{stack}/resources?nested_depth=5'
        ).json()['resources']
        physical_ids = [
            entry['physical_resource_id']
            for entry in listed
            if entry['resource_type'] == kind
        ]
        rows = mariadb.query(
            'heat',
            'SELECT resource.uuid, resource.name, nova_instance, stack.id,'
            ' stack.name FROM resource JOIN stack ON stack.id = stack_id'
            ' WHERE nova_instance IN %s',
            physical_ids,
        )
        keys = 'uuid', 'name', 'server', 'stack_id', 'stack_name'
        return [dict(zip(keys, row, strict=True)) for row in rows]


def template(**resources: object) -> str:
    """Return a template in Heat's language, with resources by name."""
    return json.dumps(
        {'heat_template_version': '2018-08-31', 'resources': resources}
    )


def resource(type_name: str, **properties: object) -> dict:
    """Return a resource."""
    return {'type': type_name, 'properties': properties}


def server(**properties: object) -> dict:
    """Return the resource of a server without a network."""
    return resource(
        'OS::Nova::Server',
        flavor=layout.FLAVOR,
        image=layout.IMAGE,
        networks=[{'allocate_network': 'none'}],
        **properties,
    )


def group(count: int, member: dict) -> dict:
    """Return the resource of a group of equal members."""
    return resource(
        'OS::Heat::ResourceGroup', count=count, resource_def=member
    )
