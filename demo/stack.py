# SPDX-License-Identifier: Apache-2.0

"""One stack on its way through Heat and Nova.

The real nova-scheduler schedules the requests that the real heat-engine has
sent, one by one. Nothing is added to them but what Nova's API knows of a
request: the project, a flavor and an image.
"""

import pathlib

from demo import story
from testing.heat import loopback, stack_hints
from testing.nova import engine

#: Host -> GiB of memory. Nova by itself prefers the host that has most left.
HOSTS = {'big': 1024, 'small-1': 256, 'small-2': 256}
MULTIPLIER = -10.0


def run(log: pathlib.Path, key: str, sent: list[loopback.Request]) -> str:
    """Return the table: where each server goes without and with the weigher.

    :param key: the key that Heat has signed the hints with.
    :param sent: the requests.
    """
    cloud = engine.Cloud(log)
    for host, memory in HOSTS.items():
        cloud.add_host(host, memory)
    conf = engine.CONF
    option = 'stack_affinity_weight_multiplier'
    alone = cloud.scheduler()
    conf.set_override(option, MULTIPLIER, 'nova_filters')
    conf.set_override('signing_key', [key], 'heat_hints')
    ours = cloud.scheduler()
    flavor = cloud.add_flavor('small', {})
    rows = []
    for server in sent:
        hints = server.hints or {}
        # Without the weigher, Nova only says where the server would go.
        request = cloud.request(flavor, None, hints, server.project)
        host_alone = cloud.boot(alone, request).host
        cloud.forget(request)
        request = cloud.request(flavor, None, hints, server.project)
        host = cloud.boot(ours, request).host
        cloud.place(request, host)
        rows.append((stack_hints.path_of(hints), host_alone, host))
    return (
        f'Nova {engine.nova_version()}: the hosts of these servers. Host big '
        'has most memory.\n\n'
        'The weigher is on with this nova.conf:\n\n'
        '[filter_scheduler]\nweight_classes = nova.scheduler.weights.'
        'all_weighers,nova_filters.all_weighers\n\n'
        f'[nova_filters]\n{option} = {MULTIPLIER}\n\n'
        f'[heat_hints]\nsigning_key = {key}\n\n'
        + story.table(('server', 'Nova alone', 'with the weigher'), rows)
    )
