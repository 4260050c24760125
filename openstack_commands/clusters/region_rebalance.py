# SPDX-License-Identifier: Apache-2.0

"""The command ``openstack cluster region rebalance``."""

import argparse
import dataclasses
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from osc_lib import exceptions

from openstack_commands.base import lister
from openstack_commands.clusters import clusters
from openstack_commands.clusters.advice import rebalancing
from openstack_commands.clusters.advice.rebalancing import Step
from openstack_commands.clusters.cluster_lister import (
    Cell,
    ClusterLister,
    Table,
    distribution_cell,
    distribution_text,
)
from os_placement_plugins.quoting import printable
from senlin_plugins.planning import sizing
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import NO_REGION, Snapshot

COLUMNS = ('Step', 'Add', 'Remove', 'Distribution')
AGAIN: Final = 'To go on, run the command again with --size {}.'

#: Characters of the progress bar.
_WIDTH: Final = 20


class RebalanceClusterRegion(ClusterLister):
    """Move nodes between regions to match the weights and caps.

    Each step first scales the cluster out. When the new nodes are ACTIVE, the
    step checks all nodes, and scales the cluster in by the same number of
    nodes. You can interrupt the command at any time. It then says how to
    continue.
    """

    _args: argparse.Namespace
    _surge: int
    #: How many nodes the cluster has before and after each step.
    _size: int

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        parser.add_argument(
            'cluster', metavar='<cluster>', help='cluster (name or ID)'
        )
        parser.add_argument(
            '--max-surge',
            metavar='<n>',
            default='1',
            help='maximum number of nodes that each step adds; default: 1',
        )
        parser.add_argument(
            '--size',
            metavar='<n>',
            help='number of nodes before and after each step; default: as '
            'many as the cluster has',
        )
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='show the steps without changing anything',
        )
        parser.add_argument(
            '--yes', action='store_true', help='do not ask for confirmation'
        )
        self.add_default_region(parser)

    def tell_no_effect(self, text: str, *words: object) -> None:
        """Refuse if the policy has no effect on the cluster."""
        raise exceptions.CommandError(text % words)

    def take_action(self, parsed_args: argparse.Namespace) -> Table:
        """Return the steps, planned or done, as a table.

        :raises CommandError: if the command stops before the last step.
        """
        self._args = parsed_args
        self._surge = sizing.read_count(parsed_args.max_surge, '--max-surge')
        begun = False
        try:
            cluster = self.find_cluster(parsed_args.cluster)
            nodes = self._nodes(cluster)
            self._size = len(nodes)
            if parsed_args.size:
                self._size = sizing.read_count(parsed_args.size, '--size')
                self._check_size(len(nodes))
            steps = self._steps(cluster, nodes)
            if not steps:
                _say('No move makes the distribution better.')
            elif not parsed_args.dry_run:
                self._confirm(steps)
                begun = True
                with lister.telling_in_one_line():
                    steps = self._carry_out(cluster, len(nodes), steps)
        except KeyboardInterrupt:
            text = 'Interrupted. Nothing has begun.'
            if begun:
                text = 'Interrupted. What Senlin has begun goes on there. '
                text += AGAIN.format(self._size)
            raise exceptions.CommandError(text) from None
        except exceptions.CommandError as exc:
            if not begun:
                raise
            raise exceptions.CommandError(
                f'{exc} {AGAIN.format(self._size)}'
            ) from exc
        return COLUMNS, [
            (
                number,
                _narrow_cell(step.add),
                _narrow_cell(step.remove),
                distribution_cell(step.after),
            )
            for number, step in enumerate(steps, start=1)
        ]

    def _check_size(self, count: int) -> None:
        """Refuse a ``--size`` too far from the number of nodes.

        An interrupted run leaves a difference of at most ``--max-surge``.

        :param count: how many nodes the cluster has.
        :raises CommandError: if the size is refused; the text says what to do.
        """
        distance = abs(self._size - count)
        if distance > self._surge:
            raise exceptions.CommandError(
                f'--size {self._size} is {distance} away from the {count} '
                'nodes that the cluster has, and an interrupted run leaves at '
                f'most {self._surge} (--max-surge). To change the size of the '
                'cluster, use: openstack cluster resize --capacity '
                f'{self._size} {self._args.cluster}. To do both, say '
                f'--max-surge {distance}.'
            )

    def _nodes(self, cluster: Any) -> list[Any]:
        """Return the nodes; refuse if one of them is not ACTIVE."""
        clustering = self.connection.clustering
        nodes = list(clustering.nodes(cluster_id=cluster.id))
        inactive = [node for node in nodes if node.status != 'ACTIVE']
        if inactive:
            raise exceptions.CommandError(
                f'{len(inactive)} node(s) are not ACTIVE, such as '
                f'{inactive[0].name} ({inactive[0].status}). Wait until they '
                'are, or mend them with: openstack cluster recover --check '
                f'true {cluster.name}'
            )
        return nodes

    def _steps(self, cluster: Any, nodes: Sequence[Any]) -> list[Step]:
        """Read the cluster and its regions, and return the remaining steps.

        :param nodes: the nodes of the cluster.
        :raises CommandError: if steps are needed, but cannot be carried out.
        """
        size = self._size
        clustering = self.connection.clustering
        cluster = clustering.get_cluster(cluster.id)
        policy = self.attached_policy(cluster)
        regions, failing = self.in_force(policy, cluster)
        names = [region.name for region in regions]
        home = self._args.default_region
        current = clusters.distribution(clustering, nodes, home)
        used = {*names, *current} - {NO_REGION}
        gone = self.unreachable(
            policy, cluster, used, growing=False, default_region=home
        )
        closed = self.unreachable(
            policy, cluster, names, growing=True, default_region=home
        )
        for name, state in failing.items():
            self.warn("Region '%s' %s.", name, state.describe())
        snapshot = Snapshot(
            Change(growing=True, count=1),
            regions,
            dict.fromkeys(names, 0) | current,
            gone,
            failing=failing,
        )
        room = surge = self._surge
        if cluster.max_size >= 0:
            room = min(surge, cluster.max_size - size)
        steps = list(rebalancing.steps(snapshot, size, room, closed))
        if steps:
            return steps
        if any(rebalancing.steps(snapshot, size, surge, closed)):
            raise exceptions.CommandError(
                f'The max_size of the cluster is {cluster.max_size}, so no '
                'node can come before another one goes. Raise it with: '
                f'openstack cluster resize --max-size {size + surge} '
                f'{cluster.name}'
            )
        sound = dataclasses.replace(snapshot, failing={})
        if any(rebalancing.steps(sound, size, surge, closed)):
            raise exceptions.CommandError(
                'Nothing can move until the regions work again. Let the '
                'policy look at them with: openstack cluster check '
                f'{cluster.name}'
            )
        for region in regions:
            count = current.get(region.name, 0)
            if region.cap in range(count):
                raise exceptions.CommandError(
                    f'{region.name} keeps {count} node(s), more than its cap '
                    f'of {region.cap}, because no other region has room. '
                    'Raise the cap of another region with: openstack cluster '
                    f'region set --cap <n> {cluster.name} <region>'
                )
        return []

    def _confirm(self, steps: Sequence[Step]) -> None:
        """Show the steps, and ask before the first one."""
        if self._args.yes:
            return
        for number, step in enumerate(steps, start=1):
            changes = []
            if step.add:
                changes.append(f'add {distribution_text(step.add)}')
            if step.remove:
                changes.append(f'remove {distribution_text(step.remove)}')
            _say(f'Step {number}: {", ".join(changes)}')
        if not sys.stdin.isatty():
            raise exceptions.CommandError(
                'Servers would be deleted: say --yes to do it, or --dry-run '
                'to see the steps only.'
            )
        _say('Each step deletes servers. Go on? [y/N] ', end='')
        if sys.stdin.readline().strip().lower() not in ('y', 'yes'):
            raise exceptions.CommandError('Nothing has begun.')

    def _carry_out(
        self, cluster: Any, total: int, steps: list[Step]
    ) -> list[Step]:
        """Carry out steps until none is left; return the completed steps.

        After each change, the remaining steps are planned again from the
        current nodes of the cluster.

        :param total: how many nodes the cluster has.
        """
        done: list[Step] = []
        added: Mapping[str, int] = {}
        changes = left = _changes(steps)
        while steps:
            step = steps[0]
            verb, plan = 'remove', step.remove
            if step.add:
                verb, plan = 'add', step.add
            text = f'{verb} {distribution_text(plan)}'
            _show(changes, _changes(steps), text)
            change = Change(bool(step.add), sum(plan.values()))
            if not change.growing:
                self._look(cluster)
            clusters.scale(self.connection.clustering, cluster, change)
            total += change.count if change.growing else -change.count
            nodes = self._nodes(cluster)
            if len(nodes) != total:
                self.warn(
                    'Somebody else has scaled the cluster: it has %s nodes '
                    'instead of %s, and keeps the difference.',
                    len(nodes),
                    total,
                )
                self._size += len(nodes) - total
                total = len(nodes)
            steps = self._steps(cluster, nodes)
            if step.add and step.remove:
                # Only the first half of this step is done. The removal, its
                # second half, is now the first of the new steps.
                added = step.add
                continue
            done.append(Step(step.add or added, step.remove, step.after))
            added = {}
            if _changes(steps) >= left:
                raise exceptions.CommandError(
                    'The last step has brought the cluster no nearer to its '
                    'weights and caps: something else decides where its '
                    'nodes are.'
                )
            left = _changes(steps)
        _show(changes, 0, 'done')
        return done

    def _look(self, cluster: Any) -> None:
        """Check all nodes; raise if one does not answer or is not ACTIVE."""
        try:
            clusters.check(self.connection.clustering, cluster)
        except exceptions.CommandError as exc:
            raise exceptions.CommandError(
                f'No node is removed, because not all of them answer: {exc}'
            ) from exc
        self._nodes(cluster)


def _narrow_cell(counts: Mapping[str, int]) -> Cell:
    """Return a distribution as a cell with one line for each region."""
    text = distribution_text(counts).replace(', ', ',\n')
    return Cell(dict(counts), text)


def _changes(steps: Iterable[Step]) -> int:
    """Return how many nodes come and go in some steps."""
    return sum(step.changes for step in steps)


def _show(changes: int, left: int, text: str) -> None:
    """Show a progress bar.

    :param changes: how many nodes the rebalance adds and removes.
    :param left: how many of these changes are not done yet.
    :param text: what happens now.
    """
    done = max(0, changes - left)
    bar = ('#' * (_WIDTH * done // changes)).ljust(_WIDTH, '-')
    _say(f'[{bar}] {done}/{changes} {text}')


def _say(text: str, end: str = '\n') -> None:
    """Print a message on standard error; standard output has the table."""
    print(printable(text), end=end, file=sys.stderr, flush=True)
