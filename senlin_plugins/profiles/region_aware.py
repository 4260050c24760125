# SPDX-License-Identifier: Apache-2.0

"""The region of a node, and profiles that use this region.

A node's region is recorded in its data, as ``placement.region_name``. A
placement policy writes the region before the node is created. If no policy has
done so, a region-aware profile writes the region. From then on, every call for
the node goes to that region, even if the profile's own region changes.
"""

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from keystoneauth1 import loading
from oslo_config import cfg
from senlin.common import exception as exc
from senlin.drivers import base as driver_base

from senlin_plugins.cluster import holders
from senlin_plugins.cluster.node_records import record_region
from senlin_plugins.planning import requirements
from senlin_plugins.planning.snapshot import fixed_region, recorded_region
from senlin_plugins.profiles import creation, failover

# The SDK imports its login plugin at the first login. In a new engine, several
# green threads may log in at the same time. All but the first would fail
# ("partially initialized module"). So this line imports the plugin while the
# engine starts, in one thread.
loading.get_plugin_loader('password')

_Recorder = TypeVar('_Recorder', bound=creation.Recorder)


def region_of(node: Any, profile: Any) -> str | None:
    """Return the region of a node that exists or will be created.

    :param node: the node, or any object without ``data``.
    :returns: the recorded region, or else the region that the profile fixes,
        or else Senlin's ``default_region_name``; ``None`` if all are unset.
    """
    return (
        recorded_region(node)
        or fixed_region(profile.context)
        or cfg.CONF.default_region_name
    )


def is_aware(profile: Any) -> bool:
    """Tell whether a profile creates each node in the node's own region.

    :param profile: a profile of any type, also of another package.
    """
    return bool(getattr(profile, 'REGION_AWARE', False))


class RegionAware(failover.Failover):
    """Mix-in for a profile: each client is built for the node's region."""

    # Senlin's base class sets this attribute, but has no type hints.
    context: Any

    #: The in-tree type that the profile extends, without its version.
    EXTENDS = ''
    #: Read by :func:`is_aware`.
    REGION_AWARE = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: (service, region, user, project) -> client.
        self._clients: dict[tuple[str, str | None, str, str], Any] = {}
        # Senlin reads type_name only in HealthPolicy.attach(), which accepts
        # some recovery actions only for the profile type os.nova.server.
        self.type_name = self.EXTENDS

    def required_services(self) -> list[str]:
        """Name the services that a region must offer for a new node.

        :returns: service types as in Keystone's catalog.
        """
        return requirements.services(self.CLIENT, self.spec['properties'])

    def _client(self, service: str, obj: Any) -> Any:
        """Return the client of a service in the region of a node."""
        # While a profile is validated, obj is the profile itself.
        region = region_of(obj, self)
        key = (service, region, obj.user, obj.project)
        if key not in self._clients:
            params = self._build_conn_params(obj.user, obj.project)
            if region:
                params['region_name'] = region
            factory = getattr(driver_base.SenlinDriver(), service)
            self._clients[key] = factory(params)
        return self._clients[key]

    @contextlib.contextmanager
    def recording(
        self, recorder: type[_Recorder], service: str, obj: Any
    ) -> Iterator[_Recorder]:
        """Let a client record each resource that it creates for a node.

        Senlin loads a new profile object for each action on a node, so no
        other action uses this client.

        :param recorder: the class that wraps the client, and records.
        :param service: the service of the client.
        :returns: the client that records.
        """
        client = self._client(service, obj)
        (key,) = [
            key for key, cached in self._clients.items() if cached is client
        ]
        recording = self._clients[key] = recorder(client, obj)
        try:
            yield recording
        finally:
            self._clients[key] = client

    def ties(self) -> list[str]:
        """Return the properties that tie new nodes to one region.

        :returns: texts for a message to the user.
        """
        return requirements.ties(self.spec['properties'])

    # These methods replace Senlin's own methods. Each of those keeps only one
    # client, and uses the client for all regions.
    compute = functools.partialmethod(_client, 'compute')
    glance = functools.partialmethod(_client, 'glance')
    network = functools.partialmethod(_client, 'network')
    block_storage = functools.partialmethod(_client, 'block_storage')
    orchestration = functools.partialmethod(_client, 'orchestration')
    workflow = functools.partialmethod(_client, 'workflow')

    def do_create(self, obj: Any) -> Any:
        """Create the resource in the node's region and record the region.

        The region is recorded first, so a resource never exists in a region
        that is not in the node's row. If the creation fails, the incomplete
        resource is deleted.

        :returns: the id of the server or stack.
        :raises: ``EResourceCreation`` with the id of the server or stack, if
            it may still exist.
        """
        region = region_of(obj, self)
        if region and region != recorded_region(obj):
            record_region(obj, region)
        maker = None
        try:
            with self.recording(creation.Maker, self.CLIENT, obj) as maker:
                return super().do_create(obj)
        except exc.SenlinException as ex:
            made = maker.made if maker else None
            raise creation.fail(self, obj, made, ex) from ex

    def do_join(self, obj: Any, cluster_id: str) -> bool:
        """Join a cluster, and record the region of an adopted node.

        :returns: whether the node has joined.
        """
        joined = bool(super().do_join(obj, cluster_id))
        region = region_of(obj, self)
        if joined and region and not recorded_region(obj):
            record_region(obj, region)
        return joined

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
        :raises: ``ResourceInUse`` if a node holds the resource;
            ``BadRequest`` if the request has a name in place of the id;
            ``InvalidSpec`` if the context in the overrides is not a map.
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
        self._check_adoption(obj)
        spec: dict[str, Any] = super().do_adopt(
            obj, overrides=overrides, snapshot=snapshot
        )
        if region and 'Error' not in spec:
            spec['context'] = {**new_context, 'region_name': region}
        # For a property that the resource lacks, such as a key pair, the
        # in-tree profile writes null, and later refuses this null.
        return {k: value for k, value in spec.items() if value is not None}

    def _check_adoption(self, obj: Any) -> None:
        """Refuse a resource that a node holds, or that is not given by id.

        Senlin's conductor writes the id or name from the request into the
        node's row. With a name there, a search for the id would not find the
        node.
        """
        typed = obj.physical_id
        try:
            resource = self.identify(obj, typed)
            client = getattr(self, self.CLIENT)(obj)
            real_id = getattr(client, f'{self.CREATES}_get')(typed).id
        except exc.InternalError:
            # Senlin's own do_adopt() then reports the error.
            return
        if holders.is_held(resource):
            raise exc.ResourceInUse(
                type=self.CREATES,
                id=real_id,
                reason='a node has it already. It cannot be adopted',
            )
        if real_id != typed:
            raise exc.BadRequest(
                msg=f"'{typed}' is not the id of a {self.CREATES}. The id of "
                f'this {self.CREATES} is {real_id}: adopt it by its id'
            )
