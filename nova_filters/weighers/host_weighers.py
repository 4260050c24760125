# SPDX-License-Identifier: Apache-2.0

"""The host weighers, none of which makes a request fail."""

import functools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import nova.conf
from nova.scheduler import utils, weights
from oslo_log import log as logging

from nova_filters import plugin
from nova_filters.matching import preferences
from nova_filters.stacks import members
from nova_filters.weighers import teams
from os_placement_plugins import quoting, stack_hints

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF


# Nova carries no types.
class Weigher(plugin.Plugin, weights.BaseHostWeigher):  # type: ignore[misc]
    """A weigher that never makes a request fail."""

    #: The option, and the metadata key of aggregates.
    multiplier: ClassVar[str]

    def weight_multiplier(self, host_state: Any) -> float:
        """Return how strongly this weigher counts beside others.

        :param host_state: Nova's HostState; its aggregates may override the
            option.
        """
        default = float(CONF.nova_filters[self.multiplier])
        value = utils.get_weight_multiplier(
            host_state, self.multiplier, default
        )
        if math.isfinite(value):
            return float(value)
        LOG.warning(
            'An aggregate of host %(host)s has %(name)s=%(value)s, which is '
            'not finite. The option of this name in [nova_filters] is in '
            'force there; write a number into the metadata.',
            {'host': host_state.host, 'name': self.multiplier, 'value': value},
        )
        return default

    def weigh_objects(
        self, weighed_obj_list: Sequence[Any], weight_properties: Any
    ) -> list[float]:
        """Return the weights of hosts; zeros if it is left out.

        :param weighed_obj_list: Nova's WeighedHosts.
        :param weight_properties: Nova's RequestSpec.
        """
        hosts = [host.obj for host in weighed_obj_list]
        name = type(self).__name__
        try:
            return self._weigh(hosts, weight_properties)
        except teams.AWAY as exc:
            LOG.warning(
                '%(name)s is left out of this request: the members of the '
                'stack or server group could not be read. Check '
                '[api_database] connection in the nova.conf of the '
                'scheduler: %(error)s',
                {'name': name, 'error': teams.cause(exc)},
            )
        except Exception:
            message = '%s is left out of this request. Report this traceback.'
            LOG.exception(message, name)
        return [0.0] * len(hosts)

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return the weights of Nova's HostStates."""
        raise NotImplementedError

    def _weigh_object(self, obj: Any, weight_properties: Any) -> float:
        """Return the weight of one host."""
        return self._weigh([obj], weight_properties)[0]


class PreferenceWeigher(Weigher):
    """Prefer hosts as the filter chooses them, with points, not verdicts."""

    multiplier = 'preference_weight_multiplier'

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return the points of Nova's HostStates."""
        judge = preferences.Preferences(
            request.flavor.extra_specs,
            tuple(CONF.nova_filters.exempt_metadata_keys),
        )
        if judge.problems:
            LOG.warning(
                'Instance %(instance)s: these preferences do not count; '
                'correct the flavor: %(problems)s',
                {
                    'instance': request.instance_uuid,
                    'problems': '; '.join(judge.problems),
                },
            )
        score = functools.cache(judge.score)
        return [float(score(frozenset(h.aggregates or ()))) for h in hosts]


class StackPlaceWeigher(Weigher, teams.Teams):
    """Prefer the hosts in the place that a provider planned for a server."""

    multiplier = 'stack_place_weight_multiplier'

    def weight_multiplier(self, host_state: Any) -> float:
        """Return the option: a place is planned for the whole cloud."""
        return float(CONF.nova_filters[self.multiplier])

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return 1 for each host in the planned place, 0 for others."""
        hints = stack_hints.read_request(request, self._keys)
        if hints.place is None:
            return [0.0] * len(hosts)
        found = [
            any(
                hints.place == self.shared(host.aggregates or (), level)
                for level in self._levels
            )
            for host in hosts
        ]
        if not any(found):
            LOG.info(
                'No candidate host of resource %(resource)s of stack '
                '%(stack)s is in the planned place %(place)s. Nova uses '
                'another place.',
                {
                    'resource': quoting.quote(hints.resource_name),
                    'stack': quoting.quote(hints.stack_id),
                    'place': quoting.quote(hints.place),
                },
            )
        return [float(one) for one in found]


class TeamWeigher(Weigher, teams.Teams):
    """Place the members of a team in the order of their requests."""

    def team(self, request: Any) -> members.Team | None:
        """Return the team that Nova's RequestSpec belongs to, if any."""
        raise NotImplementedError

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return 0 for the right place, or 1 if the multiplier is positive."""
        team = self.team(request)
        multipliers = [self.weight_multiplier(host) for host in hosts if team]
        if team is None or not any(multipliers):
            return [0.0] * len(hosts)
        pack = min(multipliers) > 0
        # A filter may have left only some of the places.
        known = [vars(host).get(teams.DISTANCE) for host in hosts]
        found = [one for one in known if one is not None]
        if len(found) < len(hosts):
            found = self.survey(team, hosts, request, pack).distances(
                CONF.filter_scheduler.host_subset_size
            )
        return [1.0 - one for one in found] if pack else found


class StackAffinityWeigher(TeamWeigher):
    """Prefer or avoid the places where a server's stack already is."""

    multiplier = 'stack_affinity_weight_multiplier'
    team = teams.Teams.stack


class ServerGroupWeigher(TeamWeigher):
    """Follow the soft policy of a server group while its servers start."""

    multiplier = 'server_group_weight_multiplier'
    team = teams.Teams.group
