# SPDX-License-Identifier: Apache-2.0

"""The demo's last part: one stack on its way through Heat and Nova.

The requests that the real heat-engine sent in the Heat part, read from the
bodies that its cloud recorded, are scheduled one by one by the real
nova-scheduler. Nothing is added to them but what Nova's API knows of a
request: the project, a flavor and an image.
"""

import collections
import importlib.metadata
import json
import pathlib
from collections.abc import Mapping
from typing import Any

from nova import objects
from nova.scheduler import weights

from demo import report
from demo.heat import story as heat
from testing.heat import stack_hints
from testing.nova import engine

#: The cloud: Nova by itself prefers the host that has most memory left.
HOSTS = {'big': 1024, 'small-1': 256, 'small-2': 256}

#: More than all of Nova's own weighers together have to say.
MULTIPLIER = -10.0

OTHER_KEY = 'another key, from which nothing is signed'


def run(
    progress: report.Progress,
    *,
    log: pathlib.Path,
    port: int,
    requests: pathlib.Path,
) -> report.Part:
    """Schedule what Heat has sent.

    :param progress: told what begins.
    :param log: the file for the scheduler's log.
    :param port: not used: nothing listens.
    :param requests: the file in which the Heat part left its requests.
    """
    del port
    sent = json.loads(requests.read_text())
    progress(f"nova-scheduler gets Heat's {len(sent)} requests, one by one")
    story = Story(log, sent)
    steps = (story.spread(), story.forged())
    return report.Part(
        service=(
            f'Heat {importlib.metadata.version("openstack-heat")} and Nova '
            f'{engine.nova_version()}: one stack'
        ),
        real=(
            'the bodies of POST /servers that heat-engine sent in the part '
            'above, read from a file',
            'nova.objects.RequestSpec, which stores their hints',
            'nova.scheduler.manager.SchedulerManager and all its weighers',
        ),
        stubs=(
            'nova-api between the two: the hints are taken from the body and '
            'put into a RequestSpec here, as it does',
            'what is stubbed around nova-scheduler in its own part',
        ),
        steps=steps,
    )


class Story:
    """A cloud with a few hosts, and Heat's requests for servers on it.

    :param log: the file for Nova's and Placement's logs.
    :param sent: Heat's requests, as the Heat part left them.
    """

    def __init__(
        self, log: pathlib.Path, sent: list[Mapping[str, str]]
    ) -> None:
        self.cloud = engine.Cloud(log)
        for name, memory in HOSTS.items():
            self.cloud.add_host(name, memory)
        self.flavor = self.cloud.add_flavor('small', {})
        self.sent = [
            (request['project'], json.loads(request['body']))
            for request in sent
        ]
        # The first nova-scheduler of a process loads the plug-ins, and with
        # them their options.
        self.cloud.scheduler()
        self.set_option(
            'stack_affinity_weight_multiplier', MULTIPLIER, 'nova_filters'
        )

    def set_option(self, name: str, value: Any, group: str) -> None:
        """Set an option, as a line of nova.conf would."""
        engine.CONF.set_override(name, value, group=group)

    def scheduler(self, *keys: str) -> Any:
        """Start a nova-scheduler with these keys."""
        self.set_option('signing_key', list(keys), 'heat_hints')
        return self.cloud.scheduler()

    def stock(self) -> Any:
        """Start a nova-scheduler that does not know the weigher."""
        name, group = 'weight_classes', 'filter_scheduler'
        self.set_option(name, ['nova.scheduler.weights.all_weighers'], group)
        try:
            return self.cloud.scheduler()
        finally:
            engine.CONF.clear_override(name, group=group)

    def request(self, project: str, hints: Mapping[str, Any]) -> Any:
        """Return Nova's RequestSpec of a server, which is stored as well."""
        return self.cloud.request(self.flavor, None, hints, project)

    def stored_hints(self, request: Any) -> dict[str, list[str]]:
        """Return the hints of a request as Nova's database has them."""
        stored = objects.RequestSpec.get_by_instance_uuid(
            self.cloud.context, request.instance_uuid
        )
        return dict(stored.scheduler_hints)

    def boot(self, scheduler: Any, request: Any) -> str:
        """Return the host that a scheduler chooses."""
        return str(self.cloud.boot(scheduler, request).host)

    def spread(self) -> report.Step:
        """Boot what Heat has sent, with the weigher and without it."""
        stock = self.stock()
        scheduler = self.scheduler(heat.SIGNING_KEY)
        rows, changed = [], []
        alone: collections.Counter[str] = collections.Counter()
        spread: collections.Counter[str] = collections.Counter()
        for project, body in self.sent:
            hints = body['os:scheduler_hints']
            request = self.request(project, hints)
            if self.stored_hints(request) != {
                name: value if isinstance(value, list) else [value]
                for name, value in hints.items()
            }:
                changed.append(body['server']['name'])
            by_itself = self.boot(stock, self.request(project, hints))
            host = self.boot(scheduler, request)
            self.cloud.place(request, host)
            alone[by_itself] += 1
            spread[host] += 1
            rows.append(
                (
                    hints['heat_resource_name'],
                    _path(hints),
                    f'{hints[stack_hints.SIGNATURE][:12]}...',
                    by_itself,
                    host,
                )
            )
        count = len(self.sent)
        return report.Step(
            title=f'The {count} servers of the stack, as nova-scheduler '
            'places them',
            columns=('resource', 'path', 'signature', 'Nova alone', 'spread'),
            rows=tuple(rows),
            checks=(
                report.Check('the stack has six servers', 6, count),
                report.Check(
                    "Nova's database holds each hint as Heat sent it",
                    [],
                    changed,
                ),
                report.Check(
                    'Nova alone puts them where most memory is',
                    {'big': count},
                    dict(alone),
                ),
                report.Check(
                    'with StackAffinityWeigher each host gets as many: nested '
                    'stack, group and autoscaling group are one stack',
                    dict.fromkeys(HOSTS, count // len(HOSTS)),
                    dict(spread),
                ),
            ),
            note=(
                'nova.conf: [nova_filters] stack_affinity_weight_multiplier '
                f'= {MULTIPLIER:g}, and [heat_hints] signing_key, the same '
                'line as in heat.conf. Host big has '
                f'{HOSTS["big"]} GiB of memory, the others '
                f'{HOSTS["small-1"]} GiB.'
            ),
        )

    def members(self, scheduler: Any, request: Any) -> dict[str, int]:
        """Return how many servers of its stack a request meets by host."""
        manager = scheduler.host_manager
        weigher = next(
            weigher
            for weigher in manager.weighers
            if type(weigher).__name__ == 'StackAffinityWeigher'
        )
        states = sorted(
            manager.get_host_states_by_uuids(
                self.cloud.context, None, request
            ),
            key=lambda state: state.host,
        )
        counts = weigher.weigh_objects(
            [weights.WeighedHost(state, 0.0) for state in states], request
        )
        return {
            state.host: int(count)
            for state, count in zip(states, counts, strict=True)
        }

    def forged(self) -> report.Step:
        """Run servers whose hints are made up, and boot another member."""
        project, body = self.sent[0]
        genuine = body['os:scheduler_hints']
        root = genuine['heat_root_stack_id']
        made_up = (
            {'heat_root_stack_id': root},
            {**genuine, stack_hints.SIGNATURE: '0' * 64},
            # Heat's own hints and signature, but another's project.
            genuine,
        )
        for forged in made_up:
            self.cloud.place(self.request('mallory', forged), 'big')
        share = len(self.sent) // len(HOSTS)
        fair = dict.fromkeys(sorted(HOSTS), share)
        fooled = {**fair, 'big': share + len(made_up)}
        nothing = dict.fromkeys(sorted(HOSTS), 0)
        rows, checks = [], []
        for who, owner, hints, keys, conf, wanted in (
            ('Heat', project, genuine, (), '', fooled),
            ('Heat', project, genuine, (heat.SIGNING_KEY,), 'key', fair),
            (
                'Heat',
                project,
                genuine,
                (OTHER_KEY, heat.SIGNING_KEY),
                'new,key',
                fair,
            ),
            ('Heat', project, genuine, (OTHER_KEY,), 'new', nothing),
            (
                'mallory',
                'mallory',
                genuine,
                (heat.SIGNING_KEY,),
                'key',
                nothing,
            ),
        ):
            scheduler = self.scheduler(*keys)
            request = self.request(owner, hints)
            found = self.members(scheduler, request)
            host = self.boot(scheduler, request)
            label = conf or '(none)'
            rows.append((label, who, *found.values(), host))
            checks.append(
                report.Check(
                    f'signing_key = {label}, a request of {who}: the members '
                    'of its stack on each host',
                    wanted,
                    found,
                )
            )
            if wanted is fooled:
                checks.append(
                    report.Check(
                        'without a key, forged hints keep the next server '
                        'off a host',
                        True,
                        host != 'big',
                    )
                )
            if wanted is fair:
                checks.append(
                    report.Check(
                        f'signing_key = {label}: the next server goes where '
                        'it would have gone without the forged hints',
                        'big',
                        host,
                    )
                )
        return report.Step(
            title=f'{len(made_up)} servers with forged hints run on host '
            'big; who counts as a member?',
            columns=('signing_key', 'request of', *fair, 'next server'),
            rows=tuple(rows),
            checks=tuple(checks),
            note=(
                "A tenant, mallory, has sent the root stack's id straight to "
                'Nova: alone, with a made-up signature, and with all the '
                'hints and the signature of a server of the stack, which is '
                'good in its own project only. The columns of hosts show how '
                'many members of the stack the weigher counts there.'
            ),
        )


def _path(hints: Mapping[str, Any]) -> str:
    """Return the resources on the way from the root stack down."""
    path = hints['heat_path_in_stack']
    steps = path if isinstance(path, list) else [path]
    return ' > '.join(step.partition(',')[0] for step in steps)
