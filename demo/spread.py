# SPDX-License-Identifier: Apache-2.0

"""Servers of a group or stack, all asked for at once, in Nova.

Sixteen scheduler processes share the requests, each with a memory of its own,
such as those of two nova-schedulers with eight workers each. Time is
simulated: nobody sees the host of a server before its nova-compute has claimed
it, a second or two after the choice.
"""

import pathlib

from demo import story
from testing.nova import engine, simulation, spread_case

#: How many scheduler processes share the requests.
PROCESSES = 16
SERVERS = 9
SEED = 17
#: The multiplier of the weighers; 0 switches them off.
SIDES = {'Nova alone': 0.0, 'with the weigher': 10.0}
SWITCHES = """\
[filter_scheduler]
weight_classes = nova.scheduler.weights.all_weighers,nova_filters.all_weighers

[nova_filters]
server_group_weight_multiplier = 10.0
stack_affinity_weight_multiplier = -10.0
"""


def run(log: pathlib.Path) -> str:
    """Return three pictures."""
    cloud = engine.Cloud(log)
    return '\n\n'.join(
        [
            f'Nova {engine.nova_version()}: {SERVERS} servers, asked for at '
            f'once, with {PROCESSES} scheduler processes.\n\n'
            f'The weighers are on with this nova.conf:\n\n{SWITCHES}',
            f'A {spread_case.SOFT} group on three hosts:',
            story.draw(_spread(cloud, spread_case.SOFT)),
            f'An {spread_case.STRICT} group on nine hosts:',
            story.draw(_keep_apart(cloud)),
            'A Heat stack on three hosts:',
            story.draw(_spread(cloud, '')),
        ]
    )


def _simulate(
    cloud: engine.Cloud, policy: str, hosts: int, multiplier: float
) -> tuple[list[int], int]:
    """Boot the servers.

    :param policy: the policy of their group; empty for a stack.
    :returns: the servers on each host, and how many ended in ERROR.
    """
    case = spread_case.Case(
        servers=SERVERS,
        hosts=hosts,
        group=policy,
        multiplier=multiplier,
        # As in every nova.conf that does not say otherwise.
        filters=('ServerGroupAntiAffinityFilter',),
    )
    simulated = simulation.Simulation(cloud, case, PROCESSES, SEED)
    servers = simulated.run()
    return [*servers.values()], len(simulated.errors)


def _spread(cloud: engine.Cloud, policy: str) -> dict[str, dict[str, int]]:
    """Return the servers on each of three hosts, by side."""
    bars = {}
    for side, multiplier in SIDES.items():
        servers, _ = _simulate(cloud, policy, 3, multiplier)
        bars[side] = {
            f'host {number}': count for number, count in enumerate(servers, 1)
        }
    return bars


def _keep_apart(cloud: engine.Cloud) -> dict[str, dict[str, int]]:
    """Return how many servers of a strict group run, and how many failed."""
    bars = {}
    for side, multiplier in SIDES.items():
        servers, errors = _simulate(
            cloud, spread_case.STRICT, SERVERS, multiplier
        )
        bars[side] = {'running': sum(servers), 'in ERROR': errors}
    return bars
