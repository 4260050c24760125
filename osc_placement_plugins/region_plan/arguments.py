# SPDX-License-Identifier: Apache-2.0

"""The cluster, the policy and the change that a command line names."""

import argparse
import re
from collections.abc import Iterable
from typing import Any

import yaml
from osc_lib import exceptions

from osc_placement_plugins.region_plan.live_cluster import ClusterReader
from osc_placement_plugins.source import files
from senlin_plugins.planning import plan, spec, values
from senlin_plugins.planning.limits import Limits
from senlin_plugins.planning.plan import Snapshot
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.spec import Spec

#: A plan takes one node after another: this many take a second.
LARGEST_CHANGE = 100_000
#: A number of nodes.
_DIGITS = re.compile('[0-9]+')


def read_snapshot(
    parsed_args: argparse.Namespace, reader: ClusterReader | None
) -> Snapshot:
    """Return the cluster before the change.

    :param reader: a reader of a cloud; None if the command line names nothing
        in a cloud.
    :raises CommandError: if the input is wrong.
    """
    growing = parsed_args.scale_out is not None
    option = '--scale-in'
    number = parsed_args.scale_in
    if growing:
        option = '--scale-out'
        number = parsed_args.scale_out
    count = values.parse_number(number, option, 1)
    if count > LARGEST_CHANGE:
        shown = str(number)[: values.SHOWN]
        raise values.WrongValue(
            f"{option} is '{shown}': it must be {LARGEST_CHANGE} or less."
        )
    change = Change(growing, count)
    cluster = None
    if reader and parsed_args.cluster:
        cluster = reader.find_cluster(parsed_args.cluster)
    regions = _read_policy(parsed_args, reader, cluster).regions
    names = [region.name for region in regions]
    strangers = sorted({*parsed_args.without}.difference(names))
    if strangers:
        raise exceptions.CommandError(
            f'--without names {", ".join(strangers)}; the regions of the '
            f'policy are {", ".join(names)}'
        )
    # The limit of senlin.conf is not known here.
    limits = Limits()
    nodes: list[Node] = []
    current = _read_current(parsed_args.current)
    if reader and cluster:
        limits = Limits(cluster.min_size, cluster.max_size)
        nodes = reader.read_nodes(cluster)
        current = plan.count_by_region(nodes)
    return Snapshot(
        change, regions, current, parsed_args.without, nodes, limits
    )


def _read_policy(
    parsed_args: argparse.Namespace,
    reader: ClusterReader | None,
    cluster: Any,
) -> Spec:
    if parsed_args.spec:
        with files.reading(parsed_args.spec):
            text = files.read_text(parsed_args.spec)
            return spec.parse_regions(yaml.safe_load(text))
    if reader and parsed_args.policy:
        return reader.find_policy(parsed_args.policy)
    if reader and cluster:
        return reader.read_attached_policy(cluster)
    raise exceptions.CommandError(
        'Which regions? Name them with --spec or --policy'
    )


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
