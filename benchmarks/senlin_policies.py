# SPDX-License-Identifier: Apache-2.0

"""Time Senlin's policies: this package's beside those that come with Senlin.

``python -m benchmarks.senlin_policies`` runs the real policy classes on real
clusters in Senlin's database (SQLite in memory), all in one process, so that
the ratios mean something on any machine. It needs Senlin, and prints what
``doc/source/benchmarks.rst`` shows.
"""

import copy
import datetime
import random
import sys
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import common

SIZES = (100, 1_000, 10_000)
REGIONS = (2, 1_000)
QUICK_SIZES = (100, 1_000)
QUICK_REGIONS = (2, 100)
CRITERIA = ('RANDOM', 'OLDEST_FIRST')

SEED = 20_261_120

#: A call is repeated this often, or for so many seconds; the best counts.
REPEATS = 15
PATIENCE = 0.5

HEADS = ('what', 'nodes', 'regions', 'change', 'ours', 'in-tree', 'ratio')


class Bench:
    """Clusters in Senlin's database, and both sides' policies for them."""

    def __init__(self) -> None:
        """Start Senlin in this process."""
        # Patches the process and needs Senlin: not before it is wanted.
        from oslo_config import cfg
        from senlin.common import context

        from testing.senlin import engine

        self.engine = engine.boot()
        self.rng = random.Random(SEED)
        cfg.CONF.set_override('max_nodes_per_cluster', 10 * max(SIZES))
        self.owner = {'user': engine.USER, 'project': engine.PROJECT}
        self.context = context.RequestContext(
            user_id=engine.USER, project_id=engine.PROJECT, is_admin=True
        )
        self.profile_id = self.engine.profile()
        #: What was timed, nodes, regions (0 without any), nodes to add or
        #: remove, and the seconds of this package and of Senlin's own part.
        self.rows: list[tuple[str, int, int, int, float, float]] = []

    def regions(self, count: int) -> list[dict[str, Any]]:
        """Add regions to the cloud and return a policy's list of them."""
        from testing.senlin import stub_cloud

        regions = []
        for number in range(count):
            name = f'region-{number:04}'
            self.engine.cloud.regions[name] = stub_cloud.Region(name)
            self.engine.cloud.keystone_regions.add(name)
            weight = self.rng.randint(1, 10) * 100
            regions.append({'name': name, 'weight': weight})
        return regions

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
        cluster_id = self.engine.cluster(self.profile_id)
        homes = self.rng.choices(
            [region['name'] for region in regions],
            [region['weight'] for region in regions],
            k=size,
        )
        nodes = []
        for number, home in enumerate(homes, start=1):
            age = datetime.timedelta(seconds=self.rng.randrange(10 * size))
            node = {
                'id': str(uuid.UUID(int=self.rng.getrandbits(128))),
                'name': f'node-{number}',
                'cluster_id': cluster_id,
                'profile_id': self.profile_id,
                'index': number,
                'init_at': then,
                'created_at': then + age,
                'tainted': False,
                # One in a hundred is of no use any more.
                'status': 'ACTIVE' if number % 100 else 'ERROR',
                'data': {'placement': {'region_name': home}},
                'meta_data': {},
                'dependents': {},
                **self.owner,
            }
            nodes.append(node)
        with db_api.session_for_write() as session:
            session.query(models.Cluster).filter_by(id=cluster_id).update(
                {'desired_capacity': size, 'next_index': size + 1}
            )
            session.execute(models.Node.__table__.insert(), nodes)
        return clusters.Cluster.load(self.context, cluster_id)

    def time(
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
        properties: Mapping[str, Any],
        action: tuple[Any, str, int],
        regions: int = 0,
        **data: Any,
    ) -> dict[str, Any]:
        """Time both policies of a kind on the same action.

        :param properties: what the policies' spec says.
        :param action: the cluster, the name of the action, and its count.
        :returns: the action's data after this package's policy.
        """
        from senlin.policies import base

        cluster, _, count = action
        kind = 'deletion' if 'criteria' in properties else 'region_placement'
        timings = []
        for package in ('senlin_plugins', 'senlin'):
            type_name = f'{package}.policy.{kind}'
            spec = {'type': type_name, 'version': '1.0'}
            spec['properties'] = {**properties}
            policy = base.Policy(type_name, spec, **self.owner)
            timings.append(self.time(policy, *action, **data))
        (ours, decided), (theirs, _) = timings
        if decided['status'] != 'OK':
            raise common.BenchmarkError(f'{what}: {decided["reason"]}')
        size = len(cluster.nodes)
        self.rows.append((what, size, regions, count, ours, theirs))
        return decided

    def measure(self, sizes: Sequence[int], numbers: Sequence[int]) -> None:
        """Time everything on clusters of all sizes and numbers of regions."""
        for size in sizes:
            half = size // 2
            for number in numbers:
                common.say(f'{size} nodes, {number} regions')
                regions = self.regions(number)
                cluster = self.cluster(size, regions)
                properties = {'regions': regions}
                for way in ('out', 'in'):
                    what = f'placement, scale {way}'
                    action = cluster, f'CLUSTER_SCALE_{way.upper()}', half
                    data = self.compare(what, properties, action, number)
                # Deletion follows the plan for the scale-in.
                plan = {'count': half, 'regions': data['deletion']['regions']}
                self.delete(action, number, deletion=plan)
            common.say(f'{size} nodes, no regions')
            for count in (1, half):
                self.delete((cluster, 'CLUSTER_SCALE_IN', count))

    def delete(
        self, action: tuple[Any, str, int], regions: int = 0, **data: Any
    ) -> None:
        """Time the deletion policies with each criterion."""
        for criterion in CRITERIA:
            what = f'deletion, {criterion}'
            properties = {'criteria': criterion}
            self.compare(what, properties, action, regions, **data)


def compare(quick: bool) -> str:
    """Run everything and return the report."""
    from senlin import version

    bench = Bench()
    if quick:
        bench.measure(QUICK_SIZES, QUICK_REGIONS)
    else:
        bench.measure(SIZES, REGIONS)
    times = []
    for what, nodes, regions, change, ours, theirs in sorted(
        bench.rows, key=lambda row: (row[0], row[2], row[3] == 1)
    ):
        numbers = f'{ours * 1e3:.2f}', f'{theirs * 1e3:.2f}'
        ratio = f'{theirs / ours:.1f}'
        times.append((what, nodes, regions or '-', change, *numbers, ratio))
    return '\n'.join(
        [
            common.machine(f'Senlin {version.version_info.version_string()}'),
            '',
            'Milliseconds of processor time, the best of several runs; '
            'ratio: in-tree / ours',
            common.table(HEADS, times, 'what'),
        ]
    )


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Senlin',
            'Time region placement and deletion beside the policies that come '
            'with Senlin. Takes a few minutes.',
            'only up to 1,000 nodes and 100 regions: half a minute',
            compare,
        )
    )
