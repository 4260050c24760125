# SPDX-License-Identifier: Apache-2.0

"""Where a node lives, and profiles that go there.

A node's region is recorded in its data, as ``placement.region_name``: a
placement policy writes it before the node is created, and a region-aware
profile writes it itself when nobody did. From then on every call for the
node goes to that region, also when the profile's own region changes.
"""

from typing import Any

from keystoneauth1 import loading
from oslo_config import cfg
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.drivers import base as driver_base
from senlin.objects import node as node_objects
from senlin.profiles import base

from senlin_plugins.profiles import creation

# The SDK loads its login plugin when it logs in first. In a fresh engine the
# green threads of several nodes do that at once, and those that come while
# the first one is importing fail ("partially initialized module"). This
# module is loaded while the engine starts, by one thread.
loading.get_plugin_loader('password')


def recorded_region(node: Any) -> str | None:
    """Return the region that a node's data names.

    :param node: a node, from Senlin's engine or from its database.
    :returns: the name, or ``None`` when none is recorded.
    """
    placement = (getattr(node, 'data', None) or {}).get('placement') or {}
    return placement.get('region_name')


def own_region(profile: Any) -> str | None:
    """Return the region that a profile's spec fixes in its ``context``.

    :param profile: a profile of any type.
    :returns: the name, or ``None`` when the profile leaves it open.
    """
    return (profile.context or {}).get('region_name') or None


def region_of(node: Any, profile: Any) -> str | None:
    """Return the region in which a node lives, or will be created.

    :param node: the node, or anything without ``data``.
    :param profile: the node's profile.
    :returns: the recorded region, else the profile's own, else Senlin's
        ``default_region_name``; ``None`` when that is unset, too.
    """
    return (
        recorded_region(node)
        or own_region(profile)
        or cfg.CONF.default_region_name
    )


def record_region(node: Any, region: str) -> None:
    """Write a region into a node's data and store it.

    :param node: the engine's node object.
    :param region: the region's name.
    """
    data = dict(node.data or {})
    data['placement'] = {
        **(data.get('placement') or {}),
        'region_name': region,
    }
    node.data = data
    node_objects.Node.update(
        senlin_context.get_admin_context(), node.id, {'data': data}
    )


class ProfileType(str):
    """A profile type that also equals the in-tree type it extends.

    Senlin's affinity, zone and load-balancing policies list the types that
    they can handle, and look for the cluster's type in that list; there is
    no other seam, short of changing those policies. What they do works for
    the subclass as well; without this a region-aware cluster could have
    none of them.

    It cannot be equal to two names and hash like both, so it must not
    travel: only a profile in memory carries one. What the profile stores or
    shows, and what pickle makes of it, is the plain name of its own. As a
    key, and in a set, it is found under that name only.

    :param name: the type with its version.
    :param base: the in-tree type with its version.
    """

    _base: str

    def __new__(cls, name: str, base: str) -> 'ProfileType':
        self = super().__new__(cls, name)
        self._base = base
        return self

    def __eq__(self, other: object) -> bool:
        # Two types of this kind that extend the same one are not the same.
        extended = type(other) is str and other == self._base
        return extended or str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __copy__(self) -> 'ProfileType':
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> 'ProfileType':
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


class RegionAware(base.Profile):  # type: ignore[misc]  # untyped base
    """Mix-in for a profile: each client is built for the node's region."""

    # Set by the untyped base.
    type: Any
    context: Any

    #: The in-tree type that the profile extends, without its version.
    EXTENDS = ''

    #: What the region placement policy looks for, also in profiles that
    #: come from elsewhere.
    REGION_AWARE = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.type = ProfileType(self.type, f'{self.EXTENDS}-1.0')
        # Read by the health policy, to tell what can be rebooted.
        self.type_name = self.EXTENDS

    def store(self, ctx: Any) -> Any:
        """Store the profile under the plain name of its type.

        :param ctx: the request's context.
        :returns: the profile's id.
        """
        known_as = self.type
        self.type = str(known_as)
        try:
            return super().store(ctx)
        finally:
            self.type = known_as

    def to_dict(self) -> dict[str, Any]:
        """Return what the API shows, with the plain name of the type."""
        return {**super().to_dict(), 'type': str(self.type)}

    def required_services(self) -> list[str]:
        """Name the services that a region must offer for this profile.

        :returns: service types as in Keystone's catalog.
        """
        raise NotImplementedError

    def _client(self, service: str, obj: Any) -> Any:
        """Return the client of a service in the region of a node.

        :param service: the name of the driver's factory.
        :param obj: the node, or the profile itself while it is validated.
        :returns: a client, one per service and region.
        """
        region = region_of(obj, self)
        clients = self.__dict__.setdefault('_regional_clients', {})
        key = (service, region, obj.user, obj.project)
        if key not in clients:
            params = self._build_conn_params(obj.user, obj.project)
            if region:
                params['region_name'] = region
            factory = getattr(driver_base.SenlinDriver(), service)
            clients[key] = factory(params)
        if obj is self.__dict__.get('_creating'):
            return creation.Recorder(clients[key], obj)
        return clients[key]

    def compute(self, obj: Any) -> Any:
        """Return the compute client for a node's region."""
        return self._client('compute', obj)

    def glance(self, obj: Any) -> Any:
        """Return the image client for a node's region."""
        return self._client('glance', obj)

    def network(self, obj: Any) -> Any:
        """Return the network client for a node's region."""
        return self._client('network', obj)

    def block_storage(self, obj: Any) -> Any:
        """Return the block storage client for a node's region."""
        return self._client('block_storage', obj)

    def orchestration(self, obj: Any) -> Any:
        """Return the orchestration client for a node's region."""
        return self._client('orchestration', obj)

    def workflow(self, obj: Any) -> Any:
        """Return the workflow client for a node's region."""
        return self._client('workflow', obj)

    def do_create(self, obj: Any) -> Any:
        """Create the resource in the node's region and record the region.

        A region in the profile's spec has precedence over a placement
        (scenario S4). The record is written before anything is created: a
        resource never exists in a region that its node does not name. The
        id of the resource is recorded as soon as the service has given it,
        and a resource that did not get ready is deleted.

        :param obj: the node.
        :returns: the id of what was created.
        :raises: ``EResourceCreation`` with the id of what may be left.
        """
        region = own_region(self) or region_of(obj, self)
        if region and region != recorded_region(obj):
            record_region(obj, region)
        before = obj.physical_id
        self._creating = obj
        try:
            return super().do_create(obj)
        except exc.SenlinException as ex:
            raise creation.keep_hold(self, obj, before, ex) from ex
        finally:
            self._creating = None

    def do_adopt(
        self,
        obj: Any,
        overrides: dict[str, Any] | None = None,
        snapshot: bool = False,
    ) -> dict[str, Any]:
        """Adopt a resource, from the region that the overrides name.

        :param obj: a node that may be made up for a preview.
        :param overrides: properties to override; ``context.region_name``
            says where the resource is.
        :param snapshot: whether to take a snapshot first.
        :returns: the spec of the resource, or a description of the error.
        """
        asked = (overrides or {}).get('context') or {}
        if asked.get('region_name'):
            self.context = {
                **(self.context or {}),
                'region_name': asked['region_name'],
            }
        spec: dict[str, Any] = super().do_adopt(
            obj, overrides=overrides, snapshot=snapshot
        )
        # The in-tree profile writes down what the resource does not have (a
        # key pair, say), and then refuses the null.
        return {k: value for k, value in spec.items() if value is not None}
