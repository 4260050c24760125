# SPDX-License-Identifier: Apache-2.0

"""Have a heat-engine of this process work on stacks, by its RPC API.

It is imported after :mod:`testing.heat.engine`, which prepares the process.
"""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from heat.common import context as heat_context
from heat.db import api as db_api
from heat.db import models
from heat.objects import resource as resource_object
from heat.objects import stack as stack_object
from heat.rpc import api as rpc_api
from heat.rpc import client as rpc_client

from testing.heat import loopback

#: How long a stack may take, in seconds.
STACK_SECONDS = 600.0
#: The longest pause between two looks at something that is being made, by
#: Heat itself and from outside, in seconds.
PAUSE = 0.05
#: The status of a stack that Heat did not take.
REFUSED = 'REFUSED'


class Stacks:
    """The stacks of the engine in this process.

    :param cloud_url: where the loopback cloud answers.
    """

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
        data: Mapping[str, Any] | None = None,
        *,
        files: Mapping[str, str] | None = None,
        environment: Mapping[str, Any] | None = None,
        tags: Sequence[str] | None = None,
    ) -> tuple[str, str]:
        """Do something to a stack, and wait for the end.

        :param action: ``create``, ``adopt``, ``update``, ``check``,
            ``suspend``, ``resume``, ``snapshot``, ``restore`` (the only
            snapshot) or ``abandon``; ``signal`` with the name of a resource
            and how many members its group has then, as data; or
            ``update_as_admin`` of another project, whose token Heat then
            shows to Nova.
        :param data: the template; to adopt a stack, what Heat tells when it
            abandons one.
        :param files: the nested templates by name, as text.
        :param environment: the user's environment.
        :param tags: the tags of the stack.
        :returns: the stack's status and the reason Heat gives for it;
            :data:`REFUSED` if there is no stack, because its template is not
            valid.
        """
        context = self.context(project)
        options: dict[str, Any] = {'timeout_mins': 5}
        if tags is not None:
            options['tags'] = list(tags)
        if action in ('create', 'adopt'):
            template = dict(data or {})
            options['disable_rollback'] = True
            if action == 'adopt':
                options['adopt_stack_data'] = json.dumps(data)
                template = template['template']
            try:
                identity = self.rpc.create_stack(
                    *(context, name, template),
                    *(dict(environment or {}), dict(files or {}), options),
                )
            except Exception as exc:
                return REFUSED, str(exc)
            return self._wait(context, identity, action.upper())
        identity = self.rpc.identify_stack(context, name)
        if action in ('snapshot', 'restore', 'abandon', 'signal'):
            return getattr(self, f'_{action}')(context, identity, data)
        if data is None:
            getattr(self.rpc, f'stack_{action}')(context, identity)
            return self._wait(context, identity, action.upper())
        if action == 'update_as_admin':
            context = self.context(loopback.ADMIN_PROJECT)
            context.is_admin = True
        try:
            self.rpc.update_stack(
                *(context, identity, dict(data)),
                *(dict(environment or {}), dict(files or {}), options),
            )
        except Exception as exc:
            return REFUSED, str(exc)
        return self._wait(context, identity, 'UPDATE')

    def _snapshot(
        self, context: Any, identity: Any, data: Any
    ) -> tuple[str, str]:
        made = self.rpc.stack_snapshot(context, identity, 'before')
        told = self._wait(context, identity, 'SNAPSHOT')
        while told[0] == 'SNAPSHOT_COMPLETE' != f'SNAPSHOT_{made["status"]}':
            time.sleep(PAUSE)
            made = self.rpc.show_snapshot(context, identity, made['id'])
        return told

    def _restore(
        self, context: Any, identity: Any, data: Any
    ) -> tuple[str, str]:
        (made,) = self.rpc.stack_list_snapshots(context, identity)
        self.rpc.stack_restore(context, identity, made['id'])
        return self._wait(context, identity, 'RESTORE')

    def _abandon(
        self, context: Any, identity: Any, data: Any
    ) -> tuple[str, str]:
        """Abandon a stack, and adopt it again under the same name."""
        name = identity['stack_name']
        left = self.rpc.abandon_stack(context, identity)
        deadline = time.monotonic() + STACK_SECONDS
        while time.monotonic() < deadline and any(
            stack['stack_name'] == name
            for stack in self.rpc.list_stacks(context)
        ):
            time.sleep(PAUSE)
        return self.do(context.project_id, name, 'adopt', left)

    def _signal(
        self, context: Any, identity: Any, data: Any
    ) -> tuple[str, str]:
        resource, wanted = data
        # The engine forgets a signal while it works on another.
        self.rpc.resource_signal(
            context, identity, resource, None, sync_call=True
        )
        rows, stacks = models.Resource, models.Stack
        root = identity['stack_id']
        deadline = time.monotonic() + STACK_SECONDS
        while True:
            with db_api.context_manager.reader.using(context) as session:
                found = session.query(rows.stack_id, rows.status)
                found = found.filter_by(root_stack_id=root).all()
                nested = session.query(stacks.status)
                nested = nested.filter_by(owner_id=root, deleted_at=None).all()
            members = sum(stack != root for stack, _ in found)
            states = {row[-1] for row in (*found, *nested)}
            done = members == wanted and states == {'COMPLETE'}
            if done or 'FAILED' in states or time.monotonic() > deadline:
                return (
                    'SIGNAL_COMPLETE' if done else 'SIGNAL_FAILED',
                    f'{members} members, {states}',
                )
            time.sleep(PAUSE)

    def _wait(
        self, context: Any, identity: Any, action: str
    ) -> tuple[str, str]:
        deadline = time.monotonic() + STACK_SECONDS
        while True:
            # Heat's RPC API would load the whole stack each time.
            found, status, reason, _ = stack_object.Stack.get_status(
                context, identity['stack_id']
            )
            done = found == action and status != 'IN_PROGRESS'
            if done or time.monotonic() > deadline:
                return f'{found}_{status}', reason
            time.sleep(PAUSE)

    def identify(self, project: str, name: str) -> str:
        """Return a stack's id, as Heat's RPC API tells it."""
        identity = self.rpc.identify_stack(self.context(project), name)
        stack_id: str = identity['stack_id']
        return stack_id

    def resources(self, project: str, name: str) -> list[dict[str, Any]]:
        """List the resources of a stack and of the stacks nested in it.

        :returns: what Heat's RPC API says, stack by stack. ``uuid`` is the
            resource's own id, ``physical_id`` that of what it made, ``path``
            the (resource, stack) names from the root stack down.
        """
        context = self.context(project)
        identity = self.rpc.identify_stack(context, name)
        return self._resources(context, identity, ((None, name),))

    def _resources(
        self,
        context: Any,
        identity: Any,
        path: tuple[tuple[str | None, str], ...],
    ) -> list[dict[str, Any]]:
        found = []
        for row in self.rpc.list_stack_resources(
            context, identity, with_detail=True
        ):
            name = row[rpc_api.RES_NAME]
            found.append(
                {
                    'name': name,
                    'uuid': _uuid(context, name, identity),
                    'physical_id': row[rpc_api.RES_PHYSICAL_ID],
                    'type': row[rpc_api.RES_TYPE],
                    'stack_id': identity['stack_id'],
                    'stack_name': identity['stack_name'],
                    'path': path,
                }
            )
            nested = row.get(rpc_api.RES_NESTED_STACK_ID)
            if nested:
                below = (*path, (name, nested['stack_name']))
                found.extend(self._resources(context, nested, below))
        return found


def _uuid(context: Any, name: str, identity: Mapping[str, str]) -> str:
    """Return a resource's own id: Heat's RPC API does not tell it."""
    row = resource_object.Resource.get_by_name_and_stack(
        context, name, identity['stack_id']
    )
    uuid: str = row.uuid
    return uuid
