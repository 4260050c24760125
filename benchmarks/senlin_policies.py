# SPDX-License-Identifier: Apache-2.0

"""Time Senlin's policies: this package's beside those that come with Senlin.

``python -m benchmarks.senlin_policies`` runs the real policy classes on real
clusters in Senlin's database (SQLite in memory), all in one process, so that
the ratios mean something on any machine. It needs Senlin, and prints what
``doc/source/benchmarks.rst`` shows.
"""

import copy
import dataclasses
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import prettytable

from benchmarks import common, in_tree, quality
from senlin_plugins.planning import placement

OURS = 'senlin_plugins'
IN_TREE = 'in-tree'

SIZES = (100, 1_000, 10_000)
REGIONS = (2, 1_000)
CRITERIA = ('RANDOM', 'OLDEST_FIRST')
QUICK_SIZES = (100, 1_000)
QUICK_REGIONS = (2, 100)

#: How many random cases tell the quality of the plans, and which ones.
CASES = 2_000
SEED = 20_261_120

#: A call is repeated this often, or for so many seconds; the best counts.
REPEATS = 15
PATIENCE = 0.5


@dataclasses.dataclass(frozen=True)
class Row:
    """One thing that both sides did.

    :param what: what was timed.
    :param nodes: how many nodes the cluster has.
    :param regions: how many regions the policy has; 0 when it has none.
    :param change: how many nodes were to be added or removed.
    :param ours: seconds that this package took.
    :param in_tree: seconds that Senlin's own part took.
    """

    what: str
    nodes: int
    regions: int
    change: int
    ours: float
    in_tree: float

    @property
    def ratio(self) -> float:
        """How many times as long Senlin's own part takes."""
        return self.in_tree / self.ours


def best_of(run: Callable[[], Any], prepare: Callable[[], Any]) -> float:
    """Return the shortest time of a call in seconds.

    :param prepare: what must be done before each call, untimed.
    """
    times: list[float] = []
    while len(times) < REPEATS and sum(times) < PATIENCE:
        prepare()
        times.append(common.seconds(run))
    return min(times)


class Bench:
    """Clusters in Senlin's database, and both sides' policies for them."""

    def __init__(self) -> None:
        """Start Senlin in this process."""
        # Patches the process and needs Senlin: not before it is wanted.
        from testing.senlin import driver, engine

        self.engine = engine.boot()
        self._new_region = driver.Region
        self.rng = random.Random(SEED)

        from oslo_config import cfg
        from senlin.common import context

        cfg.CONF.set_override('max_nodes_per_cluster', 10 * max(SIZES))
        self.context = context.RequestContext(
            user_id=engine.USER, project_id=engine.PROJECT, is_admin=True
        )
        self.profile_id = self.engine.profile()

    def regions(self, count: int) -> list[dict[str, Any]]:
        """Add regions to the cloud and return a policy's list of them."""
        names = [f'region-{i:04}' for i in range(count)]
        for name in names:
            self.engine.cloud.regions.setdefault(name, self._new_region(name))
        self.engine.cloud.known.update(names)
        return [
            {'name': name, 'weight': self.rng.randint(1, 10) * 100}
            for name in names
        ]

    def policy(self, type_name: str, version: str, **properties: Any) -> Any:
        """Return a policy as the engine loads it."""
        from senlin.policies import base

        spec = {
            'type': type_name,
            'version': version,
            'properties': properties,
        }
        return base.Policy(
            f'{type_name}-{len(properties)}',
            spec,
            user=self.context.user_id,
            project=self.context.project_id,
        )

    def cluster(self, size: int, regions: Sequence[Mapping[str, Any]]) -> Any:
        """Write a cluster into the database and load it as the engine does.

        :param regions: the regions that the nodes are spread over at
            random, by weight.
        :returns: the engine's cluster object.
        """
        import datetime
        import uuid

        from senlin import objects
        from senlin.db.sqlalchemy import api as db_api
        from senlin.db.sqlalchemy import models
        from senlin.engine import cluster as clusters

        now = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
        owner = {
            'user': self.context.user_id,
            'project': self.context.project_id,
        }
        record = objects.Cluster.create(
            self.context,
            {
                'name': 'benchmark',
                'profile_id': self.profile_id,
                'init_at': now,
                'min_size': 0,
                'max_size': -1,
                'desired_capacity': size,
                'next_index': size + 1,
                'timeout': 3600,
                'status': 'ACTIVE',
                'data': {},
                **owner,
            },
        )
        homes = self.rng.choices(
            [region['name'] for region in regions],
            [region['weight'] for region in regions],
            k=size,
        )
        with db_api.session_for_write() as session:
            session.execute(
                models.Node.__table__.insert(),
                [
                    {
                        'id': str(uuid.UUID(int=self.rng.getrandbits(128))),
                        'name': f'node-{i}',
                        'cluster_id': record.id,
                        'profile_id': self.profile_id,
                        'index': i,
                        'init_at': now,
                        'created_at': now
                        + datetime.timedelta(
                            seconds=self.rng.randrange(10 * size)
                        ),
                        'tainted': False,
                        # One in a hundred is of no use any more.
                        'status': 'ERROR' if i % 100 == 99 else 'ACTIVE',
                        'data': {'placement': {'region_name': home}},
                        'meta_data': {},
                        'dependents': {},
                        **owner,
                    }
                    for i, home in enumerate(homes, start=1)
                ],
            )
        return clusters.Cluster.load(self.context, record.id)

    def check(
        self, policy: Any, cluster: Any, name: str, **data: Any
    ) -> tuple[float, dict[str, Any]]:
        """Time a policy's ``pre_op`` on an action.

        :param data: what is in the action's data before; ``count`` is its
            input.
        :returns: seconds, and the action's data afterwards.
        """
        from senlin.engine.actions import base as actions

        count = data.pop('count')
        action = actions.Action(
            cluster.id, name, self.context, cluster_id=cluster.id
        )
        action.entity = cluster
        action.inputs = {'count': count}
        action.store(self.context)

        def prepare() -> None:
            action.data = copy.deepcopy(data)

        seconds = best_of(lambda: policy.pre_op(cluster.id, action), prepare)
        return seconds, action.data


def region_rows(
    bench: Bench, cluster: Any, regions: Sequence[Mapping[str, Any]]
) -> list[Row]:
    """Time region placement, and deletion that follows its plan."""
    size = len(cluster.nodes)
    count = size // 2
    pair = [
        bench.policy(type_name, '1.0', regions=[*regions])
        for type_name in (
            'senlin_plugins.policy.region_placement',
            'senlin.policy.region_placement',
        )
    ]
    rows = []
    plan: dict[str, int] = {}
    for what, name, key in (
        ('placement, scale out', 'CLUSTER_SCALE_OUT', 'creation'),
        ('placement, scale in', 'CLUSTER_SCALE_IN', 'deletion'),
    ):
        (ours, data), (theirs, _) = (
            bench.check(policy, cluster, name, count=count) for policy in pair
        )
        if data['status'] != 'OK':
            raise common.BenchmarkError(f'{what}: {data["reason"]}')
        plan = data[key]['regions']
        rows.append(Row(what, size, len(regions), count, ours, theirs))
    for criterion in CRITERIA:
        rows.append(
            deletion_row(
                bench,
                cluster,
                criterion,
                count,
                regions=len(regions),
                deletion={'count': count, 'regions': plan},
            )
        )
    return rows


def deletion_row(
    bench: Bench,
    cluster: Any,
    criterion: str,
    count: int,
    regions: int = 0,
    **data: Any,
) -> Row:
    """Time the deletion policies."""
    seconds = []
    for type_name in (
        'senlin_plugins.policy.deletion',
        'senlin.policy.deletion',
    ):
        policy = bench.policy(type_name, '1.1', criteria=criterion)
        taken, after = bench.check(
            policy, cluster, 'CLUSTER_SCALE_IN', count=count, **data
        )
        found = len(after['deletion']['candidates'])
        if found != count:
            raise common.BenchmarkError(
                f'{type_name} with {criterion} chose {found} nodes instead '
                f'of {count}.'
            )
        seconds.append(taken)
    size = len(cluster.nodes)
    return Row(f'deletion, {criterion}', size, regions, count, *seconds)


def measure(bench: Bench, *, quick: bool) -> list[Row]:
    """Run everything that is timed."""
    rows: list[Row] = []
    for size in QUICK_SIZES if quick else SIZES:
        for number in QUICK_REGIONS if quick else REGIONS:
            common.say(f'{size} nodes, {number} regions')
            regions = bench.regions(number)
            cluster = bench.cluster(size, regions)
            rows += region_rows(bench, cluster, regions)
        common.say(f'{size} nodes, no regions')
        for criterion in CRITERIA:
            for count in (1, size // 2):
                rows.append(deletion_row(bench, cluster, criterion, count))
    return rows


def report(
    rows: Sequence[Row], scores: Mapping[tuple[str, str], quality.Score]
) -> str:
    """Return the report as text."""
    times = [
        (
            row.what,
            row.nodes,
            row.regions or '-',
            row.change,
            *(f'{taken * 1e3:.2f}' for taken in (row.ours, row.in_tree)),
            f'{row.ratio:.1f}',
        )
        for row in sorted(
            rows, key=lambda r: (r.what, r.regions, r.change == 1)
        )
    ]
    heads = ('what', 'nodes', 'regions', 'change', 'ours', 'in-tree', 'ratio')
    table = prettytable.PrettyTable(
        ['plans', 'cases with a plan', 'best plan', 'wrongly refused']
        + ['cases without', 'planned all the same'],
        align='l',
    )
    for (direction, name), score in sorted(scores.items()):
        table.add_row(
            [
                f'{direction}, {name}',
                score.feasible,
                f'{score.optimal / score.feasible:.1%}',
                f'{score.refused / score.feasible:.1%}',
                score.infeasible,
                score.invented,
            ]
        )
    return '\n'.join(
        [
            machine(),
            '',
            'Milliseconds of processor time, the best of several runs; '
            'ratio: in-tree / ours',
            common.table(heads, times, 'what'),
            '',
            f'Quality of the plans ({CASES} random cases, seed {SEED})',
            str(table),
        ]
    )


def machine() -> str:
    """Say in one line what all this ran on."""
    from senlin import version

    return common.machine(f'Senlin {version.version_info.version_string()}')


def compare(quick: bool) -> tuple[str, Any]:
    """Run everything."""
    bench = Bench()
    rows = measure(bench, quick=quick)
    common.say(f'{CASES} random plans')
    scores = quality.compare(
        {OURS: placement.place, IN_TREE: in_tree.planner()}, CASES, SEED
    )
    numbers = {
        'machine': machine(),
        'times': [dataclasses.asdict(row) for row in rows],
        'plans': [
            {'direction': direction, 'planner': name} | vars(score)
            for (direction, name), score in scores.items()
        ],
    }
    return report(rows, scores), numbers


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Senlin',
            'Time region placement and deletion beside the policies that come '
            'with Senlin, and compare the plans. Takes a few minutes.',
            'only up to 1,000 nodes and 100 regions: half a minute',
            compare,
        )
    )
