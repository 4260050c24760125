# SPDX-License-Identifier: Apache-2.0

"""The provider that spreads the members of named groups over places."""

from collections.abc import Mapping

from oslo_config import cfg

from heat_hints.deciding import plan
from heat_hints.providers import ProviderError, Request
from os_placement_plugins.stack_hints import PLACE, HintValue

#: The hints with the name of the group and with the rank of the member. A
#: signature covers these hints, because their names begin with ``heat_``.
GROUP = 'heat_group'
RANK = 'heat_group_rank'

#: The longest name of a group.
MAX_LENGTH = 255


class GroupProvider:
    """Send the group, the rank and the place of each member.

    The group is named in the metadata of the server, or else in the metadata
    of a resource that creates a nested stack with the server. If there are
    several such resources, the nearest resource counts. All servers of the
    nested stack then go to one place.

    :param conf: the configuration, with ``[heat_hints] group_places``.
    :raises ProviderError: if the option is not set.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.check(conf)
        self._places = tuple(conf.heat_hints.group_places)

    @classmethod
    def check(cls, conf: cfg.ConfigOpts) -> None:
        """Raise a :class:`ProviderError` if there are no places."""
        if not conf.heat_hints.group_places:
            raise ProviderError(
                '[heat_hints] group_places is not set: give the places that '
                'the members of a group take in turn'
            )

    def hints(self, request: Request) -> Mapping[str, HintValue]:
        """Return the hints of a member; none for other resources.

        :raises ProviderError: if the siblings are not known, or the name of
            the group is too long.
        """
        member = self._find_member(request)
        if member is None:
            return {}
        if len(member.group) > MAX_LENGTH:
            raise ProviderError(
                f'the name of the group has {len(member.group)} characters, '
                f'more than {MAX_LENGTH}'
            )
        return {
            GROUP: member.group,
            RANK: str(member.rank),
            PLACE: member.place,
        }

    def _find_member(self, request: Request) -> plan.Member | None:
        """Return the server, or the nearest resource above, with a group.

        :returns: None if neither names a group.
        """
        name = request.resource_name
        for above, step in enumerate(reversed(request.path)):
            member = plan.find_member(
                request.siblings(above),
                name,
                request.root_stack_id or '',
                self._places,
            )
            if member is not None or step.resource is None:
                return member
            name = step.resource
        return None
