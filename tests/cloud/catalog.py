# SPDX-License-Identifier: Apache-2.0

"""Fill Keystone: users, roles and where each service answers."""

from openstack import connection
from openstack.identity.v3 import user

from tests.cloud import clients, layout

#: Type and path of each service that a region has of its own.
REGIONAL = {
    'placement': ('placement', ''),
    'nova': ('compute', '/v2.1'),
    'glance': ('image', ''),
    'neutron': ('network', ''),
}

#: The same for those that there are once, and the regions that they serve.
CENTRAL = {
    # A header of each request says in which region Heat makes servers.
    'heat': ('orchestration', '/v1/%(tenant_id)s', layout.REGIONS),
    'senlin': ('clustering', '', layout.REGIONS[:1]),
}


def fill() -> None:
    """Make the users, the services, the regions and the endpoints."""
    admin = clients.connect()
    fill_users(admin)
    identity = admin.identity
    others = layout.REGIONS[1:]
    keystone = next(iter(identity.services(type='identity')))
    for region in others:
        identity.create_region(id=region.name)
        add_endpoint(
            admin, keystone.id, region, f'{layout.url("keystone")}/v3'
        )
    for name, (kind, path) in REGIONAL.items():
        service = identity.create_service(name=name, type=kind)
        for region in layout.REGIONS:
            add_endpoint(admin, service.id, region, region.url(name) + path)
    for name, (kind, path, regions) in CENTRAL.items():
        service = identity.create_service(name=name, type=kind)
        for region in regions:
            add_endpoint(admin, service.id, region, layout.url(name) + path)


def fill_users(admin: connection.Connection) -> None:
    """Make the services' users, a user with a project, and Heat's domain."""
    identity = admin.identity
    roles = {role.name: role for role in identity.roles()}

    def make_user(name: str, domain: str = 'default') -> user.User:
        return identity.create_user(
            name=name, password=layout.PASSWORD, domain_id=domain
        )

    project = identity.create_project(name='service', domain_id='default')
    for name in (*REGIONAL, *CENTRAL):
        made = make_user(name)
        for role in ('admin', 'service'):
            identity.assign_project_role_to_user(project, made, roles[role])
    project = identity.create_project(name=layout.USER, domain_id='default')
    identity.assign_project_role_to_user(
        project, make_user(layout.USER), roles['member']
    )
    domain = identity.create_domain(name='heat')
    identity.assign_domain_role_to_user(
        domain, make_user('heat_domain_admin', domain.id), roles['admin']
    )


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
