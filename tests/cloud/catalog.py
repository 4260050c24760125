# SPDX-License-Identifier: Apache-2.0

"""Fill Keystone: users, roles and where each service answers."""

from openstack import connection

from tests.cloud import layout

#: Type and path of each service.
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
    later_regions = layout.REGIONS[1:]
    for region in later_regions:
        identity.create_region(id=region.name)
    (keystone,) = identity.services(type='identity')
    add_endpoints(admin, keystone.id, 'keystone', '/v3', later_regions)
    for name, (kind, path) in SERVICES.items():
        made = identity.create_service(name=name, type=kind)
        add_endpoints(admin, made.id, name, path)


def fill_users(admin: connection.Connection) -> None:
    """Make the services' users, a user with a project, and Heat's domain."""
    identity = admin.identity
    roles = {role.name: role for role in identity.roles()}
    service, demo = (
        identity.create_project(name=name, domain_id='default')
        for name in ('service', layout.USER)
    )
    made = {
        name: identity.create_user(
            name=name, password=layout.PASSWORD, domain_id='default'
        )
        for name in (*SERVICES, layout.USER)
    }
    member = made.pop(layout.USER), roles['member']
    identity.assign_project_role_to_user(demo, *member)
    for user in made.values():
        for role in ('admin', 'service'):
            identity.assign_project_role_to_user(service, user, roles[role])
    domain = identity.create_domain(name='heat')
    keeper = identity.create_user(
        name='heat_domain_admin',
        password=layout.PASSWORD,
        domain_id=domain.id,
    )
    identity.assign_domain_role_to_user(domain, keeper, roles['admin'])


def add_endpoints(
    admin: connection.Connection,
    service: str,
    name: str,
    path: str,
    regions: tuple[layout.Region, ...] = layout.REGIONS,
) -> None:
    """Say where a service, named by its id, answers in each region."""
    for region in regions:
        # Some services there are once for all regions.
        server = name if name in layout.SERVERS else f'{region.name}.{name}'
        for interface in ('public', 'internal'):
            admin.identity.create_endpoint(
                service_id=service,
                region_id=region.name,
                interface=interface,
                url=layout.url(server) + path,
            )
