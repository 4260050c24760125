# SPDX-License-Identifier: Apache-2.0

"""Where everything of the cloud is: folders, ports, databases, regions.

Everything listens on the loopback address and lives below ``.cloud/`` of the
checkout, so that it disturbs nothing else on the machine.
"""

import dataclasses
import pathlib
import socket
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / '.cloud'
ETC = FOLDER / 'etc'
LOG = FOLDER / 'log'
RUN = FOLDER / 'run'
DATA = FOLDER / 'data'

#: The environment that the services run from: that of the interpreter.
ENVIRONMENT = pathlib.Path(sys.prefix)
PROGRAMS = ENVIRONMENT / 'bin'

#: The one that some regions have their Nova and Placement from instead.
NEWEST = ENVIRONMENT.parent / 'functional-2026.2'

ADDRESS = '127.0.0.1'

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
    :param port: the first of its ports.
    :param hosts: its compute hosts.
    :param nova_environment: the environment that its Nova and Placement run
        from.
    """

    name: str
    port: int
    hosts: tuple[str, ...]
    nova_environment: pathlib.Path = ENVIRONMENT

    def ports(self) -> dict[str, int]:
        """Return the port of each of its APIs."""
        names = ('placement', 'nova', 'glance', 'neutron')
        return {name: self.port + at for at, name in enumerate(names)}

    def environment(self, service: str) -> pathlib.Path:
        """Return the environment that one of its services runs from.

        :param service: its name, for example ``nova``.
        """
        if service in ('nova', 'placement'):
            return self.nova_environment
        return ENVIRONMENT

    def url(self, service: str) -> str:
        """Return the address of one of its APIs, without a path."""
        return f'http://{ADDRESS}:{self.ports()[service]}'


REGIONS = (
    Region('RegionOne', 21110, ('one-1', 'one-2', 'one-3')),
    Region('RegionTwo', 21120, ('two-1', 'two-2'), NEWEST),
)

#: What there is once, for all regions.
PORTS = {
    'mariadb': 21000,
    'rabbitmq': 21001,
    'epmd': 21002,
    'erlang': 21003,
    'keystone': 21100,
    'heat': 21101,
    'senlin': 21102,
}


def url(service: str) -> str:
    """Return the address of an API that there is once, without a path."""
    return f'http://{ADDRESS}:{PORTS[service]}'


def all_ports() -> dict[str, int]:
    """Return every port of the cloud by who listens on it."""
    ports = dict(PORTS)
    for region in REGIONS:
        for name, port in region.ports().items():
            ports[f'{region.name}.{name}'] = port
    return ports


def taken_ports() -> list[str]:
    """Return who would find its port taken by another program."""
    taken = []
    for name, port in all_ports().items():
        with socket.socket() as probe:
            # As the servers do: one that is closing down is no obstacle.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((ADDRESS, port))
            except OSError as exc:
                taken.append(f'{name} ({port}): {exc.strerror}')
    return taken


def database(name: str) -> str:
    """Return the URL under which a service finds its database."""
    return (
        f'mysql+pymysql://cloud:{PASSWORD}@{ADDRESS}:{PORTS["mariadb"]}/'
        f'{name}?charset=utf8'
    )


def transport(vhost: str) -> str:
    """Return the URL under which a service finds its message bus."""
    return f'rabbit://cloud:{PASSWORD}@{ADDRESS}:{PORTS["rabbitmq"]}/{vhost}'
