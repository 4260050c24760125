# SPDX-License-Identifier: Apache-2.0

"""The Senlin part of the demo: the life of two clusters in three regions.

One cluster uses this package's policies and profile, the other one, beside
it, what comes with Senlin. After each step the demo looks where the servers
really are.
"""

import pathlib
from typing import Any

import senlin.version

from demo import part
from testing.senlin import engine

#: Policy and profile of each cluster.
OURS = 'senlin_plugins.policy.region_placement', 'senlin_plugins.nova.server'
IN_TREE = 'senlin.policy.region_placement', 'os.nova.server'

SPEC: list[dict[str, Any]] = [
    {'name': 'RegionOne', 'weight': 100, 'cap': -1},
    {'name': 'RegionTwo', 'weight': 250, 'cap': 4},
    {'name': 'RegionThree', 'weight': 150, 'cap': -1},
]
COLUMNS = ('region', 'weight', 'cap', 'wanted', 'servers there')
COLUMNS += ('in-tree: servers there',)

COMPARED = 'as Senlin does it', 'with the plug-ins'


def run(log: pathlib.Path) -> list[part.Part]:
    """Run the part.

    Of all plans the specs want the one that is closest to the weights: the
    sum of nodes squared over weight is the smallest, and no cap is exceeded.
    """
    story = Story(log)
    story.scale('Scale out by 9', (2, 4, 3), 'scale_out', count=9)
    story.scale(
        'Create one node in the cluster',
        (2, 4, 4),
        'node_create',
        'RegionTwo is full (cap 4): the next best region takes it.',
    )
    story.scale(
        'Scale in by 3, no deletion policy',
        (1, 4, 2),
        'scale_in',
        'The region policy names the candidates itself.',
        count=3,
    )
    story.scale_in_oldest((1, 2, 1))
    story.recover('RegionThree')
    return [story.part]


class Cluster:
    """A cluster, made through REST.

    :param policy: the type of the policy that places its nodes.
    :param profile: the type of their profile.
    """

    def __init__(self, running: engine.Engine, policy: str, profile: str):
        self._senlin = running
        # The in-tree policy fails on NODE_CREATE when the profile has no
        # context, so each gets an empty one.
        self._profile = running.profile(
            profile, flavor='small', networks=[], context={}
        )
        self.id = running.cluster(self._profile)
        self.attach(policy, {'regions': SPEC})

    def attach(self, policy: str, properties: dict[str, Any]) -> None:
        """Create a policy and attach it."""
        policy_id = self._senlin.policy(policy, properties)
        action = self._senlin.attach(self.id, policy_id)
        if action['status'] != 'SUCCEEDED':
            raise RuntimeError(f'{policy}: {action["status_reason"]}')

    def start(self, name: str, **arguments: object) -> str:
        """Start an action and return its id; 'node_create' is one, too."""
        if name == 'node_create':
            return self._senlin.start_node(self.id, self._profile)[0]
        return self._senlin.start(self.id, name, **arguments)

    def nodes(self) -> list[dict[str, Any]]:
        """Return the nodes as the API shows them."""
        return self._senlin.nodes(self.id)

    def servers(self) -> dict[str, int]:
        """Return region name -> servers that are really there."""
        return self._senlin.cloud.servers_of(self.id)


class Story:
    """Both clusters, step by step."""

    def __init__(self, log: pathlib.Path) -> None:
        version = senlin.version.version_info.release_string()
        regions = []
        for region in SPEC:
            share = f'weight {region["weight"]}'
            if region['cap'] >= 0:
                share += f', cap {region["cap"]}'
            regions.append(f'{region["name"]} ({share})')
        unit = f'servers in {", ".join(regions)}'
        service = f'Senlin {version} (retired), for clouds that run it'
        self.part = part.Part('senlin', service, unit, COMPARED)
        self.part.progress('boot API, conductor and engine; create clusters')
        self._senlin = engine.boot(log)
        self._ours = Cluster(self._senlin, *OURS)
        self._theirs = Cluster(self._senlin, *IN_TREE)
        #: Region name -> servers that the specs demand of our cluster.
        self._expected = self._ours.servers()

    def scale(
        self,
        title: str,
        distribution: tuple[int, ...],
        name: str,
        note: str = '',
        **arguments: object,
    ) -> None:
        """Do the same to both clusters at once, and compare.

        :param distribution: the servers that the specs demand, by region.
        :param name: the action.
        """
        step = self.part.step(title, COLUMNS, note)
        our_id = self._ours.start(name, **arguments)
        their_id = self._theirs.start(name, **arguments)
        our_action = self._senlin.wait(our_id)
        their_action = self._senlin.wait(their_id)
        self._check_scaling(step, distribution, our_action)
        step.check(
            'in-tree: succeeds as well', 'SUCCEEDED', their_action['status']
        )
        default = engine.DEFAULT_REGION
        all_in_default = dict.fromkeys(self._expected, 0)
        all_in_default[default] = sum(distribution)
        step.check(
            f'in-tree: every server in {default}, whatever was planned',
            all_in_default,
            self._theirs.servers(),
        )

    def scale_in_oldest(self, distribution: tuple[int, ...]) -> None:
        """Scale in with the deletion policy on our cluster."""
        title = 'Scale in by 3, OLDEST_FIRST'
        step = self.part.step(title, COLUMNS)
        deletion = 'senlin_plugins.policy.deletion'
        self._ours.attach(deletion, {'criteria': 'OLDEST_FIRST'})
        regions = {node['id']: _region(node) for node in self._ours.nodes()}
        oldest_first = self._senlin.by_age(self._ours.id)
        action = self._senlin.wait(self._ours.start('scale_in', count=3))
        left = {node['id'] for node in self._ours.nodes()}
        before = self._expected
        self._check_scaling(step, distribution, action)
        candidates: list[str] = []
        for name, count in self._expected.items():
            nodes = [node for node in oldest_first if regions[node] == name]
            candidates += nodes[: before[name] - count]
        what = 'deletion S6: in each region the oldest nodes went'
        step.check(what, sorted(candidates), sorted(set(regions) - left))
        reason = action['data'].get('reason')
        step.check('deletion S6: reason', 'Candidates generated', reason)

    def recover(self, region: str) -> None:
        """Recreate a node of a region that is not the default one."""
        title = f'Recreate a node of {region}'
        step = self.part.step(title, COLUMNS)
        node = next(n for n in self._ours.nodes() if _region(n) == region)
        action = self._senlin.act_node(
            node['id'], 'recover', operation='RECREATE'
        )
        after = self._senlin.call('GET', f'/nodes/{node["id"]}')['node']
        region_of = self._senlin.cloud.region_of_server
        step.check('the action succeeds', 'SUCCEEDED', action['status'])
        step.check(
            'the old server is gone', None, region_of(node['physical_id'])
        )
        step.check(
            'the new server is in the same region',
            region,
            region_of(after['physical_id']),
        )
        self._check_servers(step)

    def _check_scaling(
        self,
        step: part.Step,
        distribution: tuple[int, ...],
        action: dict[str, Any],
    ) -> None:
        """Check what every scaling of our cluster must meet."""
        before = self._expected
        self._expected = dict(zip(before, distribution, strict=True))
        field = 'deletion' if 'deletion' in action['data'] else 'creation'
        plan = action['data'].get(field, {})
        changes = {
            name: abs(count - before[name])
            for name, count in self._expected.items()
            if count != before[name]
        }
        step.check('the action succeeds', 'SUCCEEDED', action['status'])
        step.check(
            "S1 to S4: the plan is in the action's data",
            {'count': sum(changes.values()), 'regions': changes},
            {key: plan.get(key) for key in ('count', 'regions')},
        )
        self._check_servers(step)

    def _check_servers(self, step: part.Step) -> None:
        """Compare the servers with the best plan and with what Senlin says."""
        servers = self._ours.servers()
        in_tree = self._theirs.servers()
        step.bars = {
            'wanted': self._expected,
            'with the plug-ins': servers,
            'in-tree': in_tree,
        }
        self.part.compare(
            step.title,
            ', '.join(map(str, in_tree.values())),
            ', '.join(map(str, servers.values())),
        )
        for region in SPEC:
            name = region['name']
            step.row(
                name,
                region['weight'],
                'none' if region['cap'] < 0 else region['cap'],
                self._expected[name],
                servers[name],
                in_tree[name],
            )
        what = "servers in each region's cloud: the best of all plans"
        step.check(what, self._expected, servers)
        nodes = self._ours.nodes()
        region_of = self._senlin.cloud.region_of_server
        step.check(
            "each node's data names the region that holds its server",
            {node['name']: region_of(node['physical_id']) for node in nodes},
            {node['name']: _region(node) for node in nodes},
        )


def _region(node: dict[str, Any]) -> str | None:
    """Return the region that a node's data names."""
    region: str | None = node['data'].get('placement', {}).get('region_name')
    return region
