# SPDX-License-Identifier: Apache-2.0

"""The demo's first part: servers of a group or stack, all asked for at once.

Sixteen scheduler processes share the requests, each with a memory of its own,
such as those of two nova-schedulers with eight workers each. Time is
simulated: nobody sees the host of a server before its nova-compute has claimed
it, a second or two after the choice.
"""

import pathlib

from demo import part
from testing.nova import engine, simulation, spread_case

#: How many scheduler processes share the requests.
PROCESSES = 16
#: The same with fewer of them.
FEWER = (1, 3)
SERVERS = 9
SEED = 17
MULTIPLIER = 10.0
ALONE, OURS = 'Nova alone', 'with the weigher'

#: Group policy -> how many hosts there are; a stack has no policy.
HOSTS = {spread_case.SOFT: 3, spread_case.STRICT: SERVERS, '': 3}
#: How many hosts each rack has, where there are racks.
RACKS = (2, 2, 2)


def run(log: pathlib.Path) -> list[part.Part]:
    """Run the part."""
    story = part.Part(
        'spread',
        f'Nova {engine.nova_version()}: groups and stacks',
        f'{SERVERS} servers, asked for at once, with {PROCESSES} scheduler '
        'processes; time is simulated',
        (ALONE, OURS),
    )
    cloud = engine.Cloud(log)
    _even(
        story,
        cloud,
        f'a {spread_case.SOFT} group',
        spread_case.SOFT,
        'Host 1 has more free memory than the others. Every scheduler sees '
        'the empty hosts of a moment ago, and Nova alone sends most servers '
        'to the host that looks best. The weigher gives each member its '
        'turn: it orders the members by the rows that nova-api has written, '
        'so no scheduler needs to know what the others do.',
    )
    _strict(story, cloud)
    _even(
        story,
        cloud,
        'a Heat stack',
        '',
        'Nova alone does not know that the servers belong together. Heat '
        'tells the weigher, without a change to the template.',
    )
    _racks(story, cloud)
    _fewer(story, cloud)
    return [story]


def _simulate(
    cloud: engine.Cloud,
    policy: str,
    multiplier: float,
    processes: int = PROCESSES,
    racks: tuple[int, ...] = (),
) -> tuple[list[int], int]:
    """Boot the servers.

    :param multiplier: that of the weighers; with 0, only Nova's own weighers
        and filters have a say.
    :param processes: how many scheduler processes there are.
    :param racks: how many hosts each rack has; empty without racks.
    :returns: the servers on each host, and how many ended in ERROR.
    """
    case = spread_case.Case(
        servers=SERVERS,
        hosts=sum(racks) or HOSTS[policy],
        group=policy,
        racks=racks,
        multiplier=multiplier,
        # As in every nova.conf that does not say otherwise.
        filters=('ServerGroupAntiAffinityFilter',),
    )
    simulated = simulation.Simulation(cloud, case, processes, SEED)
    servers = simulated.run()
    return [*servers.values()], len(simulated.errors)


def _even(
    story: part.Part, cloud: engine.Cloud, team: str, policy: str, note: str
) -> None:
    """Spread servers as well as can be: every server gets a host.

    :param team: what the servers belong to.
    :param policy: the policy of their group; empty for a stack.
    """
    hosts = [f'host {number + 1}' for number in range(HOSTS[policy])]
    step = story.step(
        f'{SERVERS} servers of {team} on {len(hosts)} hosts',
        ('servers on', *hosts),
        note,
    )
    for name, multiplier in ((ALONE, 0.0), (OURS, MULTIPLIER)):
        servers, errors = _simulate(cloud, policy, multiplier)
        step.row(name, *servers)
        step.bars[name] = dict(zip(hosts, servers, strict=True))
        step.check(f'{name}: no server ends in ERROR', 0, errors)
    nova_alone, ours = step.bars.values()
    spread = max(nova_alone.values()) - min(nova_alone.values())
    step.check('Nova alone leaves the hosts uneven', True, spread > 1)
    even = dict.fromkeys(hosts, SERVERS // len(hosts))
    step.check('with the weigher, each host gets as many', even, ours)
    story.compare(
        f'{team}, {len(hosts)} hosts: servers on each',
        *(', '.join(map(str, bars.values())) for bars in step.bars.values()),
    )


def _strict(story: part.Part, cloud: engine.Cloud) -> None:
    """Keep a group apart: two servers on a host are not allowed."""
    policy = spread_case.STRICT
    step = story.step(
        f'{SERVERS} servers of an {policy} group on {HOSTS[policy]} hosts',
        ('servers', 'running', 'in ERROR'),
        'nova-compute refuses the second member on its host, and after three '
        'attempts a server ends in ERROR although hosts are free. With the '
        'weigher, each member is sent to a host of its own.',
    )
    for name, multiplier in ((ALONE, 0.0), (OURS, MULTIPLIER)):
        servers, errors = _simulate(cloud, policy, multiplier)
        step.row(name, sum(servers), errors)
        step.bars[name] = {'running': sum(servers), 'in ERROR': errors}
        step.check(f'{name}: no two servers are on one host', 1, max(servers))
    nova_alone, ours = step.bars.values()
    step.check('Nova alone loses servers', True, nova_alone['in ERROR'] > 0)
    step.check(
        'with the weigher, all servers run',
        {'running': SERVERS, 'in ERROR': 0},
        ours,
    )
    story.compare(
        f'{policy}, {HOSTS[policy]} hosts: servers in ERROR',
        *(bars['in ERROR'] for bars in step.bars.values()),
    )


def _racks(story: part.Part, cloud: engine.Cloud) -> None:
    """Spread a group over racks, and over the hosts of each rack."""
    policy = spread_case.SOFT
    hosts = []
    for rack, size in enumerate(RACKS, 1):
        hosts += [f'rack {rack}, host {host + 1}' for host in range(size)]
    step = story.step(
        f'{SERVERS} servers of a {policy} group on {len(RACKS)} racks of '
        f'{RACKS[0]} hosts',
        ('servers on', *hosts),
        'Each rack is an aggregate with the metadata key rack, and nova.conf '
        'has [nova_filters] stack_spread_over = rack,host.',
    )
    for name, multiplier in ((ALONE, 0.0), (OURS, MULTIPLIER)):
        servers, errors = _simulate(cloud, policy, multiplier, racks=RACKS)
        step.row(name, *servers)
        step.bars[name] = dict(zip(hosts, servers, strict=True))
        step.check(f'{name}: no server ends in ERROR', 0, errors)
    ours = [*step.bars[OURS].values()]
    in_racks = []
    for size in RACKS:
        in_racks.append(sum(ours[:size]))
        ours = ours[size:]
    even = [SERVERS // len(RACKS)] * len(RACKS)
    step.check('with the weigher, each rack gets as many', even, in_racks)
    most = max(step.bars[OURS].values())
    fewest = min(step.bars[OURS].values())
    step.check('the hosts of a rack differ by one', 1, most - fewest)


def _fewer(story: part.Part, cloud: engine.Cloud) -> None:
    """Ask fewer scheduler processes for the same servers."""
    step = story.step(
        'The same with fewer scheduler processes',
        ('processes', 'group', ALONE, OURS),
        'One process knows its own choices. The more processes there are, the '
        'less each of them knows.',
    )
    for processes in FEWER:
        row = []
        for policy in (spread_case.SOFT, spread_case.STRICT):
            for multiplier in (0.0, MULTIPLIER):
                row.append(_simulate(cloud, policy, multiplier, processes))
        (soft_alone, _), (soft_ours, _), (_, alone), (_, ours) = row
        step.row(
            processes,
            'soft: servers on each host',
            ', '.join(map(str, soft_alone)),
            ', '.join(map(str, soft_ours)),
        )
        step.row(processes, 'strict: servers in ERROR', alone, ours)
        step.check(
            f'{processes}: with the weigher, even and without errors',
            ([3, 3, 3], 0),
            (soft_ours, ours),
        )
