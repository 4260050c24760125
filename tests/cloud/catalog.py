# SPDX-License-Identifier: Apache-2.0

"""Fill the new cloud: users, addresses of the services, flavors, an image."""

from openstack import connection
from openstack.compute.v2 import flavor
from openstack.image.v2 import image

from tests.cloud import layout

#: Type and path of each service beside Keystone.
SERVICES = {
    'placement': ('placement', ''),
    'nova': ('compute', '/v2.1'),
    'glance': ('image', ''),
    'neutron': ('network', ''),
    # A header of each request says in which region Heat makes servers.
    'heat': ('orchestration', '/v1/%(tenant_id)s'),
    'senlin': ('clustering', ''),
}


def fill() -> None:
    """Make the users, the services, the regions and the endpoints."""
    admin = layout.connect()
    identity = admin.identity
    fill_users(admin)
    # The first one is there already, with its Keystone.
    _, second = layout.REGIONS
    identity.create_region(id=second.name)
    (keystone,) = identity.services(type='identity')
    add_endpoint(admin, keystone.id, second, layout.url('keystone') + '/v3')
    for name, (kind, path) in SERVICES.items():
        made = identity.create_service(name=name, type=kind)
        for region in layout.REGIONS:
            # Some services there are once for all regions.
            own = f'{region.name}.{name}'
            server = own if own in layout.PORTS else name
            add_endpoint(admin, made.id, region, layout.url(server) + path)


def fill_users(admin: connection.Connection) -> None:
    """Make the services' users, a user with a project, and Heat's domain."""
    identity = admin.identity
    roles = {role.name: role for role in identity.roles()}

    def make_user(name: str, domain: str = 'default'):
        return identity.create_user(
            name=name, password=layout.PASSWORD, domain_id=domain
        )

    demo = identity.create_project(name=layout.USER, domain_id='default')
    identity.assign_project_role_to_user(
        demo, make_user(layout.USER), roles['member']
    )
    service = identity.create_project(name='service', domain_id='default')
    for name in SERVICES:
        user = make_user(name)
        for role in ('admin', 'service'):
            identity.assign_project_role_to_user(service, user, roles[role])
    domain = identity.create_domain(name='heat')
    keeper = make_user('heat_domain_admin', domain.id)
    identity.assign_domain_role_to_user(domain, keeper, roles['admin'])


def add_endpoint(
    admin: connection.Connection,
    service: str,
    region: layout.Region,
    url: str,
) -> None:
    """Say where a service, named by its id, answers in a region."""
    for interface in ('public', 'internal'):
        admin.identity.create_endpoint(
            service_id=service,
            region_id=region.name,
            interface=interface,
            url=url,
        )


def fill_clouds() -> None:
    """Make the flavors and the image that servers need."""
    for region in layout.REGIONS:
        add_flavor(layout.connect(region.name), layout.FLAVOR)
    add_image(layout.connect(), layout.IMAGE)


def add_flavor(cloud: connection.Connection, name: str) -> flavor.Flavor:
    """Make a small flavor."""
    return cloud.compute.create_flavor(name=name, vcpus=1, ram=64, disk=1)


def add_image(cloud: connection.Connection, name: str) -> image.Image:
    """Make an image that no hypervisor looks into."""
    return cloud.image.create_image(
        name,
        data=bytes(1024),
        disk_format='raw',
        container_format='bare',
        visibility='public',
    )
