# SPDX-License-Identifier: Apache-2.0

"""The demo's last part: one stack on its way through Heat and Nova.

The requests that the real heat-engine sent in the Heat part are scheduled
one by one by the real nova-scheduler. Nothing is added to them but what
Nova's API knows of a request: the project, a flavor and an image.
"""

import collections
import importlib.metadata
import pathlib
from typing import Any

from nova import objects

from demo import heat, part
from testing.heat import stack_hints
from testing.nova import asking, engine

#: Host -> GiB of memory. Nova by itself prefers the host that has most left.
HOSTS = {'big': 1024, 'small-1': 256, 'small-2': 256}
#: More than all of Nova's own weighers together have to say.
MULTIPLIER = -10.0
OTHER_KEY = 'another key, from which nothing is signed'


def run(
    progress: part.Progress, log: pathlib.Path, given: list[Any]
) -> part.Part:
    """Schedule what Heat has sent.

    :param given: project and body of each request.
    """
    progress(f"nova-scheduler gets Heat's {len(given)} requests, one by one")
    story = Story(log, given)
    heat_version = importlib.metadata.version('openstack-heat')
    return part.Part(
        f'Heat {heat_version} and Nova {engine.nova_version()}: one stack',
        [story.spread(), story.forged()],
    )


class Story:
    """A cloud with a few hosts, and Heat's requests for servers on it."""

    def __init__(self, log: pathlib.Path, sent: list[Any]) -> None:
        self.cloud = engine.Cloud(log)
        for name, memory in HOSTS.items():
            self.cloud.add_host(name, memory)
        self.flavor = self.cloud.add_flavor('small', {})
        self.sent = sent
        # This one does not know the weigher; it loads the plug-ins' options.
        name, group = 'weight_classes', 'filter_scheduler'
        stock = ['nova.scheduler.weights.all_weighers']
        engine.CONF.set_override(name, stock, group=group)
        self.stock = self.cloud.scheduler()
        engine.CONF.clear_override(name, group=group)
        engine.CONF.set_override(
            'stack_affinity_weight_multiplier',
            MULTIPLIER,
            group='nova_filters',
        )

    def scheduler(self, *keys: str) -> Any:
        """Start a nova-scheduler with these keys."""
        engine.CONF.set_override('signing_key', list(keys), group='heat_hints')
        return self.cloud.scheduler()

    def request(self, project: str, hints: dict[str, Any]) -> Any:
        """Return Nova's RequestSpec of a server, which is stored as well."""
        return self.cloud.request(self.flavor, None, hints, project)

    def boot(self, scheduler: Any, request: Any) -> str:
        """Return the host that a scheduler chooses."""
        return str(self.cloud.boot(scheduler, request).host)

    def spread(self) -> part.Step:
        """Boot what Heat has sent, with the weigher and without it."""
        count = len(self.sent)
        step = part.Step(
            f'The {count} servers of the stack, as nova-scheduler places them',
            ('resource', 'path', 'signature', 'Nova alone', 'spread'),
            'nova.conf: [nova_filters] stack_affinity_weight_multiplier = '
            f'{MULTIPLIER:g}, and [heat_hints] signing_key, the same line as '
            f'in heat.conf. Host big has {HOSTS["big"]} GiB of memory, the '
            f'others {HOSTS["small-1"]} GiB.',
        )
        scheduler = self.scheduler(heat.SIGNING_KEY)
        changed = []
        alone: collections.Counter[str] = collections.Counter()
        spread: collections.Counter[str] = collections.Counter()
        for project, body in self.sent:
            hints = body['os:scheduler_hints']
            request = self.request(project, hints)
            stored = objects.RequestSpec.get_by_instance_uuid(
                self.cloud.context, request.instance_uuid
            )
            if dict(stored.scheduler_hints) != {
                name: value if isinstance(value, list) else [value]
                for name, value in hints.items()
            }:
                changed.append(body['server']['name'])
            by_itself = self.boot(self.stock, self.request(project, hints))
            host = self.boot(scheduler, request)
            self.cloud.place(request, host)
            alone[by_itself] += 1
            spread[host] += 1
            name, path = hints['heat_resource_name'], heat.path_of(hints)
            signature = f'{hints[stack_hints.SIGNATURE][:12]}...'
            step.row(name, path, signature, by_itself, host)
        step.check('the stack has six servers', 6, count)
        step.check(
            "Nova's database holds each hint as Heat sent it", [], changed
        )
        what = 'Nova alone puts them where most memory is'
        step.check(what, {'big': count}, dict(alone))
        what = (
            'with StackAffinityWeigher each host gets as many: nested stack, '
            'group and autoscaling group are one stack'
        )
        fair = dict.fromkeys(HOSTS, count // len(HOSTS))
        step.check(what, fair, dict(spread))
        return step

    def forged(self) -> part.Step:
        """Run servers whose hints are made up, and boot another member."""
        project, body = self.sent[0]
        genuine = body['os:scheduler_hints']
        made_up = (
            {'heat_root_stack_id': genuine['heat_root_stack_id']},
            {**genuine, stack_hints.SIGNATURE: '0' * 64},
            # Heat's own hints and signature, but another's project.
            genuine,
        )
        for forged in made_up:
            self.cloud.place(self.request('mallory', forged), 'big')
        step = part.Step(
            f'{len(made_up)} servers with forged hints run on host big; who '
            'counts as a member?',
            ('signing_key', 'request of', *HOSTS, 'next server'),
            "A tenant, mallory, has sent the root stack's id straight to "
            'Nova: alone, with a made-up signature, and with all the hints '
            'and the signature of a server of the stack, which is good in '
            'its own project only. The columns of hosts show how many '
            'members of the stack the weigher counts there.',
        )
        share = len(self.sent) // len(HOSTS)
        fair = dict.fromkeys(HOSTS, share)
        fooled = {**fair, 'big': share + len(made_up)}
        nothing = dict.fromkeys(HOSTS, 0)
        key = heat.SIGNING_KEY
        for label, keys, who, wanted in (
            ('(none)', (), 'Heat', fooled),
            ('key', (key,), 'Heat', fair),
            ('new,key', (OTHER_KEY, key), 'Heat', fair),
            ('new', (OTHER_KEY,), 'Heat', nothing),
            ('key', (key,), 'mallory', nothing),
        ):
            scheduler = self.scheduler(*keys)
            owner = project if who == 'Heat' else who
            request = self.request(owner, genuine)
            found = asking.members(self.cloud, scheduler, request)
            host = self.boot(scheduler, request)
            step.row(label, who, *found.values(), host)
            what = f'signing_key = {label}, a request of {who}'
            step.check(f'{what}: members on each host', wanted, found)
            if wanted is fooled:
                what = 'without a key, forged hints keep servers off a host'
                step.check(what, True, host != 'big')
            if wanted is fair:
                what = f'signing_key = {label}: forged hints change nothing'
                step.check(what, 'big', host)
        return step
