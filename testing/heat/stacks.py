# SPDX-License-Identifier: Apache-2.0

"""Have a heat-engine of this process work on stacks, by its RPC API.

It is imported after :mod:`testing.heat.engine`, which prepares the process.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from heat.common import context as heat_context
from heat.objects import resource as resource_object
from heat.objects import stack as stack_object
from heat.rpc import api as rpc_api
from heat.rpc import client as rpc_client

from testing.heat import loopback

#: How long a stack may take, in seconds.
STACK_SECONDS = 1000.0
#: The longest pause between two looks at something that is being made, by
#: Heat itself and from outside, in seconds.
PAUSE = 0.05
#: The status of a stack that is worked on.
BUSY = 'IN_PROGRESS'


class Stacks:
    """The stacks of the engine in this process."""

    def __init__(self, cloud_url: str) -> None:
        self.cloud_url = cloud_url
        self.rpc = rpc_client.EngineClient()

    def context(self, project: str) -> Any:
        """Return the request context of a user of a project."""
        return heat_context.RequestContext(
            username='demo',
            password='demo',
            user_id='demo-user',
            project_id=project,
            project_name=project,
            user_domain_id='default',
            project_domain_id='default',
            auth_token=project,
            auth_url=f'{self.cloud_url}/identity/v3',
            roles=['member'],
            is_admin=False,
        )

    def do(
        self,
        project: str,
        name: str,
        action: str,
        data: Any,
        *,
        files: Mapping[str, str] | None = None,
        environment: Mapping[str, Any] | None = None,
    ) -> tuple[str, str]:
        """Do something to a stack, and wait for the end.

        :param action: ``create``, ``update``, or ``update_as_admin`` of
            another project, whose token Heat then shows to Nova.
        :param data: the template.
        :param files: the nested templates by name, as text.
        :returns: the stack's status and the reason Heat gives for it.
        """
        context = self.context(project)
        options: dict[str, Any] = {'timeout_mins': 15}
        arguments = dict(environment or {}), dict(files or {}), options
        rpc = self.rpc
        if action == 'create':
            options['disable_rollback'] = True
            identity = rpc.create_stack(context, name, data, *arguments)
        else:
            identity = rpc.identify_stack(context, name)
        if action == 'update_as_admin':
            context = self.context(loopback.ADMIN_PROJECT)
            context.is_admin = True
            action = 'update'
        if action == 'update':
            rpc.update_stack(context, identity, data, *arguments)
        deadline = time.monotonic() + STACK_SECONDS
        while time.monotonic() < deadline:
            # Heat's RPC API would load the whole stack each time.
            last_action, status, reason, _ = stack_object.Stack.get_status(
                context, identity['stack_id']
            )
            if last_action == action.upper() and status != BUSY:
                return f'{last_action}_{status}', reason
            time.sleep(PAUSE)
        return f'{action.upper()}_LATE', ''

    def listing(self, project: str, name: str) -> dict[str, Any]:
        """Return a stack's id, and its resources with those nested in it.

        :returns: what Heat's RPC API says, stack by stack. ``uuid`` is the
            resource's own id, ``server`` the id that its cloud gave it, and
            ``path`` the (resource, stack) names from the root stack down.
        """
        context = self.context(project)
        identity = self.rpc.identify_stack(context, name)
        resources = [*self._resources(context, identity, ((None, name),))]
        return {'root': identity['stack_id'], 'resources': resources}

    def _resources(
        self, context: Any, identity: Any, path: tuple[Any, ...]
    ) -> Iterator[dict[str, Any]]:
        stack_id = identity['stack_id']
        listed = self.rpc.list_stack_resources
        for row in listed(context, identity, with_detail=True):
            name = row[rpc_api.RES_NAME]
            # Heat's RPC API does not tell the resource's own id.
            stored = resource_object.Resource.get_by_name_and_stack(
                context, name, stack_id
            )
            yield {
                'name': name,
                'uuid': stored.uuid,
                'server': row[rpc_api.RES_PHYSICAL_ID],
                'type': row[rpc_api.RES_TYPE],
                'stack_id': stack_id,
                'stack_name': identity['stack_name'],
                'path': path,
            }
            nested = row.get(rpc_api.RES_NESTED_STACK_ID)
            if nested:
                below = (*path, (name, nested['stack_name']))
                yield from self._resources(context, nested, below)
