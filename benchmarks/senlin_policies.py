# SPDX-License-Identifier: Apache-2.0

"""Time Senlin's policies: this package's beside those that come with Senlin.

``python -m benchmarks.senlin_policies`` runs the real policy classes on real
clusters in Senlin's database (SQLite in memory), all in one process, so that
the ratios mean something on any machine. It needs Senlin, and prints what
``doc/source/benchmarks.rst`` shows.
"""

import copy
import dataclasses
import datetime
import random
import sys
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import prettytable

from benchmarks import common, in_tree, quality
from senlin_plugins.planning import placement

OURS = 'senlin_plugins'
IN_TREE = 'in-tree'
REGION_POLICIES = (
    'senlin_plugins.policy.region_placement',
    'senlin.policy.region_placement',
)
DELETION_POLICIES = 'senlin_plugins.policy.deletion', 'senlin.policy.deletion'

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
        self.owner = {'user': engine.USER, 'project': engine.PROJECT}
        self.profile_id = self.engine.profile()
        self.rows: list[Row] = []

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

    def cluster(self, size: int, regions: Sequence[Mapping[str, Any]]) -> Any:
        """Write a cluster into the database and load it as the engine does.

        :param regions: the regions that the nodes are spread over at
            random, by weight.
        :returns: the engine's cluster object.
        """
        from senlin.db.sqlalchemy import api as db_api
        from senlin.db.sqlalchemy import models
        from senlin.engine import cluster as clusters

        then = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
        cluster_id = self.engine.cluster(self.profile_id, max_size=-1)
        homes = self.rng.choices(
            [region['name'] for region in regions],
            [region['weight'] for region in regions],
            k=size,
        )
        with db_api.session_for_write() as session:
            session.query(models.Cluster).filter_by(id=cluster_id).update(
                {'desired_capacity': size, 'next_index': size + 1}
            )
            session.execute(
                models.Node.__table__.insert(),
                [
                    {
                        'id': str(uuid.UUID(int=self.rng.getrandbits(128))),
                        'name': f'node-{i}',
                        'cluster_id': cluster_id,
                        'profile_id': self.profile_id,
                        'index': i,
                        'init_at': then,
                        'created_at': then
                        + datetime.timedelta(
                            seconds=self.rng.randrange(10 * size)
                        ),
                        'tainted': False,
                        # One in a hundred is of no use any more.
                        'status': 'ERROR' if i % 100 == 99 else 'ACTIVE',
                        'data': {'placement': {'region_name': home}},
                        'meta_data': {},
                        'dependents': {},
                        **self.owner,
                    }
                    for i, home in enumerate(homes, start=1)
                ],
            )
        return clusters.Cluster.load(self.context, cluster_id)

    def check(
        self, policy: Any, cluster: Any, name: str, count: int, **data: Any
    ) -> tuple[float, dict[str, Any]]:
        """Time a policy's ``pre_op`` on an action.

        :param count: the action's input.
        :param data: what is in the action's data before.
        :returns: the shortest time in seconds, and the action's data then.
        """
        from senlin.engine.actions import base as actions

        action = actions.Action(
            cluster.id, name, self.context, cluster_id=cluster.id
        )
        action.entity = cluster
        action.inputs = {'count': count}
        action.store(self.context)
        times: list[float] = []
        while len(times) < REPEATS and sum(times) < PATIENCE:
            action.data = copy.deepcopy(data)
            times.append(
                common.seconds(lambda: policy.pre_op(cluster.id, action))
            )
        return min(times), action.data

    def compare(
        self,
        what: str,
        types: tuple[str, str],
        cluster: Any,
        name: str,
        count: int,
        properties: Mapping[str, Any],
        regions: int = 0,
        **data: Any,
    ) -> dict[str, Any]:
        """Time both policies of a kind on the same action.

        :param types: the type of this package's policy, and of Senlin's.
        :param properties: what their spec says.
        :returns: the action's data after this package's policy.
        """
        from senlin.policies import base

        found = []
        for type_name in types:
            spec = {
                'type': type_name,
                'version': '1.1' if 'criteria' in properties else '1.0',
                'properties': {**properties},
            }
            policy = base.Policy(type_name, spec, **self.owner)
            found.append(self.check(policy, cluster, name, count, **data))
            chosen = found[-1][1].get('deletion', {}).get('candidates')
            if 'criteria' in properties and len(chosen) != count:
                raise common.BenchmarkError(
                    f'{type_name} with {what} chose {len(chosen)} nodes '
                    f'instead of {count}.'
                )
        (ours, data), (theirs, _) = found
        if data['status'] != 'OK':
            raise common.BenchmarkError(f'{what}: {data["reason"]}')
        size = len(cluster.nodes)
        self.rows.append(Row(what, size, regions, count, ours, theirs))
        return data

    def delete(self, cluster: Any, count: int, **others: Any) -> None:
        """Time the deletion policies with each criterion."""
        for criterion in CRITERIA:
            self.compare(
                *(f'deletion, {criterion}', DELETION_POLICIES),
                *(cluster, 'CLUSTER_SCALE_IN', count),
                {'criteria': criterion},
                **others,
            )

    def measure(self, sizes: Sequence[int], numbers: Sequence[int]) -> None:
        """Time everything on clusters of all sizes and numbers of regions."""
        for size in sizes:
            half = size // 2
            for number in numbers:
                common.say(f'{size} nodes, {number} regions')
                regions = self.regions(number)
                cluster = self.cluster(size, regions)
                for way in ('out', 'in'):
                    data = self.compare(
                        *(f'placement, scale {way}', REGION_POLICIES),
                        *(cluster, f'CLUSTER_SCALE_{way.upper()}', half),
                        {'regions': regions},
                        number,
                    )
                # Deletion follows the plan for the scale-in.
                plan = {'count': half, 'regions': data['deletion']['regions']}
                self.delete(cluster, half, regions=number, deletion=plan)
            common.say(f'{size} nodes, no regions')
            for count in (1, half):
                self.delete(cluster, count)


def report(
    rows: Sequence[Row], scores: Mapping[tuple[str, str], quality.Score]
) -> str:
    """Return the report as text."""
    times = [
        (
            *(row.what, row.nodes, row.regions or '-', row.change),
            *(f'{taken * 1e3:.2f}' for taken in (row.ours, row.in_tree)),
            f'{row.in_tree / row.ours:.1f}',
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
                *(f'{direction}, {name}', score.feasible),
                f'{score.optimal / score.feasible:.1%}',
                f'{score.refused / score.feasible:.1%}',
                *(score.infeasible, score.invented),
            ]
        )
    return '\n'.join(
        [
            *(machine(), ''),
            'Milliseconds of processor time, the best of several runs; '
            'ratio: in-tree / ours',
            *(common.table(heads, times, 'what'), ''),
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
    sizes, numbers = (
        (QUICK_SIZES, QUICK_REGIONS) if quick else (SIZES, REGIONS)
    )
    bench.measure(sizes, numbers)
    common.say(f'{CASES} random plans')
    scores = quality.compare(
        {OURS: placement.place, IN_TREE: in_tree.planner()}, CASES, SEED
    )
    numbers = {
        'machine': machine(),
        'times': [dataclasses.asdict(row) for row in bench.rows],
        'plans': [
            {'direction': direction, 'planner': name} | vars(score)
            for (direction, name), score in scores.items()
        ],
    }
    return report(bench.rows, scores), numbers


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
