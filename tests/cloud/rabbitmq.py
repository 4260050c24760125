# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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

#: RabbitMQ would start a port mapper that outlives it.
EPMD = processes.Service(
    'epmd',
    (
        '/usr/bin/epmd',
        '-address',
        layout.ADDRESS,
        '-port',
        str(layout.PORTS['epmd']),
    ),
)

#: The server itself: the program of the same name in /usr/sbin insists on
#: the system's user and on its folders.
SERVICE = processes.Service(
    'rabbitmq',
    ('/usr/lib/rabbitmq/bin/rabbitmq-server',),
    {
        'RABBITMQ_NODENAME': 'cloud@localhost',
        'RABBITMQ_CONFIG_FILE': str(CONFIG),
        'RABBITMQ_MNESIA_BASE': str(FOLDER),
        'RABBITMQ_LOGS': '-',
        'RABBITMQ_ENABLED_PLUGINS_FILE': str(layout.ETC / 'rabbitmq-plugins'),
        'RABBITMQ_CONF_ENV_FILE': str(layout.ETC / 'rabbitmq-env.conf'),
        'RABBITMQ_DIST_PORT': str(layout.PORTS['erlang']),
        # Erlang's schedulers would spin while they have nothing to do, and
        # others need the processors.
        'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS': (
            '-kernel inet_dist_use_interface {127,0,0,1} '
            '+sbwt none +sbwtdcpu none +sbwtdio none'
        ),
        'ERL_EPMD_ADDRESS': layout.ADDRESS,
        'ERL_EPMD_PORT': str(layout.PORTS['epmd']),
    },
)


def configure() -> None:
    """Write the configuration, and who may do what."""
    FOLDER.mkdir()
    CONFIG.write_text(
        f'listeners.tcp.1 = {layout.ADDRESS}:{layout.PORTS["rabbitmq"]}\n'
        f'load_definitions = {DEFINITIONS}\n'
        'loopback_users = none\n'
        # The machine's disk is not the cloud's business.
        'disk_free_limit.absolute = 50MB\n'
    )
    (layout.ETC / 'rabbitmq-plugins').write_text('[].\n')
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


def epmd_ready() -> None:
    """Raise unless the port mapper listens."""
    with socket.create_connection((layout.ADDRESS, layout.PORTS['epmd']), 5):
        pass


def ready() -> None:
    """Raise unless RabbitMQ lets the services in.

    :raises OSError: when it does not.
    """
    url = kombu.Connection(
        layout.transport(SHARED).replace('rabbit:', 'amqp:')
    )
    with url as connection:
        connection.ensure_connection(max_retries=1, timeout=5)
