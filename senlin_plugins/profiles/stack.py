# SPDX-License-Identifier: Apache-2.0

"""Senlin's stack profile, with each stack in its node's region."""

from http import HTTPStatus
from typing import Any

from senlin.common import consts
from senlin.common import exception as exc
from senlin.drivers import sdk
from senlin.profiles.os.heat import stack

from senlin_plugins.cluster.holders import Resource
from senlin_plugins.planning import plugin_types, requirements
from senlin_plugins.profiles import region_aware


class Healthy(stack.StackProfile):  # type: ignore[misc]  # untyped base
    """Senlin's stack profile, with a health check that works."""

    def do_healthcheck(self, obj: Any, health_check_type: str) -> bool:
        """Tell whether a node's stack is healthy.

        Senlin's health manager passes ``health_check_type``. Senlin's own
        method does not accept this argument, so the call fails, and every
        stack counts as healthy.

        :param health_check_type: the kind of check, which makes no difference.
        :returns: false if the stack is gone or has failed. True if Heat does
            not answer, because that is no reason to replace a node.
        """
        if not obj.physical_id:
            return bool(obj.status == consts.NS_CREATING)
        try:
            heat_stack = self.orchestration(obj).stack_get(obj.physical_id)
        except exc.InternalError as ex:
            return bool(ex.code != HTTPStatus.NOT_FOUND)
        return not heat_stack.status.endswith('FAILED')


class StackProfile(region_aware.RegionAware, Healthy):
    """Profile ``senlin_plugins.heat.stack``.

    Takes the same spec as ``os.heat.stack``.
    """

    EXTENDS = plugin_types.EXTENDED[plugin_types.STACK]
    CREATES = 'stack'
    CLIENT = requirements.MAKERS[plugin_types.STACK]

    VERSION = '1.0'
    VERSIONS = {'1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}

    def identify(self, obj: Any, id_: str) -> Resource:
        """Return a stack with its id and its names.

        :raises: ``InternalError`` if Heat does not answer.
        """
        region = region_aware.region_of(obj, self)
        try:
            heat_stack = self.orchestration(obj).stack_get(id_)
        except exc.InternalError as ex:
            if ex.code != HTTPStatus.NOT_FOUND:
                raise
            return Resource(id_, region=region)
        name = heat_stack.name
        names = [name, f'{name}/{heat_stack.id}']
        return Resource(heat_stack.id, names, region)

    @sdk.translate_exception  # type: ignore[untyped-decorator]
    def find_made(self, obj: Any) -> list[str]:
        """Return the ids of the stacks that were created for a node."""
        # Senlin's profile sets this tag on each stack. A search by name is not
        # possible, because Senlin adds random characters to the name.
        tags = [f'cluster_node_id={obj.id}']
        stacks = self.orchestration(obj).conn.orchestration.stacks(tags=tags)
        return [str(stack.id) for stack in stacks]
