# SPDX-License-Identifier: Apache-2.0

"""Senlin's profiles, with each server or stack in its node's region.

A node's region is recorded in its data, as ``placement.region_name``. A
placement policy writes the region before the node is created. If no policy has
done so, a region-aware profile writes the region. From then on, every call for
the node goes to that region, even if the profile's own region changes.
"""

import functools
from collections.abc import Mapping
from typing import Any

from keystoneauth1 import loading
from oslo_config import cfg
from senlin.common import consts
from senlin.common import exception as exc
from senlin.drivers import base as driver_base
from senlin.policies import lb_policy
from senlin.profiles import base
from senlin.profiles.os.heat import stack
from senlin.profiles.os.nova import server

from senlin_plugins import node_records
from senlin_plugins.planning import node_region
from senlin_plugins.planning.node_region import SERVER, STACK, fixed_region

# The SDK imports its login plugin at the first login. In a new engine, several
# green threads may log in at the same time. All but the first would fail
# ("partially initialized module"). So this line imports the plugin while the
# engine starts, in one thread.
loading.get_plugin_loader('password')


class RegionAware(base.Profile):  # type: ignore[misc]  # untyped base
    """Mix-in for a profile: each client is built for the node's region."""

    # Senlin's base class sets this attribute, but has no type hints.
    context: Any

    #: The in-tree type that the profile extends, without its version.
    EXTENDS = ''
    #: The service that creates a node's server or stack.
    CLIENT = ''

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: Service -> client. Senlin loads a profile for each operation on a
        #: node, so all clients are for one region.
        self._clients: dict[str, Any] = {}
        # Senlin reads type_name only in HealthPolicy.attach(), which accepts
        # some recovery actions only for the profile type os.nova.server.
        self.type_name = self.EXTENDS

    def _region(self, obj: Any) -> str | None:
        return node_region.target_region(
            obj, self.context, cfg.CONF.default_region_name
        )

    def _client(self, service: str, obj: Any) -> Any:
        if service not in self._clients:
            params = self._build_conn_params(obj.user, obj.project)
            # While a profile is validated, obj is the profile itself.
            region = self._region(obj)
            if region:
                params['region_name'] = region
            factory = getattr(driver_base.SenlinDriver(), service)
            self._clients[service] = factory(params)
        return self._clients[service]

    # These methods replace Senlin's own methods, which ignore the region of a
    # node.
    compute = functools.partialmethod(_client, 'compute')
    glance = functools.partialmethod(_client, 'glance')
    network = functools.partialmethod(_client, 'network')
    block_storage = functools.partialmethod(_client, 'block_storage')
    orchestration = functools.partialmethod(_client, 'orchestration')
    workflow = functools.partialmethod(_client, 'workflow')

    def do_create(self, obj: Any) -> Any:
        """Record the node's region, and create the node as Senlin does.

        The region is recorded first, so a server or stack never exists in a
        region that is not in the node's row.

        :returns: the id of the server or stack.
        """
        region = self._region(obj)
        if region and region != node_region.recorded_region(obj):
            node_records.record_region(obj, region)
        return super().do_create(obj)

    def do_adopt(
        self,
        obj: Any,
        overrides: dict[str, Any] | None = None,
        snapshot: bool = False,
    ) -> dict[str, Any]:
        """Adopt a resource, from the region that the overrides name.

        The returned spec names the region even if the request does not. Later
        changes of ``default_region_name`` then do not matter.

        :param obj: the node; for a preview, an object that is not stored.
        :param overrides: properties to override; ``context.region_name``
            says where the resource is.
        :param snapshot: whether to take a snapshot first.
        :returns: the spec of the resource, or a description of the error.
        :raises: ``InvalidSpec`` if the context in the overrides is not a map.
        """
        new_context = (overrides or {}).get('context') or {}
        if not isinstance(new_context, Mapping):
            raise exc.InvalidSpec(
                message="The 'context' of the overrides is not a map: write "
                "'region_name' into a map."
            )
        region = fixed_region(new_context) or cfg.CONF.default_region_name
        if region:
            self.context = {**(self.context or {}), 'region_name': region}
        spec: dict[str, Any] = super().do_adopt(
            obj, overrides=overrides, snapshot=snapshot
        )
        if region and 'Error' not in spec:
            spec['context'] = {**new_context, 'region_name': region}
        return spec


class ServerProfile(
    RegionAware,
    server.ServerProfile,  # type: ignore[misc]  # untyped base
):
    """Profile ``senlin_plugins.nova.server``.

    Takes the same spec as ``os.nova.server``.
    """

    EXTENDS = node_region.EXTENDED[SERVER]
    CLIENT = node_region.MAKERS[SERVER]

    VERSION = '1.0'
    VERSIONS = {'1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}

    def do_validate(self, obj: Any) -> Any:
        """Check the spec against the services in the profile's region.

        :param obj: the profile itself.
        :returns: true.
        :raises: ``InvalidSpec`` with what is wrong.
        """
        ties = node_region.list_ties(self.spec['properties'])
        if ties and not fixed_region(self.context):
            raise exc.InvalidSpec(
                message=f'{ties[0]} exists in one region only: name that '
                "region as 'region_name' in 'context'."
            )
        return super().do_validate(obj)


class StackProfile(
    RegionAware,
    stack.StackProfile,  # type: ignore[misc]  # untyped base
):
    """Profile ``senlin_plugins.heat.stack``.

    Takes the same spec as ``os.heat.stack``.
    """

    EXTENDS = node_region.EXTENDED[STACK]
    CLIENT = node_region.MAKERS[STACK]

    VERSION = '1.0'
    VERSIONS = {'1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}

    def do_recover(self, obj: Any, **options: Any) -> Any:
        """Recover a stack; without an operation, create the stack again.

        Senlin does so for servers. For stacks, its method fails without an
        operation, and the node stays in RECOVERING.

        :param obj: the node.
        :param options: the inputs of the recovery.
        :returns: the id of the stack, and whether the recovery succeeded.
        """
        if not options.get('operation'):
            options['operation'] = consts.RECOVER_RECREATE
        return super().do_recover(obj, **options)


# Senlin's load-balancing policy has a list of the profile types that it
# supports. It supports ServerProfile, too.
lb_policy.LoadBalancingPolicy.PROFILE_TYPE.append(f'{SERVER}-1.0')
