# SPDX-License-Identifier: Apache-2.0

"""The limits of a cluster's size.

Senlin's engine has the same rule, and the same texts. But the engine checks
the size only after it has called the policies: then a server has left its load
balancer already. If a policy has decided how many nodes a resize adds, the
engine does not check the size at all. A webhook may ask for a billion nodes,
and a plan would have an entry for each of them.
"""

import dataclasses

#: A cluster with this ``max_size`` has no maximum. Senlin's engine treats 0 in
#: the same way.
NO_MAXIMUM = -1


@dataclasses.dataclass(frozen=True)
class Limits:
    """The sizes that Senlin allows.

    :param min_size: the ``min_size`` of the cluster.
    :param max_size: the ``max_size`` of the cluster.
    :param max_nodes: ``max_nodes_per_cluster`` in senlin.conf; ``None`` if it
        does not count.
    """

    min_size: int = 0
    max_size: int = NO_MAXIMUM
    max_nodes: int | None = None

    def describe_violation(self, size: int) -> str:
        """Return which limit a size violates, in Senlin's words.

        :param size: the number of nodes that the cluster would have.
        :returns: the text; empty if the size is within the limits.
        """
        if self.max_nodes is not None and size > self.max_nodes:
            return (
                f'The target capacity ({size}) is greater than the maximum '
                f'number of nodes allowed per cluster ({self.max_nodes}).'
            )
        if size < self.min_size:
            return (
                f'The target capacity ({size}) is less than the '
                f"cluster's min_size ({self.min_size})."
            )
        if 0 < self.max_size < size:
            return (
                f'The target capacity ({size}) is greater than the '
                f"cluster's max_size ({self.max_size})."
            )
        return ''
