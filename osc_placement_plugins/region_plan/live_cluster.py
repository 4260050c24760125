# SPDX-License-Identifier: Apache-2.0

"""Read a cluster, its policy and its profile through the SDK."""

from collections.abc import Collection
from typing import Any

from osc_lib import exceptions

from os_placement_plugins.errors import one_line
from osc_placement_plugins import output
from senlin_plugins import endpoints
from senlin_plugins.planning import node_region, spec
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.spec import Spec

WITHOUT_POLICY = (
    "Cluster '{}' has no region placement policy that is enabled: name one "
    'with --policy, --spec or --region'
)


class ClusterReader:
    """Read what a plan needs from a cloud.

    :param default_region: Senlin's ``default_region_name``, which the API does
        not show; ``None`` if it is not known.
    """

    def __init__(self, connection: Any, default_region: str | None) -> None:
        self._connection = connection
        self._clustering = connection.clustering
        self._default_region = default_region
        #: Sentences for the user.
        self.warnings: list[str] = []

    def find_cluster(self, name: str) -> Any:
        return self._clustering.find_cluster(name, ignore_missing=False)

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
            _, properties = self._read_profile(profile_id)
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

    def find_out_of_reach(
        self, cluster: Any, names: Collection[str], growing: bool
    ) -> set[str]:
        """Return the regions that a plan leaves alone.

        :param cluster: the cluster, whose profile needs services. If ``None``,
            the plan leaves alone only the regions that Keystone does not know.
        :param names: the regions in question.
        :param growing: whether the plan adds nodes.
        """
        services: list[str] = []
        ties: list[str] = []
        home = self._default_region
        if cluster is not None:
            type_name, properties = self._read_profile(cluster.profile_id)
            maker = node_region.MAKERS.get(type_name)
            if not maker:
                self.warnings.append(
                    f'Profiles of type {type_name!r} are not from this '
                    'package: if they create all nodes in one region, the '
                    'plan has no effect.'
                )
            elif growing:
                services = node_region.list_services(maker, properties)
                ties = node_region.list_ties(properties)
                fixed = node_region.fixed_region(properties.get('context'))
                home = fixed or home
            else:
                services = [maker]
        if ties and not home:
            self.warnings.append(
                f'The profile names the id of {ties[0]}, but no region: say '
                'with --default-region what default_region_name in '
                'senlin.conf is.'
            )
        faults = endpoints.find_faults(
            self._connection.session,
            self._find_known_regions(names),
            names,
            services,
            self._connection.config.get_interface(),
        )
        for name in node_region.excluded_by_ties(names, ties, home):
            faults.setdefault(name, f'the profile names the id of {ties[0]}')
        for name, fault in sorted(faults.items()):
            self.warnings.append(f'The policy leaves {name} out: {fault}.')
        return set(faults)

    def _find_known_regions(self, names: Collection[str]) -> Collection[str]:
        """Return Keystone's regions; ``names`` if they cannot be read."""
        try:
            regions = self._connection.identity.regions()
            return {region.id for region in regions}
        except output.CLOUD_ERRORS as exc:
            self.warnings.append(
                'The list of regions could not be read, so all regions of '
                f'the policy count as usable: {one_line(exc)}'
            )
            return names

    def _read_profile(self, profile_id: str) -> tuple[str, dict[str, Any]]:
        profile_spec = self._clustering.get_profile(profile_id).spec
        return profile_spec['type'], profile_spec.get('properties') or {}
