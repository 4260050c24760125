# SPDX-License-Identifier: Apache-2.0

"""The Senlin part of the demo: the life of two clusters in three regions.

One cluster uses this package's policies and profile, the other one, beside
it, what comes with Senlin. After each step the demo looks where the servers
really are. What is wanted is computed here, by trying every plan; neither
the planner nor anything that Senlin answered goes into it.
"""

import dataclasses
import fractions
import itertools
import pathlib
from typing import Any

import senlin.version

from demo import report
from testing.senlin import engine

OURS = 'senlin_plugins.policy.region_placement'
IN_TREE = 'senlin.policy.region_placement'
DELETION = 'senlin_plugins.policy.deletion'
OUR_PROFILE = 'senlin_plugins.nova.server'
IN_TREE_PROFILE = 'os.nova.server'

SPEC: tuple[dict[str, Any], ...] = (
    {'name': 'RegionOne', 'weight': 100, 'cap': -1},
    {'name': 'RegionTwo', 'weight': 250, 'cap': 4},
    {'name': 'RegionThree', 'weight': 150, 'cap': -1},
)

REAL = (
    'senlin.api.openstack.v1.router:API, behind its paste pipeline',
    'senlin.conductor.service:ConductorService',
    'senlin.engine.service:EngineService, with its actions and database',
    'senlin_plugins.policies.region_placement:RegionPlacementPolicy',
    'senlin_plugins.policies.deletion:DeletionPolicy',
    'senlin_plugins.profiles.server:ServerProfile',
    'senlin.policies.region_placement:RegionPlacementPolicy (beside it)',
    'senlin.profiles.os.nova.server:ServerProfile (beside it)',
)
STUBS = (
    'the cloud: a Senlin driver that keeps the servers of three regions in '
    'memory (demo/senlin/cloud.py)',
    "the API's token check: identity comes from the X-User-Id headers",
)


def best(now: dict[str, int], change: int) -> dict[str, int]:
    """Find the best distribution by trying all of them.

    The best one is closest to the weights: the sum of nodes squared over
    weight is the smallest. No region grows past its cap; none loses nodes
    while the cluster grows, or gains some while it shrinks.

    :param now: region name -> nodes before the step.
    :param change: how many nodes come, or go when negative.
    :returns: region name -> nodes after the step.
    :raises: ``RuntimeError`` when two plans are equally good: the story would
        then depend on a tie-break.
    """
    total = sum(now.values()) + change
    scores: dict[tuple[int, ...], fractions.Fraction] = {}
    for plan in itertools.product(range(total + 1), repeat=len(SPEC)):
        if sum(plan) != total:
            continue
        for nodes, region in zip(plan, SPEC, strict=True):
            before = now[region['name']]
            if change > 0 and nodes < before or change < 0 and nodes > before:
                break
            if before < nodes and 0 <= region['cap'] < nodes:
                break
        else:
            scores[plan] = sum(
                (
                    fractions.Fraction(nodes**2, region['weight'])
                    for nodes, region in zip(plan, SPEC, strict=True)
                ),
                fractions.Fraction(),
            )
    winners = [
        p for p, score in scores.items() if score == min(scores.values())
    ]
    if len(winners) != 1:
        raise RuntimeError(f'the story has no unique plan: {winners}')
    return {r['name']: n for r, n in zip(SPEC, winners[0], strict=True)}


@dataclasses.dataclass
class Life:
    """One cluster and what is attached to it."""

    senlin: engine.Engine
    profile_id: str
    cluster_id: str

    @classmethod
    def begin(cls, senlin: engine.Engine, profile: str, policy: str) -> 'Life':
        """Create profile, cluster and policy through REST."""
        # The in-tree policy fails on NODE_CREATE when the profile has no
        # context, so both get an empty one.
        profile_id = senlin.profile(
            profile, flavor='small', networks=[], context={}
        )
        life = cls(senlin, profile_id, senlin.cluster(profile_id))
        life.attach(policy, {'regions': list(SPEC)})
        return life

    def attach(self, policy: str, properties: dict[str, Any]) -> None:
        """Create a policy and attach it."""
        policy_id = self.senlin.policy(policy, properties)
        action = self.senlin.attach(self.cluster_id, policy_id)
        if action['status'] != 'SUCCEEDED':
            raise RuntimeError(f'{policy}: {action["status_reason"]}')

    def servers(self) -> dict[str, int]:
        """Return region name -> servers that are really there."""
        return self.senlin.cloud.servers_of(self.cluster_id)

    def start(self, name: str, **arguments: object) -> str:
        """Start an action and return its id; 'node_create' is one, too."""
        if name == 'node_create':
            return self.senlin.start_node(self.cluster_id, self.profile_id)[0]
        return self.senlin.start(self.cluster_id, name, **arguments)


class Story:
    """Both lives, step by step."""

    def __init__(self, progress: report.Progress, log: pathlib.Path) -> None:
        self._progress = progress
        progress('boot API, conductor and engine; create both clusters')
        self._senlin = engine.boot(log)
        self._ours = Life.begin(self._senlin, OUR_PROFILE, OURS)
        self._theirs = Life.begin(self._senlin, IN_TREE_PROFILE, IN_TREE)
        self._wanted = dict.fromkeys(self._ours.servers(), 0)
        self._theirs_total = 0
        self.steps: list[report.Step] = []

    def tell(self) -> None:
        """Live through all steps."""
        self._scale('Scale out by 6', 6, 'scale_out', count=6)
        self._scale(
            'Resize by +3',
            3,
            'resize',
            adjustment_type='CHANGE_IN_CAPACITY',
            number=3,
        )
        self._scale(
            'Create one node in the cluster',
            1,
            'node_create',
            note='RegionTwo is full (cap 4): the next best region takes it.',
        )
        self._scale(
            'Scale in by 3, no deletion policy',
            -3,
            'scale_in',
            count=3,
            note='The region policy names the candidates itself.',
        )
        self._ours.attach(DELETION, {'criteria': 'OLDEST_FIRST'})
        self._scale_in_oldest()
        self._recover()

    def _scale(
        self,
        title: str,
        change: int,
        name: str,
        note: str = '',
        **arguments: object,
    ) -> None:
        """Do the same to both clusters at once, and compare."""
        self._progress(title)
        before = self._wanted
        self._wanted = best(before, change)
        started = [
            life.start(name, **arguments)
            for life in (self._ours, self._theirs)
        ]
        ours, theirs = (self._senlin.wait(action) for action in started)
        self._theirs_total += change
        wanted_theirs = dict.fromkeys(self._wanted, 0)
        wanted_theirs[engine.DEFAULT_REGION] = self._theirs_total
        checks = [
            *self._checks(ours, before),
            report.Check(
                'in-tree policy and profile: succeeds as well',
                'SUCCEEDED',
                theirs['status'],
            ),
            report.Check(
                'in-tree policy and profile: every server in '
                f'{engine.DEFAULT_REGION}, whatever was planned',
                wanted_theirs,
                self._theirs.servers(),
            ),
        ]
        self._step(title, checks, note, beside=True)

    def _scale_in_oldest(self) -> None:
        """Scale in with the deletion policy on our cluster."""
        title = 'Scale in by 3, with deletion policy OLDEST_FIRST'
        self._progress(title)
        before = self._wanted
        self._wanted = best(before, -3)
        nodes = self._senlin.nodes(self._ours.cluster_id)
        regions = {node['id']: _region(node) for node in nodes}
        oldest_first = self._senlin.by_age(self._ours.cluster_id)
        victims = set()
        for name, count in self._wanted.items():
            here = [node for node in oldest_first if regions[node] == name]
            victims |= set(here[: before[name] - count])
        action = self._senlin.wait(self._ours.start('scale_in', count=3))
        left = {n['id'] for n in self._senlin.nodes(self._ours.cluster_id)}
        checks = [
            *self._checks(action, before),
            report.Check(
                'deletion S6: in each region the oldest nodes went',
                sorted(victims),
                sorted(set(regions) - left),
            ),
            report.Check(
                'deletion S6: reason',
                'Candidates generated',
                action['data'].get('reason'),
            ),
        ]
        self._step(title, checks)

    def _recover(self) -> None:
        """Recreate a node that is not in the default region."""
        node = next(
            n
            for n in self._senlin.nodes(self._ours.cluster_id)
            if _region(n) == 'RegionThree'
        )
        title = 'Recover a node of RegionThree by recreating it'
        self._progress(title)
        action = self._senlin.act_node(
            node['id'], 'recover', operation='RECREATE'
        )
        after = self._senlin.call('GET', f'/nodes/{node["id"]}')['node']
        where = self._senlin.cloud.region_of_server
        checks = [
            report.Check('the action succeeds', 'SUCCEEDED', action['status']),
            report.Check(
                'the old server is gone', None, where(node['physical_id'])
            ),
            report.Check(
                'the new server is in the region of the node',
                'RegionThree',
                where(after['physical_id']),
            ),
            self._distribution(),
            self._consistency(),
        ]
        self._step(title, checks)

    def _checks(
        self, action: dict[str, Any], before: dict[str, int]
    ) -> list[report.Check]:
        """Return what every scaling of our cluster must meet."""
        field = 'deletion' if 'deletion' in action['data'] else 'creation'
        changes = {
            name: abs(count - before[name])
            for name, count in self._wanted.items()
            if count != before[name]
        }
        return [
            report.Check('the action succeeds', 'SUCCEEDED', action['status']),
            report.Check(
                "S1 to S4: the plan is in the action's data",
                {'count': sum(changes.values()), 'regions': changes},
                {
                    key: action['data'].get(field, {}).get(key)
                    for key in ('count', 'regions')
                },
            ),
            self._distribution(),
            self._consistency(),
        ]

    def _distribution(self) -> report.Check:
        """Compare the servers with the best of all plans."""
        return report.Check(
            "servers in each region's cloud: the best of all plans",
            self._wanted,
            self._ours.servers(),
        )

    def _consistency(self) -> report.Check:
        """Compare each node's data with the cloud that has its server."""
        nodes = self._senlin.nodes(self._ours.cluster_id)
        return report.Check(
            "each node's data names the region that holds its server",
            {
                node['name']: self._senlin.cloud.region_of_server(
                    node['physical_id']
                )
                for node in nodes
            },
            {node['name']: _region(node) for node in nodes},
        )

    def _step(
        self,
        title: str,
        checks: list[report.Check],
        note: str = '',
        beside: bool = False,
    ) -> None:
        """Keep a step with its table."""
        columns = ['region', 'weight', 'cap', 'wanted', 'servers there']
        servers, theirs = self._ours.servers(), self._theirs.servers()
        if beside:
            columns.append('in-tree: servers there')
        rows = []
        for region in SPEC:
            name = region['name']
            row = [
                name,
                region['weight'],
                region['cap'] if region['cap'] >= 0 else 'none',
                self._wanted[name],
                servers[name],
            ]
            if beside:
                row.append(theirs[name])
            rows.append(tuple(row))
        self.steps.append(
            report.Step(
                title, tuple(columns), tuple(rows), tuple(checks), note
            )
        )


def _region(node: dict[str, Any]) -> str | None:
    """Return the region that a node's data names."""
    region: str | None = node['data'].get('placement', {}).get('region_name')
    return region


def run(
    progress: report.Progress, *, log: pathlib.Path, port: int
) -> report.Part:
    """Run the part in this process.

    :param progress: called with a line at each long step.
    :param log: the file that the services log to.
    :param port: not used: nothing listens.
    :returns: the steps with their tables and checks.
    """
    story = Story(progress, log)
    story.tell()
    return report.Part(
        service=f'Senlin {senlin.version.version_info.release_string()}',
        real=REAL,
        stubs=STUBS,
        steps=tuple(story.steps),
    )
