# SPDX-License-Identifier: Apache-2.0

"""The options of ``nova_filters``, in the ``nova.conf`` of the scheduler.

Importing this module does not import Nova.
"""

import math
import re
from typing import Any, Final

from oslo_config import cfg, types

from nova_filters.matching.inputs import SCOPE
from os_placement_plugins import options
from os_placement_plugins.text import quote

GROUP: Final = cfg.OptGroup(
    'nova_filters',
    title='Placement plug-ins for nova-scheduler',
    help="""
Options of the scheduler plug-ins ``AggregateInstanceTypeFilter``,
``StackAffinityWeigher``, ``ServerGroupWeigher`` and ``PreferenceWeigher``.
nova-scheduler reads these options. Those of the weighers have no effect unless
``[filter_scheduler] weight_classes`` contains ``nova_filters.all_weighers``.
""",
)

#: White space and other characters that separate patterns by mistake.
_MISTAKE: Final = re.compile(r"""[\s;'"]""")


class FiniteNumber(types.Float):
    """A floating point number that is not infinite, and not NaN."""

    def __call__(self, value: Any) -> Any:
        """Return the number.

        :param value: the number or its text.
        :raises ValueError: if the value is not a finite number.
        """
        number = super().__call__(value)
        if number is not None and not math.isfinite(number):
            raise ValueError(f'{number} is not a finite number')
        return number


class Pattern(types.String):
    """A pattern of metadata keys that can match a key."""

    def __call__(self, value: Any) -> Any:
        """Return the pattern.

        :param value: the pattern.
        :raises ValueError: if the pattern is plainly a mistake.
        """
        pattern = super().__call__(value)
        if pattern.startswith(SCOPE):
            raise ValueError(f'{quote(pattern)}: leave out the scope {SCOPE}')
        if _MISTAKE.search(pattern):
            raise ValueError(
                f'{quote(pattern)}: separate patterns by commas, without '
                'quotation marks'
            )
        return pattern


class TopologyKeys(types.List):
    """A list of topology keys that is not empty."""

    def __call__(self, value: Any) -> Any:
        """Return the list.

        :param value: the list or its text.
        :raises ValueError: if the list is empty.
        """
        keys = super().__call__(value)
        if not keys:
            raise ValueError('it is empty; write "host" for single hosts')
        return keys


OPTS: Final = (
    cfg.ListOpt(
        'exempt_metadata_keys',
        default=[
            'availability_zone',
            'filter_tenant_id*',
            'trait:*',
            '*_weight_multiplier',
            '*_allocation_ratio',
            'max_io_ops_per_host',
            'max_instances_per_host',
            'instance_type',
            'os_distro',
            'os_type',
            'os_secure_boot',
            'hw_architecture',
            'hw_vm_mode',
            'img_hv_type',
        ],
        item_type=Pattern(),
        help="""
Metadata keys that aggregates do not demand from flavors.

An aggregate with ``force_metadata_check`` set demands each of its metadata
keys from every flavor. However, Nova itself uses some metadata keys of
aggregates. If an aggregate also demanded these keys, it would refuse every
flavor. Therefore, an aggregate never demands a key that matches one of the
patterns in this option. If a flavor requests such a key, the filter still
compares the key with the aggregates.

The default list has the keys that Nova's own filters and weighers read, and
the image properties by which hosts are usually isolated. Nova's filter
``AggregateImagePropertiesIsolation`` reads any image property. If your
aggregates have another one, add it.

Your list replaces the default list. To exempt one more key, such as ``rack``,
copy the whole default list and add ``,rack`` to it. If you set ``rack`` alone,
a forced aggregate with the key ``availability_zone`` refuses nearly every
flavor.

Possible values:

* A list of shell patterns (``*``, ``?``, ``[abc]``), with commas between
  them. The patterns are case-sensitive. Write each pattern without the scope
  ``aggregate_instance_extra_specs:``.
* An empty list: aggregates demand all their keys, as in the specification. An
  aggregate that is an availability zone then demands the key
  ``availability_zone``.

Related options:

* ``[filter_scheduler] enabled_filters``: this option has no effect unless
  the list contains ``AggregateInstanceTypeFilter``.
""",
    ),
    cfg.Opt(
        'stack_spread_over',
        type=TopologyKeys(),
        default=['host'],
        help="""
The topology keys by which stacks and server groups are spread or packed.

Hosts with the same value of a topology key form a domain, such as a rack.
``StackAffinityWeigher`` and ``ServerGroupWeigher`` count the members of a
stack or server group in each domain. Spreading means few members in each
domain. Packing means many members in one domain.

Possible values:

* ``host``: each host is a domain.
* ``availability_zone``, or any other metadata key of host aggregates, such
  as ``rack``. A host without the key is a domain of its own, or in Nova's
  default availability zone. If a forced aggregate has the key, the aggregate
  demands the key of every flavor. To prevent this, add the key to
  ``exempt_metadata_keys``.
* A list of several keys, with the most important key first. With
  ``rack,host``, the weigher compares the racks first. If their numbers of
  members are equal, the weigher compares the hosts.

Related options:

* ``[nova_filters] stack_affinity_weight_multiplier``
* ``[nova_filters] server_group_weight_multiplier``
""",
    ),
    cfg.Opt(
        'stack_affinity_weight_multiplier',
        type=FiniteNumber(),
        default=0.0,
        help="""
How strongly the servers of one Heat stack attract or repel each other.

``StackAffinityWeigher`` puts the hosts into an order, by the number of
instances with the same root stack on each host or in each rack. One step in
the order counts as much as this number. So the number must be larger than the
multipliers of the other weighers together. 10 is enough with the default
multipliers of Nova's own weighers, without
``build_failure_weight_multiplier`` and
``cross_cell_move_weight_multiplier``.

Possible values:

* A negative number, such as -10: the weigher spreads the servers of a stack
  over the hosts.
* A positive number, such as 10: the weigher packs the servers of a stack onto
  a few hosts.
* 0: the weigher has no effect.
""",
    ),
    cfg.Opt(
        'server_group_weight_multiplier',
        type=FiniteNumber(min=0.0),
        default=0.0,
        help="""
How strongly the policies of server groups count while servers start.

Nova's own weighers and filters for the policies of server groups do not see
servers that are still starting. ``ServerGroupWeigher`` sees these servers. It
puts the hosts into an order that spreads or packs the members of a group. One
step in the order counts as much as this number.

Possible values:

* 0: the weigher has no effect.
* A positive number: the strength of the weigher. 10 is enough, as for
  ``stack_affinity_weight_multiplier``.

If this option is not 0, the policy of a server group counts for its servers,
and ``StackAffinityWeigher`` has no effect on these servers. For the policy
``anti-affinity``, the order holds whatever the other weighers say.

Related options:

* ``[nova_filters] stack_spread_over``
""",
    ),
    cfg.Opt(
        'preference_weight_multiplier',
        type=FiniteNumber(min=0.0),
        default=0.0,
        help="""
How strongly the preferences of flavors and aggregates count.

``PreferenceWeigher`` gives points to each host. A host gains points for each
extra spec ``aggregate_preferred:KEY`` of the flavor that the aggregates of the
host meet. It loses points for each extra spec ``aggregate_avoided:KEY`` that
they meet. A host also loses a point for each key that an aggregate with
``prefer_metadata_check`` set demands, and that the flavor does not meet. The
weight of a host is 1 for 1 point, 2 for 10 points and 3 for 100 points, and
the same below 0. Nova multiplies the weight by this number.

Possible values:

* 0: the weigher has no effect.
* A positive number: the strength of the weigher. With 10, one point is
  stronger than Nova's own weighers together, as told for
  ``stack_affinity_weight_multiplier``.

Related options:

* ``[nova_filters] exempt_metadata_keys``: the keys that no aggregate demands.
""",
    ),
)


#: The same group and option as in heat.conf, so that you can copy the lines
#: from heat.conf to nova.conf.
SIGNATURE_GROUP: Final = cfg.OptGroup(
    'heat_hints',
    title='Signed stack scheduler hints',
    help="""
The option that nova-scheduler uses to verify the stack scheduler hints from
heat-engine.
""",
)

#: The default value of each option, by name.
DEFAULTS: Final = {opt.name: opt.default for opt in OPTS}


def list_opts() -> list[tuple[cfg.OptGroup, tuple[cfg.Opt, ...]]]:
    """Return the options, for ``oslo-config-generator``.

    :returns: each group and its options.
    """
    return [(GROUP, OPTS), (SIGNATURE_GROUP, (options.SIGNING_KEY,))]
