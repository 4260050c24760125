# SPDX-License-Identifier: Apache-2.0

"""Write what the services of the cloud read: plain files, from templates.

The templates lie in ``tests/cloud/etc/``. The lines that enable the three
plug-ins are not among them: they are those of the documentation, as an
operator would copy them.
"""

import pathlib
import string

from tests import pages, signing
from tests.cloud import layout

TEMPLATES = pathlib.Path(__file__).resolve().parent / 'etc'


def write_all() -> None:
    """Write the configuration of every service, and of a user's shell."""
    plugins = {
        # Whoever signs and whoever believes have the same line.
        'heat': from_page('quickstart-stack', 'enabled = true'),
        'senlin': from_page('senlin', 'default_region_name ='),
    }
    for service in ('keystone', 'glance', 'neutron', 'heat', 'senlin'):
        write(
            f'{service}.conf',
            f'{service}.conf',
            database=layout.database(service),
            port=layout.PORTS[service],
            url=layout.url(service),
            login=login(service),
            plugin=plugins.get(service),
        )
    port = layout.PORTS['rabbitmq']
    for name in ('rabbitmq.conf', 'rabbitmq-definitions.json'):
        write(name, name, port=port)
    for region in layout.REGIONS:
        write_region(region)
    (layout.ETC / 'senlin-environments').mkdir()
    variables = layout.login(layout.USER).items()
    exports = [f'export {name}={value}\n' for name, value in variables]
    (layout.FOLDER / 'openrc').write_text(''.join(exports))


def write_region(region: layout.Region) -> None:
    """Write the configuration of the services of one region."""
    name = region.name
    write(
        'placement.conf',
        f'{name}/placement.conf',
        database=layout.database(f'placement_{name}'),
        login=login('placement'),
    )
    plugin = [
        from_page('quickstart-nova', 'enabled_filters ='),
        from_page('quickstart-stack', 'weight_classes ='),
        from_page('racks', 'stack_spread_over ='),
        from_page('../../README', 'server_group_weight_multiplier ='),
    ]
    write(
        'nova.conf',
        f'{name}/nova.conf',
        environment=region.environment,
        login=login('nova'),
        plugin='\n'.join(plugin),
        port=layout.PORTS[f'{name}.nova'],
        region=name,
        # Nova checks the policies of groups in the first region alone.
        unchecked=region != layout.REGIONS[0],
    )
    write(
        'nova-database.conf',
        f'{name}/nova-database.conf',
        database=layout.database(f'nova_{name}'),
        api_database=layout.database(f'nova_api_{name}'),
    )
    for host in (*region.schedulers, *region.hosts):
        write('host.conf', f'{name}/{host}.conf', host=host, region=name)
        (layout.DATA / name / host).mkdir(parents=True)


def write(template: str, target: str, **values: object) -> None:
    """Fill a template; the target is a file below ``etc``."""
    common = {
        'address': layout.ADDRESS,
        'data': layout.DATA,
        'environment': layout.ENVIRONMENT,
        'etc': layout.ETC,
        'identity': f'{layout.url("keystone")}/v3',
        'password': layout.PASSWORD,
        'rabbitmq': f'{layout.ADDRESS}:{layout.PORTS["rabbitmq"]}',
    }
    text = string.Template((TEMPLATES / template).read_text())
    path = layout.ETC / target
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.substitute(common, **values))


def login(user: str) -> str:
    """Return how a service logs in, for a section that has a client in it."""
    values = {'auth_type': 'password', **layout.credentials(user, 'service')}
    return '\n'.join(f'{name} = {value}' for name, value in values.items())


def from_page(page: str, line: str) -> str:
    """Return the first configuration on a page that has a line, with a key.

    :param page: the page below ``doc/source/``, without its suffix.
    :param line: how the line begins.
    """
    for block in pages.read(f'doc/source/{page}.rst'):
        if block.kind == 'ini' and f'\n{line}' in f'\n{block.text}':
            return block.text.replace('REPLACE-ME', signing.KEY).strip()
    raise LookupError(f'{page} shows no configuration with "{line}"')
