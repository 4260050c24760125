# SPDX-License-Identifier: Apache-2.0

"""Write what the services of the cloud read: plain files, from templates.

The templates lie in ``tests/cloud/etc/``. The lines that enable the three
plug-ins are not among them: they are those of the documentation, as an
operator would copy them.
"""

import pathlib
import string

from tests import pages, signing
from tests.cloud import layout, rabbitmq

TEMPLATES = pathlib.Path(__file__).resolve().parent / 'etc'


def write_all() -> None:
    """Write the configuration of every service, and of a user's shell."""
    write('keystone.conf', database=layout.database('keystone'))
    for region in layout.REGIONS:
        write_region(region)
    plugins = {
        # Whoever signs and whoever believes have the same line.
        'heat': from_page('quickstart-stack', 'enabled = true'),
        'senlin': from_page('senlin', 'default_region_name ='),
    }
    for service, plugin in plugins.items():
        write(
            f'{service}.conf',
            database=layout.database(service),
            port=layout.port(service),
            url=layout.url(service),
            transport=layout.transport(rabbitmq.SHARED),
            authtoken=authtoken(service),
            plugin=plugin,
        )
        for number in (1, 2):
            write_host(f'{service}-engine-{number}')
    (layout.ETC / 'senlin-environments').mkdir()
    (layout.FOLDER / 'openrc').write_text(
        ''.join(
            f'export {name}={value}\n'
            for name, value in layout.login(layout.USER).items()
        )
    )


def write_region(region: layout.Region) -> None:
    """Write the configuration of the services of one region."""
    environments = {'nova': region.nova_environment}
    for service in ('placement', 'glance', 'neutron', 'nova'):
        write(
            f'{service}.conf',
            folder=region.name,
            region=region.name,
            environment=environments.get(service, layout.ENVIRONMENT),
            database=layout.database(f'{service}_{region.name}'),
            port=region.port(service),
            transport=layout.transport(region.name),
            authtoken=authtoken(service),
            login=login(service),
            # The second filter does nothing unless a server asks it.
            plugin=from_page('quickstart-nova', 'enabled_filters =')
            + ',TeamSpreadFilter\n'
            + from_page('quickstart-stack', 'weight_classes =')
            + '\n'
            + from_page('nova-spread', 'stack_spread_over =')
            + '\n'
            + from_page('index', 'server_group_weight_multiplier ='),
        )
    write(
        'nova-database.conf',
        folder=region.name,
        database=layout.database(f'nova_{region.name}'),
        api_database=layout.database(f'nova_api_{region.name}'),
    )
    for number in (1, 2):
        write_host(f'scheduler-{number}', region.name)
    for host in region.hosts:
        write_host(host, region.name)


def write_host(host: str, folder: str = '.') -> None:
    """Write what tells one process from others of its service."""
    write(
        'host.conf',
        folder=folder,
        name=f'{host}.conf',
        host=host,
        region=folder,
    )
    (layout.DATA / folder / host).mkdir(parents=True)


def write(
    template: str, *, folder: str = '.', name: str = '', **values: object
) -> None:
    """Fill a template.

    :param folder: the folder below ``etc`` that the file goes to.
    :param name: the file's name, if not that of the template.
    """
    text = string.Template((TEMPLATES / template).read_text())
    target = layout.ETC / folder / (name or template)
    target.parent.mkdir(exist_ok=True)
    target.write_text(
        text.substitute(
            {'environment': layout.ENVIRONMENT, **values},
            address=layout.ADDRESS,
            data=layout.DATA,
            etc=layout.ETC,
            identity=f'{layout.url("keystone")}/v3',
            password=layout.PASSWORD,
        )
    )


def login(user: str) -> str:
    """Return how a service logs in, for a section that has a client in it."""
    values = {'auth_type': 'password', **layout.credentials(user, 'service')}
    return '\n'.join(f'{name} = {value}' for name, value in values.items())


def authtoken(user: str) -> str:
    """Return the lines of a service's section ``keystone_authtoken``."""
    return (
        f'www_authenticate_uri = {layout.url("keystone")}/v3\n'
        f'{login(user)}\n'
        'service_token_roles_required = true'
    )


def from_page(page: str, line: str) -> str:
    """Return the first configuration on a page that has a line, with a key.

    :param page: the page below ``doc/source/``, without its suffix.
    :param line: how the line begins.
    """
    for block in pages.read(f'doc/source/{page}.rst'):
        if block.kind == 'ini' and f'\n{line}' in f'\n{block.text}':
            return block.text.replace('REPLACE-ME', signing.KEY).strip()
    raise LookupError(f'{page} shows no configuration with "{line}"')
