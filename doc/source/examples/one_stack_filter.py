"""Keep hosts for one stack: those whose aggregates name its root stack."""

import nova.conf
from nova.scheduler import filters
from nova.scheduler.filters import utils

from nova_filters import conf
from os_placement_plugins import options, signature

CONF = nova.conf.CONF
options.register(CONF, conf.list_opts())


class OneStackFilter(filters.BaseHostFilter):
    def host_passes(self, host_state, spec_obj):
        stack_ids = utils.aggregate_values_from_key(host_state, 'root_stack')
        keys = signature.Keys(CONF.heat_hints.signing_key)
        root = keys.read_root_stack_id(
            spec_obj.scheduler_hints, spec_obj.project_id
        )
        return not stack_ids or root in stack_ids
