# SPDX-License-Identifier: Apache-2.0

"""A RabbitMQ of the cloud's own, with a port mapper of its own."""

import json
import socket

import kombu

from tests.cloud import layout, processes

FOLDER = layout.DATA / 'rabbitmq'
CONFIG = layout.ETC / 'rabbitmq.conf'
DEFINITIONS = layout.ETC / 'rabbitmq-definitions.json'

#: The bus of the services that there is once.
SHARED = 'shared'
VHOSTS = (SHARED, *(region.name for region in layout.REGIONS))


def port_mapper() -> processes.Service:
    """Return the port mapper; RabbitMQ would start one that outlives it."""
    port = str(layout.port('epmd'))
    return processes.Service(
        'epmd', ('/usr/bin/epmd', '-address', layout.ADDRESS, '-port', port)
    )


def client() -> dict[str, str]:
    """Return where a client of the server's own protocol finds it."""
    return {
        'RABBITMQ_NODENAME': 'cloud@localhost',
        'RABBITMQ_CONF_ENV_FILE': str(layout.ETC / 'rabbitmq-env.conf'),
        'ERL_EPMD_ADDRESS': layout.ADDRESS,
        'ERL_EPMD_PORT': str(layout.port('epmd')),
    }


def service() -> processes.Service:
    """Return the server itself.

    The program of the same name in /usr/sbin insists on the system's user and
    on its folders.
    """
    return processes.Service(
        'rabbitmq',
        ('/usr/lib/rabbitmq/bin/rabbitmq-server',),
        environment={
            **client(),
            'RABBITMQ_CONFIG_FILE': str(CONFIG),
            'RABBITMQ_MNESIA_BASE': str(FOLDER),
            'RABBITMQ_LOGS': '-',
            'RABBITMQ_ENABLED_PLUGINS_FILE': str(layout.ETC / 'plugins'),
            'RABBITMQ_DIST_PORT': str(layout.port('erlang')),
            # Erlang's schedulers would spin while they have nothing to do,
            # and others need the processors.
            'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS': (
                '-kernel inet_dist_use_interface {127,0,0,1} '
                '+sbwt none +sbwtdcpu none +sbwtdio none'
            ),
        },
    )


def configure() -> None:
    """Write the configuration, and who may do what."""
    FOLDER.mkdir()
    CONFIG.write_text(
        f'listeners.tcp.1 = {layout.ADDRESS}:{layout.port("rabbitmq")}\n'
        f'load_definitions = {DEFINITIONS}\n'
        'loopback_users = none\n'
        # The machine's disk is not the cloud's business.
        'disk_free_limit.absolute = 50MB\n'
    )
    (layout.ETC / 'plugins').write_text('[].\n')
    (layout.ETC / 'rabbitmq-env.conf').write_text('')
    everything = {'configure': '.*', 'write': '.*', 'read': '.*'}
    user = {'name': 'cloud', 'password': layout.PASSWORD, 'tags': ''}
    definitions = {
        'users': [user],
        'vhosts': [{'name': vhost} for vhost in VHOSTS],
        'permissions': [
            {'user': 'cloud', 'vhost': vhost, **everything} for vhost in VHOSTS
        ],
    }
    DEFINITIONS.write_text(json.dumps(definitions))


def check_port_mapper() -> None:
    """Raise unless the port mapper listens."""
    with socket.create_connection((layout.ADDRESS, layout.port('epmd')), 5):
        pass


def check() -> None:
    """Raise unless RabbitMQ lets the services in."""
    url = layout.transport(SHARED).replace('rabbit:', 'amqp:')
    with kombu.Connection(url) as connection:
        connection.ensure_connection(max_retries=1, timeout=5)
