# SPDX-License-Identifier: Apache-2.0

"""Random clusters, policies and changes."""

from hypothesis import strategies as st

from senlin_plugins.planning.limits import Limits
from senlin_plugins.planning.plan import Snapshot, count_by_region
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.spec import Region

NAMES = 'ABCDE'
REGIONS = st.lists(
    st.builds(
        Region, st.sampled_from(NAMES), st.integers(0, 5), st.integers(-1, 6)
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda region: region.name,
)
NODES = st.lists(st.sampled_from(NAMES), max_size=12).map(
    lambda names: [
        Node(str(i), name, position=i) for i, name in enumerate(names)
    ]
)
#: Regions out of reach.
GONE = st.sets(st.sampled_from(NAMES))
NO_LIMITS = Limits()
FEW = st.integers(1, 4)


def snapshot(regions, nodes, gone, change, limits=NO_LIMITS):
    current = count_by_region(nodes)
    return Snapshot(change, regions, current, gone, nodes, limits)
