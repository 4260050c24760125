# SPDX-License-Identifier: Apache-2.0

"""Where everything of the cloud is: folders, ports, databases, regions.

Everything listens on the loopback address and lives below ``.cloud/`` of the
checkout, so that it disturbs nothing else on the machine.
"""

import dataclasses
import functools
import json
import os
import pathlib
import socket
import sys

import openstack
from openstack import connection

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / '.cloud'
ETC = FOLDER / 'etc'
LOG = FOLDER / 'log'
DATA = FOLDER / 'data'

#: The environment that the services run from: that of the interpreter.
ENVIRONMENT = pathlib.Path(sys.prefix)

#: The one that some regions have their Nova and Placement from instead.
NEWEST = ENVIRONMENT.parent / 'functional-2026.2'

ADDRESS = '127.0.0.1'
# A proxy of the caller's does not lead there.
os.environ['no_proxy'] = ADDRESS

#: Nobody else reaches this cloud, and it lives for minutes.
PASSWORD = 'loopback'

#: Who may do everything, and who is a user with a project.
ADMIN = 'admin'
USER = 'demo'

FLAVOR = 'small'
IMAGE = 'tiny'


@dataclasses.dataclass(frozen=True)
class Region:
    """One region of the cloud.

    :param name: as Keystone knows it.
    :param nova_environment: the environment that its Nova and Placement run
        from.
    """

    name: str
    hosts: tuple[str, ...]
    nova_environment: pathlib.Path = ENVIRONMENT

    def port(self, service: str) -> int:
        """Return where one of its APIs listens."""
        return port(f'{self.name}.{service}')


REGIONS = (
    Region('RegionOne', ('one-1', 'one-2', 'one-3')),
    Region('RegionTwo', ('two-1', 'two-2', 'two-3'), NEWEST),
)

#: Whatever listens: what there is once, and the APIs of each region.
SERVERS = (
    'mariadb',
    'rabbitmq',
    'epmd',
    'erlang',
    'keystone',
    'heat',
    'senlin',
    *(f'{region.name}.placement' for region in REGIONS),
    *(f'{region.name}.nova' for region in REGIONS),
    *(f'{region.name}.glance' for region in REGIONS),
    *(f'{region.name}.neutron' for region in REGIONS),
)

#: The ports of the cloud that was booted last.
PORTS = FOLDER / 'ports.json'


def choose_ports() -> None:
    """Choose a port for each server at which nobody listens.

    The kernel gives none of these to clients: a connection of the cloud
    itself could have the port of a server that is restarted.
    """
    limits = pathlib.Path('/proc/sys/net/ipv4/ip_local_port_range')
    free = filter(can_listen, range(10000, int(limits.read_text().split()[0])))
    chosen = dict(zip(SERVERS, free, strict=False))
    if len(chosen) < len(SERVERS):
        raise OSError(f'no free ports below those that {limits} says')
    PORTS.write_text(json.dumps(chosen, indent=1))
    port.cache_clear()


def can_listen(number: int) -> bool:
    """Return whether a server could listen at a port."""
    with socket.socket() as probe:
        # As the servers do: one that is closing down is no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, number))
        except OSError:
            return False
        return True


@functools.cache
def port(server: str) -> int:
    """Return where one of the servers listens."""
    return json.loads(PORTS.read_text())[server]


def url(server: str) -> str:
    """Return the address of an API, without a path."""
    return f'http://{ADDRESS}:{port(server)}'


def credentials(user: str, project: str) -> dict[str, str]:
    """Return with what a user logs in."""
    return {
        'auth_url': f'{url("keystone")}/v3',
        'username': user,
        'password': PASSWORD,
        'project_name': project,
        'user_domain_id': 'default',
        'project_domain_id': 'default',
    }


def login(user: str, region: str = REGIONS[0].name) -> dict[str, str]:
    """Return the variables with which a user logs in."""
    values = {
        **credentials(user, user),
        'identity_api_version': '3',
        'region_name': region,
    }
    return {f'OS_{name.upper()}': value for name, value in values.items()}


def connect(
    region: str = REGIONS[0].name, user: str = ADMIN
) -> connection.Connection:
    """Return a connection to the APIs of a region; its first use logs in."""
    return openstack.connect(
        load_yaml_config=False,
        load_envvars=False,
        region_name=region,
        auth=credentials(user, user),
        # Only a service that hangs takes so long, on a busy machine, too.
        api_timeout=180,
    )


def database(name: str) -> str:
    """Return the URL under which a service finds its database."""
    return (
        f'mysql+pymysql://cloud:{PASSWORD}@{ADDRESS}:{port("mariadb")}/'
        f'{name}?charset=utf8'
    )


def transport(vhost: str) -> str:
    """Return the URL under which a service finds its message bus."""
    return f'rabbit://cloud:{PASSWORD}@{ADDRESS}:{port("rabbitmq")}/{vhost}'
