# SPDX-License-Identifier: Apache-2.0

"""A cluster of the embedded Senlin, and what is attached to it."""

from typing import Any

from testing.senlin import engine


class Cluster:
    """A cluster, made through REST.

    :param senlin: the running services.
    :param policy: the type of the policy that places its nodes.
    :param profile: the type of their profile.
    :param regions: the policy's property of this name.
    """

    def __init__(
        self,
        senlin: engine.Engine,
        policy: str,
        profile: str,
        regions: list[dict[str, Any]],
    ) -> None:
        self.senlin = senlin
        # The in-tree policy fails on NODE_CREATE when the profile has no
        # context, so each gets an empty one.
        self.profile_id = senlin.profile(
            profile, flavor='small', networks=[], context={}
        )
        self.id = senlin.cluster(self.profile_id)
        self.attach(policy, {'regions': regions})

    def attach(self, policy: str, properties: dict[str, Any]) -> None:
        """Create a policy and attach it.

        :raises RuntimeError: when it cannot be attached.
        """
        policy_id = self.senlin.policy(policy, properties)
        action = self.senlin.attach(self.id, policy_id)
        if action['status'] != 'SUCCEEDED':
            raise RuntimeError(f'{policy}: {action["status_reason"]}')

    def start(self, name: str, **arguments: object) -> str:
        """Start an action and return its id; 'node_create' is one, too."""
        if name == 'node_create':
            return self.senlin.start_node(self.id, self.profile_id)[0]
        return self.senlin.start(self.id, name, **arguments)

    def nodes(self) -> list[dict[str, Any]]:
        """Return the nodes as the API shows them."""
        return self.senlin.nodes(self.id)

    def servers(self) -> dict[str, int]:
        """Return region name -> servers that are really there."""
        return self.senlin.cloud.servers_of(self.id)
