# SPDX-License-Identifier: Apache-2.0

"""Draw the way of a request through the code."""

from matplotlib import pyplot

#: A box: the column it stands in, the module, and what happens there.
Step = tuple[int, str, str]

#: The colours of the columns: the service, what binds, what decides.
COLOURS = '#dddddd', '#cfe5f2', '#d5efdf'


def draw(columns: tuple[str, ...], steps: tuple[Step, ...]) -> None:
    """Draw one way, from the top down.

    :param columns: who or what each column stands for, three at most.
    :param steps: the boxes, in the order in which they are reached.
    """
    size = 2.53 * len(columns), 0.6 * (len(steps) + 1)
    drawing, axis = pyplot.subplots(figsize=size)
    for place, name in enumerate(columns):
        axis.axvspan(place, place + 1, color=COLOURS[place], linewidth=0)
        axis.text(place + 0.5, 0.5, name, ha='center', va='center')
    for row, (place, module, text) in enumerate(steps, start=1):
        axis.text(
            *(place + 0.5, row + 0.5, f'{module}\n{text}'),
            ha='center',
            va='center',
            fontsize=8,
            bbox={'boxstyle': 'round', 'facecolor': 'white'},
        )
        if row > 1:
            before = steps[row - 2][0]
            axis.annotate(
                '',
                (place + 0.5, row + 0.2),
                (before + 0.5, row - 0.2),
                arrowprops={'arrowstyle': '->'},
            )
    axis.set(xlim=(0, len(columns)), ylim=(len(steps) + 1, 0))
    axis.axis('off')
    drawing.tight_layout(pad=0)


def action() -> None:
    """Draw how a scaling of a cluster gets its plan, and its servers."""
    draw(
        ('Senlin', 'binds: policies, profiles', 'decides: planning'),
        (
            (0, 'an action on a cluster', 'the policy check before it runs'),
            (1, 'region_policy', 'reads all facts, once'),
            (1, 'cluster, endpoints', 'nodes, change asked for, faults'),
            (2, 'planning.plan', 'a plan, candidates, or a refusal'),
            (1, 'action_data', "writes the action's data"),
            (0, 'an action on a node', 'the region is in its data'),
            (1, 'profiles', 'the clients of that region'),
        ),
    )


def boot() -> None:
    """Draw how the hosts for a server are filtered."""
    draw(
        ('Nova', 'binds: filters', 'decides: matching'),
        (
            (0, 'a boot request', 'the hosts that Placement allows'),
            (1, 'filters.aggregate_instance_type', 'reads flavor and hosts'),
            (2, 'matching.inputs', "the flavor's extra specs"),
            (2, 'matching.matcher', 'each distinct aggregate, once'),
            (2, 'matching.requirement', 'what one value means'),
            (2, 'matching.statements', 'a mismatch, or none'),
            (1, 'filters.aggregate_instance_type', 'the hosts that pass'),
            (2, 'matching.mismatch, matching.report', 'what the log says'),
            (0, 'the weighers', 'choose among the hosts'),
        ),
    )


def senlin() -> None:
    """Draw the way of an action on a cluster, for an operator."""
    draw(
        ('Senlin', 'this package'),
        (
            (0, 'a request', 'the cluster grows or shrinks'),
            (1, 'region placement policy', 'plans how many nodes, and where'),
            (1, 'deletion policy', 'chooses the nodes that leave'),
            (0, 'actions on nodes', 'one for each node'),
            (1, 'profile', 'calls the region of the node'),
            (0, 'Nova or Heat', 'creates or deletes, in that region'),
        ),
    )


def nova() -> None:
    """Draw the way of a boot request, for an operator."""
    draw(
        ('Nova', 'AggregateInstanceTypeFilter'),
        (
            (0, 'a boot request', 'Placement returns hosts'),
            (1, "the flavor's check", "do the host's aggregates meet it?"),
            (1, "the aggregates' demand", 'does the flavor meet it?'),
            (1, 'the log', 'the reasons, if no host is left'),
            (0, 'the weighers', 'choose among the hosts that pass'),
            (0, 'nova-compute', 'boots the server'),
        ),
    )


def heat() -> None:
    """Draw the way of a stack's server, for an operator."""
    draw(
        ('Heat and Nova', 'this package'),
        (
            (0, 'a template', 'heat-engine creates a server'),
            (1, 'heat_hints', 'adds the hints, and signs them'),
            (0, "Nova's API", 'stores the hints'),
            (1, 'StackAffinityWeigher', 'counts the stack on each host'),
            (0, 'nova-scheduler', 'spreads or packs the stack'),
        ),
    )
