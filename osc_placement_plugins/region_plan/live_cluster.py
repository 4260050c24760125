# SPDX-License-Identifier: Apache-2.0

"""Read a cluster, its policy and its profile through the SDK."""

from typing import Any

from osc_lib import exceptions

from senlin_plugins.planning import node_region, spec
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.spec import Spec

WITHOUT_POLICY = (
    "Cluster '{}' has no region placement policy that is enabled: name one "
    'with --policy or --spec'
)


class ClusterReader:
    """Read what a plan needs from a cloud.

    :param default_region: Senlin's ``default_region_name``, which the API does
        not show; ``None`` if it is not known.
    """

    def __init__(self, connection: Any, default_region: str | None) -> None:
        self._clustering = connection.clustering
        self._default_region = default_region
        #: Sentences for the user.
        self.warnings: list[str] = []

    def find_cluster(self, name: str) -> Any:
        cluster = self._clustering.find_cluster(name, ignore_missing=False)
        profile = self._clustering.get_profile(cluster.profile_id)
        type_name = profile.spec['type']
        if type_name not in node_region.MAKERS:
            self.warnings.append(
                f'Profiles of type {type_name!r} are not from this package: '
                'if they create all nodes in one region, the plan has no '
                'effect.'
            )
        return cluster

    def find_policy(self, name: str) -> Spec:
        policy = self._clustering.find_policy(name, ignore_missing=False)
        parsed = spec.parse_regions(policy.spec)
        if not parsed.effective:
            self.warnings.append(
                "The policy is Senlin's own, whose plans have no effect. "
                f'This is what {spec.TYPES[0]} would do.'
            )
        return parsed

    def read_attached_policy(self, cluster: Any) -> Spec:
        """Return the spec of the policy that is enabled for a cluster.

        :raises CommandError: if no region placement policy is enabled.
        """
        enabled = {}
        for binding in self._clustering.cluster_policies(cluster):
            if binding.is_enabled:
                policy_type = str(binding.policy_type).rpartition('-')[0]
                enabled[policy_type] = binding.policy_id
        for policy_type in spec.TYPES:
            if policy_type in enabled:
                return self.find_policy(enabled[policy_type])
        raise exceptions.CommandError(WITHOUT_POLICY.format(cluster.name))

    def read_nodes(self, cluster: Any) -> list[Node]:
        """Return the nodes of a cluster, each in the region where it counts.

        :raises CommandError: if the region of a node cannot be determined.
        """
        rows = [*self._clustering.nodes(cluster_id=cluster.id)]
        contexts = {}
        for profile_id in node_region.unrecorded_profiles(rows):
            profile_spec = self._clustering.get_profile(profile_id).spec
            properties = profile_spec.get('properties') or {}
            contexts[profile_id] = properties.get('context')
        regions = node_region.counted_regions(
            rows, contexts, self._default_region
        )
        unknown = regions.count('')
        if unknown:
            raise exceptions.CommandError(
                f'{unknown} node(s) of the cluster have no recorded region: '
                'say with --default-region what default_region_name in '
                'senlin.conf is'
            )
        return [
            Node(
                id=row.id,
                region=region,
                status=row.status,
                tainted=bool(row.tainted),
                created_at=row.created_at,
            )
            for row, region in zip(rows, regions, strict=True)
        ]
