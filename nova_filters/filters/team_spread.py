# SPDX-License-Identifier: Apache-2.0

"""The host filter ``TeamSpreadFilter``: a hard limit for the skew.

A team is a stack or a server group. The skew of a place is the number of a
team's members in the place, minus the number in the emptiest place.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

import nova.conf
from nova.scheduler import filters
from oslo_log import log as logging

from nova_filters import plugin
from nova_filters.spread import order
from nova_filters.weighers import teams
from os_placement_plugins import errors, quoting, signature

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF

#: The scheduler hint and the extra spec that ask for a limit.
HINT: Final = 'max_skew'
EXTRA_SPEC: Final = 'nova_filters:max_skew'
#: A valid limit. Its length is bounded, because int() raises an error for a
#: text of thousands of digits.
_LIMIT: Final = re.compile('0{0,9}[1-9][0-9]{0,5}')


# Nova has no type annotations, so mypy would report the base class.
class TeamSpreadFilter(
    plugin.Plugin,
    filters.BaseHostFilter,  # type: ignore[misc]
    teams.Teams,
):
    """Refuse each host whose place would have too many members of a team."""

    RUN_ON_REBUILD = False

    def filter_all(
        self, filter_obj_list: Iterable[Any], spec_obj: Any
    ) -> list[Any]:
        """Return the hosts whose places stay within the limit.

        :param filter_obj_list: Nova's HostStates.
        :param spec_obj: Nova's RequestSpec.
        :returns: the hosts that pass; never raises.
        """
        hosts = [*filter_obj_list]
        try:
            return self._within_limit(hosts, spec_obj)
        except Exception as exc:
            # Without the members, the limit cannot be checked.
            LOG.error(
                'TeamSpreadFilter refuses every host: the members of the '
                'stack or server group could not be read. Check the databases '
                'of Nova: %s',
                errors.one_line(exc),
                exc_info=not isinstance(exc, teams.AWAY),
            )
            return []

    def _within_limit(self, hosts: list[Any], request: Any) -> list[Any]:
        """Return the hosts that pass.

        :raises Exception: if the members cannot be read.
        """
        teams.FILTERED.scene = None
        team = self.group(request) or self.stack(request)
        if team is None or order.POLICIES.get(team[0]):
            return hosts
        limit = self._limit(request)
        if limit is None:
            return hosts
        if limit == 0:
            return []
        scene = self.see_members(team, hosts, request)
        sight = scene.sight
        if sight.unread:
            raise teams.Incomplete(f'not read: {", ".join(sight.unread)}')
        boots = sight.member is None or sight.member.turn.queue == order.BOOTS
        count = plugin.field(request, 'num_instances') or 1
        if count > 1 and boots:
            # For the next server of the request, Nova offers only the hosts
            # that passed for the previous server. So the filter would not see
            # all places.
            LOG.warning(
                'Instance %(instance)s: no host passes, because one request '
                'asks for %(count)d servers, and max_skew holds for servers '
                'with a request each. Boot them one by one.',
                {'instance': request.instance_uuid, 'count': count},
            )
            return []
        teams.FILTERED.scene = scene
        skews = self.locate_members(scene, pack=False).skews()
        passed = []
        for host, skew in zip(hosts, skews, strict=True):
            if skew <= limit:
                passed.append(host)
            else:
                LOG.debug(
                    'TeamSpreadFilter refuses host %(host)s: its place would '
                    'have %(skew)d members more than the emptiest one, and '
                    '%(limit)d are allowed.',
                    {'host': host.host, 'skew': skew, 'limit': limit},
                )
        return passed

    def _limit(self, request: Any) -> int | None:
        """Return the smallest limit of the server; None if it has no limit.

        :returns: 0 if a hint or an extra spec is not a valid limit.
        """
        hints = plugin.field(request, 'scheduler_hints') or {}
        specs = plugin.field(request.flavor, 'extra_specs') or {}
        texts = [*(signature.strings(hints.get(HINT)) or ())]
        if EXTRA_SPEC in specs:
            texts.append(specs[EXTRA_SPEC])
        limits = []
        if CONF.nova_filters.max_skew:
            limits.append(CONF.nova_filters.max_skew)
        for text in texts:
            if _LIMIT.fullmatch(text):
                limits.append(int(text))
                continue
            LOG.warning(
                'Instance %(uuid)s: the hint %(hint)s or the extra spec '
                '%(spec)s is %(text)s, which is no number from 1 to 999999. '
                'No host passes. Correct it.',
                {
                    'uuid': request.instance_uuid,
                    'hint': HINT,
                    'spec': EXTRA_SPEC,
                    'text': quoting.quote(text),
                },
            )
            # A limit is requested, but its value cannot be read.
            return 0
        return min(limits, default=None)
