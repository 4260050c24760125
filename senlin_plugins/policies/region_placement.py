# SPDX-License-Identifier: Apache-2.0

"""The region placement policy, version 1.0 of its specification."""

import collections
import itertools
import random
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import consts, schema
from senlin.common import exception as exc
from senlin.db import api as db_api

from senlin_plugins import conf
from senlin_plugins.planning import apportionment, selection, sizing
from senlin_plugins.policies import catalog, common
from senlin_plugins.profiles import regions

LOG = logging.getLogger(__name__)

DELETION_TYPES = ('senlin_plugins.policy.deletion', 'senlin.policy.deletion')


class RegionPlacementPolicy(common.PlacementPolicy):
    """Spread the nodes of a cluster over regions, by weight and cap."""

    ENABLED_AS = conf.REGION_PLACEMENT
    IN_TREE_TYPE = 'senlin.policy.region_placement'
    BOTH_WOULD = 'plans regions'

    VERSION = '1.0'
    VERSIONS = {'1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}

    #: After the affinity and zone policies (300), whose placements it
    #: completes; before the deletion policy (400), which follows its plan.
    PRIORITY = 350

    TARGET = [
        ('BEFORE', consts.CLUSTER_SCALE_OUT),
        ('BEFORE', consts.CLUSTER_SCALE_IN),
        ('BEFORE', consts.CLUSTER_RESIZE),
        ('BEFORE', consts.NODE_CREATE),
        # Not in the specification: with check_capacity, a recovery creates
        # nodes, and they need a region like any other.
        ('BEFORE', consts.CLUSTER_RECOVER),
    ]

    PROFILE_TYPE = ['ANY']

    KEYS = (REGIONS,) = ('regions',)

    REGION_KEYS = (NAME, WEIGHT, CAP) = ('name', 'weight', 'cap')

    properties_schema = {
        REGIONS: schema.List(
            'Regions to spread the nodes over.',
            required=True,
            schema=schema.Map(
                'A region.',
                schema={
                    NAME: schema.String('Name of a region.', required=True),
                    WEIGHT: common.WholeNumber(
                        'Weight of the region. The default is 100.',
                        default=apportionment.DEFAULT_WEIGHT,
                    ),
                    CAP: common.WholeNumber(
                        'Maximum number of nodes in this region. The '
                        'default is -1 which means no cap set.',
                        default=apportionment.NO_CAP,
                    ),
                },
            ),
        ),
    }

    @property
    def spec_regions(self) -> list[apportionment.Region]:
        """The regions of the spec, in the order of the spec."""
        return [
            apportionment.Region(r[self.NAME], r[self.WEIGHT], r[self.CAP])
            for r in self.properties[self.REGIONS]
        ]

    def find_problem(self) -> str:
        """Say what is wrong with the regions, or return an empty string."""
        return apportionment.find_problem(self.spec_regions)

    def validate(self, context: Any, validate_props: bool = False) -> bool:
        """Check the spec, and that Keystone knows the regions.

        :param context: the request's context.
        :param validate_props: whether to ask Keystone.
        :raises: ``InvalidSpec`` with what is wrong and what is accepted.
        """
        super().validate(context, validate_props)
        if not validate_props:
            return True
        names = sorted(region.name for region in self.spec_regions)
        keystone = self.keystone(context.user_id, context.project_id)
        unknown = sorted(set(names) - set(keystone.validate_regions(names)))
        if unknown:
            raise exc.InvalidSpec(
                message=f"The specified regions '{unknown}' could not be "
                'found.'
            )
        return True

    def find_obstacle(self, cluster: Any) -> str:
        """Say why the plan could not take effect on a cluster.

        :param cluster: the engine's cluster object.
        :returns: what to do about it, or an empty string.
        :raises: ``InvalidSpec`` when policies of this type are disabled.
        """
        obstacle = super().find_obstacle(cluster)
        profile = cluster.rt['profile']
        if obstacle or _is_aware(profile):
            return obstacle
        reason = (
            f"Profile '{profile.name}' of type '{profile.type}' creates "
            'all nodes in one region, whatever the policy decides: '
            "use a profile of type 'senlin_plugins.nova.server' or "
            "'senlin_plugins.heat.stack'."
        )
        if cfg.CONF[conf.GROUP].unaware_profile == conf.REFUSE:
            return reason
        LOG.warning(
            "Policy '%(policy)s' only plans for cluster %(cluster)s. "
            '%(reason)s',
            {'policy': self.name, 'cluster': cluster.id, 'reason': reason},
        )
        return ''

    @common.answering_errors
    def pre_op(self, cluster_id: str, action: Any) -> None:
        """Decide which regions nodes come to or leave (S1 to S4).

        :param cluster_id: the cluster's id.
        :param action: the action; the decision goes into its data.
        """
        cluster = common.cluster_of(action, cluster_id)
        profile = cluster.rt['profile']
        if action.action == consts.NODE_CREATE:
            profile = action.entity.rt['profile']
            change = sizing.Change(True, 1)
        elif action.action == consts.CLUSTER_RECOVER:
            missing = sizing.recovering(
                action.inputs, len(cluster.nodes), cluster.desired_capacity
            )
            change = sizing.Change(True, missing)
        else:
            change = common.change_of(action, cluster)
        if not change.count:
            return
        if change.growing and regions.own_region(profile):
            # The profile's region takes precedence (S4), also when the
            # nodes are created by a scaling of the cluster.
            LOG.debug(
                "Profile '%(profile)s' fixes region '%(region)s'.",
                {
                    'profile': profile.name,
                    'region': regions.own_region(profile),
                },
            )
            return
        usable = self._usable_regions(cluster, profile)
        # After Keystone has answered: the nodes are as of now.
        nodes = common.nodes_of(action, cluster)
        homes = common.regions_of(action, cluster, nodes)
        if change.growing:
            current = collections.Counter(
                itertools.compress(homes, map(_counts, nodes))
            )
            self._grow(action, profile, usable, current, change.count)
        else:
            self._shrink(action, cluster, usable, nodes, homes, change.count)
        common.answer(action)

    def _grow(
        self,
        action: Any,
        profile: Any,
        usable: list[apportionment.Region],
        current: Mapping[str, int],
        count: int,
    ) -> None:
        """Write ``creation`` and make it happen."""
        plan = _plan(apportionment.grow(usable, current, count))
        action.data['creation'] = {
            **(action.data.get('creation') or {}),
            'count': count,
            'regions': plan,
        }
        targets = [name for name in plan for _ in range(plan[name])]
        if not _is_aware(profile):
            LOG.warning(
                'The plan for action %(action)s has no effect: profile '
                "'%(profile)s' of type '%(type)s' is not region-aware.",
                {
                    'action': action.id,
                    'profile': profile.name,
                    'type': profile.type,
                },
            )
        elif action.action == consts.NODE_CREATE:
            regions.record_region(action.entity, targets[0])
        else:
            placement = action.data.get('placement') or {}
            action.data['placement'] = _merge(placement, targets)

    def _shrink(
        self,
        action: Any,
        cluster: Any,
        usable: list[apportionment.Region],
        nodes: list[Any],
        homes: list[str],
        count: int,
    ) -> None:
        """Write ``deletion``, with candidates if nobody else will."""
        # A region of the spec that is out of reach now is left alone.
        held = {region.name for region in self.spec_regions}
        held -= {region.name for region in usable}
        current = collections.Counter(
            region for region in homes if region not in held
        )
        plan = _plan(apportionment.shrink(usable, current, count))
        deletion = {
            **(action.data.get('deletion') or {}),
            'count': count,
            'regions': plan,
        }
        if not self._has_deletion_policy(action, cluster):
            chosen = selection.select(
                nodes,
                count,
                selection.Criterion.RANDOM,
                # Nobody gains from guessing which nodes leave.
                random.Random(),  # noqa: S311
                homes,
                plan,
            )
            deletion['candidates'] = list(chosen.candidates)
        action.data['deletion'] = deletion

    def _usable_regions(
        self, cluster: Any, profile: Any
    ) -> list[apportionment.Region]:
        """Return the regions of the spec that nodes can be created in."""
        keystone = self.keystone(cluster.user, cluster.project)
        names = [region.name for region in self.spec_regions]
        known = set(keystone.validate_regions(names))
        if cfg.CONF[conf.GROUP].check_catalog and _is_aware(profile):
            services = profile.required_services()
            known = {n for n in known if catalog.offers(keystone, n, services)}
        return [region for region in self.spec_regions if region.name in known]

    @staticmethod
    def _has_deletion_policy(action: Any, cluster: Any) -> bool:
        """Tell whether an enabled policy will choose the candidates."""
        attached = [
            policy.id
            for type_name in DELETION_TYPES
            for policy in common.policies_of_type(cluster, type_name)
        ]
        if not attached:
            return False
        # The rows, because each binding *object* reads the whole cluster
        # with all its nodes again.
        enabled = db_api.cluster_policy_get_all(
            action.context, cluster.id, filters={'enabled': True}
        )
        return any(binding.policy_id in attached for binding in enabled)


def _is_aware(profile: Any) -> bool:
    """Tell whether a profile creates nodes where they are placed."""
    return bool(getattr(profile, 'REGION_AWARE', False))


def _counts(node: Any) -> bool:
    """Tell whether a node is anywhere yet.

    A node that waits for its own NODE_CREATE is a member of the cluster
    already, but nobody has decided on its region.
    """
    settled = bool(node.status != consts.NS_INIT)
    return settled or regions.recorded_region(node) is not None


def _plan(outcome: apportionment.Outcome) -> dict[str, int]:
    """Return the plan of an outcome, or refuse with its reason."""
    if not outcome.feasible:
        raise common.Refused(outcome.reason)
    return dict(outcome.plan)


def _merge(placement: dict[str, Any], targets: list[str]) -> dict[str, Any]:
    """Give each new node its region, and keep what others decided for it."""
    others = placement.get('placements') or []
    others = [*others, *({} for _ in targets)]
    return {
        **placement,
        'count': len(targets),
        'placements': [
            {**entry, 'region_name': name}
            for entry, name in zip(others, targets, strict=False)
        ],
    }
