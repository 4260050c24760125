# SPDX-License-Identifier: Apache-2.0

"""The demo's last part: one stack on its way through Heat and Nova.

The requests that the real heat-engine sent in the Heat part are scheduled
one by one by the real nova-scheduler. Nothing is added to them but what
Nova's API knows of a request: the project, a flavor and an image.
"""

import pathlib
from typing import Any

from nova import objects

from demo import part
from testing.heat import loopback, stack_hints
from testing.nova import engine

#: Host -> GiB of memory. Nova by itself prefers the host that has most left.
HOSTS = {'big': 1024, 'small-1': 256, 'small-2': 256}
#: More than all of Nova's own weighers together have to say.
MULTIPLIER = -10.0

Sent = list[loopback.Request]


def run(log: pathlib.Path, heat: str, key: str, sent: Sent) -> part.Part:
    """Run the part on what Heat has sent, signed with a key."""
    name = f'{heat} and Nova {engine.nova_version()}: one stack'
    unit = f'servers on the hosts {", ".join(HOSTS)}'
    story = part.Part(
        'stack', name, unit, ('as Nova does it', 'with the plug-ins')
    )
    cloud = engine.Cloud(log)
    for host, memory in HOSTS.items():
        cloud.add_host(host, memory)
    _spread(story, cloud, key, sent)
    _forged(story, cloud, key, sent)
    return story


def _scheduler(cloud: engine.Cloud, *keys: str) -> Any:
    """Start a nova-scheduler with these keys."""
    engine.CONF.set_override('signing_key', list(keys), 'heat_hints')
    return cloud.scheduler()


def _nova_alone(cloud: engine.Cloud) -> Any:
    """Start a nova-scheduler that has Nova's own weighers only."""
    engine.CONF.set_override(
        'weight_classes',
        ['nova.scheduler.weights.all_weighers'],
        group='filter_scheduler',
    )
    try:
        return cloud.scheduler()
    finally:
        engine.CONF.clear_override('weight_classes', group='filter_scheduler')


def _spread(
    story: part.Part, cloud: engine.Cloud, key: str, sent: Sent
) -> None:
    """Boot what Heat has sent, with the weigher and without it."""
    count = len(sent)
    step = story.step(
        f'The {count} servers of the stack, as nova-scheduler places them',
        ('resource', 'path', 'signature', 'Nova alone', 'spread'),
        'nova.conf: [nova_filters] stack_affinity_weight_multiplier = '
        f'{MULTIPLIER:g}, and [heat_hints] signing_key, the same line as '
        f'in heat.conf. Host big has {HOSTS["big"]} GiB of memory, the '
        f'others {HOSTS["small-1"]} GiB.',
    )
    alone = _nova_alone(cloud)
    option = 'stack_affinity_weight_multiplier'
    engine.CONF.set_override(option, MULTIPLIER, 'nova_filters')
    ours = _scheduler(cloud, key)
    flavor = cloud.add_flavor('small', {})
    changed = []
    hosts_alone = []
    hosts_ours = []
    for server in sent:
        hints = server.hints or {}
        request = cloud.request(flavor, None, hints, server.project)
        stored = objects.RequestSpec.get_by_instance_uuid(
            cloud.context, request.instance_uuid
        )
        # Nova stores each value as a list.
        lists = {}
        for name, value in hints.items():
            lists[name] = value if isinstance(value, list) else [value]
        if stored.scheduler_hints != lists:
            changed.append(server.name)
        # Nova alone only says where the server would go.
        same_request = cloud.request(flavor, None, hints, server.project)
        hosts_alone.append(cloud.boot(alone, same_request).host)
        cloud.forget(same_request)
        host = str(cloud.boot(ours, request).host)
        hosts_ours.append(host)
        cloud.place(request, host)
        step.row(
            hints['heat_resource_name'],
            stack_hints.path_of(hints),
            f'...{hints[stack_hints.SIGNATURE][-12:]}',
            hosts_alone[-1],
            host,
        )
    step.check('the stack has six servers', 6, count)
    step.check("Nova's database holds each hint as Heat sent it", [], changed)
    servers_alone = {host: hosts_alone.count(host) for host in HOSTS}
    servers_ours = {host: hosts_ours.count(host) for host in HOSTS}
    step.bars = {
        'Nova alone': servers_alone,
        'with the plug-ins': servers_ours,
    }
    story.compare(
        f'{count} servers that Heat asks for',
        ', '.join(map(str, servers_alone.values())),
        ', '.join(map(str, servers_ours.values())),
    )
    step.check(
        'Nova alone puts them where most memory is',
        dict.fromkeys(HOSTS, 0) | {'big': count},
        servers_alone,
    )
    step.check(
        'with StackAffinityWeigher each host gets as many: nested stack, '
        'group and autoscaling group are one stack',
        dict.fromkeys(HOSTS, count // len(HOSTS)),
        servers_ours,
    )


def _forged(
    story: part.Part, cloud: engine.Cloud, key: str, sent: Sent
) -> None:
    """Run servers whose hints are made up, and boot another member."""
    genuine = sent[0].hints or {}
    project = sent[0].project
    made_up = (
        ({'heat_root_stack_id': genuine['heat_root_stack_id']}, project),
        ({**genuine, stack_hints.SIGNATURE: '0' * 64}, project),
        # Heat's own hints and signature, but another's project.
        (genuine, 'mallory'),
    )
    flavor = cloud.add_flavor('other', {})
    for forged, owner in made_up:
        cloud.place(cloud.request(flavor, None, forged, owner), 'big')
    step = story.step(
        f'{len(made_up)} servers with forged hints run on host big; who '
        'counts as a member?',
        ('signing_key', 'request of', *HOSTS, 'next server'),
        "Another user of the project has sent the root stack's id straight "
        'to Nova: alone, and with a made-up signature. A tenant, mallory, '
        'has sent all the hints and the signature of a server of the stack, '
        'which never count in another project. The columns of hosts show how '
        'many members of the stack the weigher counts there.',
    )
    # Host -> servers that count as members of the stack.
    heat_alone = dict.fromkeys(HOSTS, len(sent) // len(HOSTS))
    with_forged = {**heat_alone, 'big': heat_alone['big'] + 2}
    no_members = dict.fromkeys(HOSTS, 0)
    hosts_with_key: set[str | None] = set()
    for label, keys, sender, expected_members in (
        ('(none)', (), 'Heat', with_forged),
        ('key', (key,), 'Heat', heat_alone),
        ('key', (key,), 'mallory', no_members),
    ):
        scheduler = _scheduler(cloud, *keys)
        owner = project if sender == 'Heat' else sender
        request = cloud.request(flavor, None, genuine, owner)
        members = cloud.members(scheduler, request)
        host = cloud.boot(scheduler, request).host
        cloud.forget(request)
        step.row(label, sender, *members.values(), host)
        step.check(
            f'signing_key = {label}, a request of {sender}: members on each '
            'host',
            expected_members,
            members,
        )
        if expected_members is with_forged:
            what = 'without a key, forged hints keep servers off a host'
            step.check(what, True, host != 'big')
        if expected_members is heat_alone:
            hosts_with_key.add(host)
    what = 'with a key, forged hints do not change where the next one goes'
    step.check(what, 1, len(hosts_with_key))
