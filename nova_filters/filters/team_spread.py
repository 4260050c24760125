# SPDX-License-Identifier: Apache-2.0

"""The host filter ``TeamSpreadFilter``: a hard limit for uneven teams."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import nova.conf
from nova.scheduler import filters
from oslo_log import log as logging

from nova_filters import plugin
from nova_filters.stacks import members
from nova_filters.weighers import teams
from os_placement_plugins import quoting, signature

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF

#: The scheduler hint and the extra spec that ask for a limit.
HINT: Final = 'max_skew'
EXTRA_SPEC: Final = 'nova_filters:max_skew'


# Nova carries no types.
class TeamSpreadFilter(
    plugin.Plugin,
    filters.BaseHostFilter,  # type: ignore[misc]
    teams.Teams,
):
    """Refuse hosts in places that would have too many members more."""

    RUN_ON_REBUILD = False

    def filter_all(
        self, filter_obj_list: Iterable[Any], spec_obj: Any
    ) -> Iterator[Any]:
        """Yield the hosts whose places stay within the limit.

        :param filter_obj_list: Nova's HostStates.
        :param spec_obj: Nova's RequestSpec.
        """
        hosts = list(filter_obj_list)
        team = self.group(spec_obj) or self.stack(spec_obj)
        limit = self._limit(spec_obj) if team else None
        if team is None or limit is None or members.POLICIES.get(team[0]):
            yield from hosts
            return
        try:
            found = self.survey(team, hosts, spec_obj, pack=False, strict=True)
            skews = found.skews()
            distances = found.distances(CONF.filter_scheduler.host_subset_size)
        except Exception as exc:
            # Nobody knows whether the limit would hold.
            LOG.error(
                'TeamSpreadFilter refuses every host: the members of the '
                'stack or server group could not be read. Check the databases '
                'of Nova: %s',
                teams.cause(exc),
                exc_info=not isinstance(exc, teams.AWAY),
            )
            return
        for host, skew, distance in zip(hosts, skews, distances, strict=True):
            if skew <= limit:
                # The weigher would miss the places that are refused.
                setattr(host, teams.DISTANCE, distance)
                yield host
            else:
                LOG.debug(
                    'TeamSpreadFilter refuses host %(host)s: its place would '
                    'have %(skew)d members more than the emptiest one, and '
                    '%(limit)d are allowed.',
                    {'host': host.host, 'skew': skew, 'limit': limit},
                )

    def _limit(self, request: Any) -> int | None:
        """Return the smallest limit that somebody asks for, if any does."""
        hints = plugin.field(request, 'scheduler_hints') or {}
        specs = plugin.field(request.flavor, 'extra_specs') or {}
        given = (
            *(signature.strings(hints.get(HINT)) or ()),
            *((specs[EXTRA_SPEC],) if EXTRA_SPEC in specs else ()),
        )
        found = [CONF.nova_filters.max_skew] * bool(CONF.nova_filters.max_skew)
        for text in given:
            if text.isdecimal() and int(text):
                found.append(int(text))
            else:
                LOG.warning(
                    'Instance %(uuid)s: the hint %(hint)s or the extra spec '
                    '%(spec)s is %(text)s, which is no number above 0. No '
                    'host passes. Correct it.',
                    {
                        'uuid': request.instance_uuid,
                        'hint': HINT,
                        'spec': EXTRA_SPEC,
                        'text': quoting.quote(text),
                    },
                )
                # Somebody wants a limit, and nobody knows which.
                return 0
        return min(found, default=None)
