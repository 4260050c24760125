# SPDX-License-Identifier: Apache-2.0

"""Read the cluster, the policy and the change that a command line names."""

import argparse
import re
from collections.abc import Callable, Iterable
from typing import Any

import yaml
from osc_lib import exceptions

from osc_placement_plugins import files
from osc_placement_plugins.cluster import ClusterReader
from senlin_plugins.planning import plan, sizing, spec, values
from senlin_plugins.planning.limits import DEFAULT_MAX_NODES, Limits
from senlin_plugins.planning.node_region import NO_REGION
from senlin_plugins.planning.plan import Snapshot
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.spec import Spec

#: A number of nodes.
_DIGITS = re.compile('[0-9]+')


def read(
    parsed_args: argparse.Namespace,
    log_in: Callable[[], Any],
    warn: Callable[[str], None],
) -> Snapshot:
    """Return the cluster before the change.

    :param log_in: a function that returns the SDK's connection.
    :param warn: a function that shows a warning to the user.
    :raises CommandError: if the input is wrong.
    """
    change = _read_change(parsed_args)
    reader = None
    if parsed_args.cluster or parsed_args.policy:
        reader = ClusterReader(log_in(), warn, parsed_args.default_region)
    cluster = None
    if reader and parsed_args.cluster:
        cluster = reader.find_cluster(parsed_args.cluster)
    regions = _read_policy(parsed_args, reader, cluster).regions
    names = [region.name for region in regions]
    out_of_reach = set(parsed_args.without)
    if not out_of_reach <= set(names):
        strangers = sorted(out_of_reach - set(names))
        raise exceptions.CommandError(
            f'--without names {", ".join(strangers)}; the regions of the '
            f'policy are {", ".join(names)}'
        )
    nodes: list[Node] = []
    if reader and cluster:
        nodes = reader.read_nodes(cluster)
        current = plan.distribution(nodes)
    else:
        current = _read_current(parsed_args.current)
    if reader:
        occupied = [name for name in current if current[name]]
        out_of_reach |= reader.find_out_of_reach(
            cluster,
            {*names, *occupied} - out_of_reach - {NO_REGION},
            growing=change.growing,
        )
    limits = _read_limits(parsed_args, cluster)
    return Snapshot(change, regions, current, out_of_reach, nodes, limits)


def _read_limits(parsed_args: argparse.Namespace, cluster: Any) -> Limits:
    max_nodes = DEFAULT_MAX_NODES
    if parsed_args.max_nodes is not None:
        max_nodes = values.parse_number(
            parsed_args.max_nodes, '--max-nodes', 1
        )
    if cluster is None:
        return Limits(max_nodes=max_nodes)
    return Limits(cluster.min_size, cluster.max_size, max_nodes)


def _read_policy(
    parsed_args: argparse.Namespace,
    reader: ClusterReader | None,
    cluster: Any,
) -> Spec:
    if parsed_args.region:
        regions = spec.parse_region_options(parsed_args.region)
        return Spec(regions, effective=True)
    if parsed_args.spec:
        with files.reading(parsed_args.spec):
            text = files.read_text(parsed_args.spec)
            return spec.parse_regions(yaml.safe_load(text))
    if reader and parsed_args.policy:
        return reader.find_policy(parsed_args.policy)
    if reader and cluster:
        return reader.read_attached_policy(cluster)
    raise exceptions.CommandError(
        'Which regions? Name them with --region, --spec or --policy'
    )


def _read_change(parsed_args: argparse.Namespace) -> sizing.Change:
    if parsed_args.count is None:
        growing = parsed_args.scale_out is not None
        number = parsed_args.scale_out or parsed_args.scale_in
    else:
        growing = parsed_args.count[:1] == '+'
        number = parsed_args.count[1:]
        if not growing and parsed_args.count[:1] != '-':
            raise exceptions.CommandError(
                f"The value of --count is '{parsed_args.count}': write +3 to "
                'add three nodes, -3 to remove them'
            )
    return sizing.Change(growing, values.parse_number(number, "'count'", 1))


def _read_current(texts: Iterable[str]) -> dict[str, int]:
    current: dict[str, int] = {}
    for text in texts:
        name, _, count = text.rpartition('=')
        if not name or not _DIGITS.fullmatch(count) or name in current:
            raise exceptions.CommandError(
                f"The value of --current is '{text}': write NAME=COUNT, each "
                'name once'
            )
        current[name] = int(count)
    return current
