# SPDX-License-Identifier: Apache-2.0

"""Where everything of the cloud is: folders, ports, databases, regions."""

import dataclasses
import os
import pathlib
import sys

import openstack
from openstack import connection

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / '.cloud'
ETC = FOLDER / 'etc'
LOG = FOLDER / 'log'
DATA = FOLDER / 'data'

#: The environments that the services run from: that of the interpreter, and
#: the one that has the newest Nova and Placement.
ENVIRONMENT = pathlib.Path(sys.prefix)
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

    :param environment: the one that its Nova and Placement run from.
    """

    name: str
    hosts: tuple[str, ...]
    environment: pathlib.Path

    @property
    def schedulers(self) -> tuple[str, ...]:
        """Return the names of its schedulers."""
        return 'scheduler-1', 'scheduler-2'


REGIONS = (
    Region('RegionOne', ('one-1', 'one-2', 'one-3'), ENVIRONMENT),
    Region('RegionTwo', ('two-1', 'two-2', 'two-3'), NEWEST),
)

#: Where the servers listen. The kernel gives none of these to clients.
PORTS = {
    'mariadb': 18000,
    'rabbitmq': 18001,
    'epmd': 18002,
    'erlang': 18003,
    'keystone': 18004,
    'glance': 18005,
    'neutron': 18006,
    'heat': 18007,
    'senlin': 18008,
    'RegionOne.placement': 18009,
    'RegionOne.nova': 18010,
    'RegionTwo.placement': 18011,
    'RegionTwo.nova': 18012,
}


def url(server: str) -> str:
    """Return the address of an API, without a path."""
    return f'http://{ADDRESS}:{PORTS[server]}'


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


def login(user: str) -> dict[str, str]:
    """Return the variables with which a user logs in to the first region."""
    values = {
        **credentials(user, user),
        'identity_api_version': '3',
        'region_name': REGIONS[0].name,
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
        f'mysql+pymysql://cloud:{PASSWORD}@{ADDRESS}:{PORTS["mariadb"]}/'
        f'{name}?charset=utf8'
    )
