# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The host weigher ``StackAffinityWeigher``: spread or pack one stack."""

from collections.abc import Sequence
from typing import Any

import nova.conf
import sqlalchemy as sa
from nova import context as nova_context
from nova.db.api import api as api_db
from nova.db.api import models
from nova.scheduler import utils, weights
from oslo_log import log as logging

from nova_filters import conf, stack_hints, stack_map

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF
conf.register_opts(CONF)


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def _read_roots(context: Any, uuids: list[str]) -> dict[str, str | None]:
    """Return the root stacks of instances, from the API database."""
    table = models.RequestSpec
    query = sa.select(table.instance_uuid, table.spec).where(
        table.instance_uuid.in_(uuids)
    )
    # A row holds some KiB, and a scheduler that has just started asks for
    # every instance there is: read on, do not pile up.
    rows = context.session.execute(query.execution_options(yield_per=500))
    return {
        uuid: stack_hints.read_stored(spec).root_stack_id
        for uuid, spec in rows
    }


def _option(name: str) -> Any:
    """Return an option, or its default if nova.conf has a wrong value."""
    try:
        return CONF.nova_filters[name]
    except ValueError:
        return conf.DEFAULTS[name]


def _check_option(name: str) -> None:
    """Say once, when nova-scheduler starts, that an option is wrong."""
    try:
        CONF.nova_filters[name]  # noqa: B018 - reading it is the check
    except ValueError as exc:
        LOG.error(
            'Option %(option)s in [%(group)s] cannot be used: %(error)s. The '
            'default, %(default)s, is in force; correct nova.conf and '
            'restart nova-scheduler.',
            {
                'option': name,
                'group': conf.GROUP.name,
                'error': exc,
                'default': conf.DEFAULTS[name],
            },
        )


def _load(uuids: list[str]) -> dict[str, str | None]:
    """Return the root stacks of instances that are not known yet."""
    found: dict[str, str | None] = _read_roots(
        nova_context.get_admin_context(), uuids
    )
    return found


# Nova carries no types.
class StackAffinityWeigher(weights.BaseHostWeigher):  # type: ignore[misc]
    """Prefer or avoid the hosts where a server's stack already runs.

    Soft by nature: several schedulers do not see each other's choices at
    once. For a hard rule there is OS::Nova::ServerGroup.
    """

    def __init__(self) -> None:
        super().__init__()
        # A weigher that raises here keeps nova-scheduler from starting.
        for name in ('stack_map_size', 'stack_affinity_weight_multiplier'):
            _check_option(name)
        self._stacks = stack_map.StackMap(_option('stack_map_size'))

    def weight_multiplier(self, host_state: Any) -> float:
        """Return how strongly members of a stack attract each other.

        :param host_state: Nova's HostState; its aggregates may override the
            option.
        :returns: positive to pack, negative to spread.
        """
        return float(
            utils.get_weight_multiplier(
                host_state,
                'stack_affinity_weight_multiplier',
                _option('stack_affinity_weight_multiplier'),
            )
        )

    def weigh_objects(
        self, weighed_obj_list: Sequence[Any], weight_properties: Any
    ) -> list[float]:
        """Count the members of the server's root stack on each host.

        :param weighed_obj_list: Nova's WeighedHosts.
        :param weight_properties: Nova's RequestSpec.
        :returns: the counts; zeros if the server belongs to no stack or the
            stacks cannot be read; never raises.
        """
        hosts = [list(weighed.obj.instances) for weighed in weighed_obj_list]
        try:
            if 'scheduler_hints' not in weight_properties:
                return [0.0] * len(hosts)
            hints = weight_properties.scheduler_hints
            root = stack_hints.read(hints).root_stack_id
            if root is None:
                return [0.0] * len(hosts)
            everybody = {uuid for uuids in hosts for uuid in uuids}
            roots = self._stacks.roots(everybody, _load)
        except Exception as exc:
            LOG.warning(
                'StackAffinityWeigher has no say in this request: the stacks '
                'of the instances could not be read. Check [api_database] '
                'connection in the nova.conf of the scheduler: %(error)s',
                {'error': exc},
            )
            return [0.0] * len(hosts)
        return [
            float(sum(roots[uuid] == root for uuid in uuids))
            for uuids in hosts
        ]

    def _weigh_object(self, obj: Any, weight_properties: Any) -> float:
        """Count the members of the server's root stack on one host."""
        weighed = weights.WeighedHost(obj, 0.0)
        return self.weigh_objects([weighed], weight_properties)[0]
