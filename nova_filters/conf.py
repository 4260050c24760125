# SPDX-License-Identifier: Apache-2.0

"""The options of ``nova_filters``, in the ``nova.conf`` of the scheduler.

Importing this module loads no service.
"""

import math
from typing import Any, Final

from oslo_config import cfg, types

from os_placement_plugins import options

GROUP: Final = cfg.OptGroup(
    'nova_filters',
    title='Placement plug-ins for nova-scheduler',
    help="""
Options of the scheduler plug-ins ``AggregateInstanceTypeFilter``,
``StackAffinityWeigher`` and ``StackPlaceWeigher``. Only nova-scheduler reads
these options.
""",
)


class FiniteNumber(types.Float):
    """A floating point number that is not infinite, and not NaN."""

    def __call__(self, value: Any) -> Any:
        """Return the number.

        :param value: the number or its text.
        :raises ValueError: if the text is no such number.
        """
        number = super().__call__(value)
        if number is not None and not math.isfinite(number):
            raise ValueError(f'{number} is not a finite number')
        return number


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
        ],
        help="""
Metadata keys that no aggregate demands of a flavor.

An aggregate with ``force_metadata_check`` set demands each of its metadata
keys of every flavor. Nova itself reads some metadata keys of aggregates. If an
aggregate demanded these keys, too, it would refuse every flavor. An aggregate
never demands a key that matches one of the patterns. If a flavor asks for such
a key, the filter still checks the key against the aggregates.

Possible values:

* A list of shell patterns (``*``, ``?``, ``[abc]``). Upper and lower case
  differ. A pattern is compared with the key without the scope
  ``aggregate_instance_extra_specs:``.
* An empty list: every key is demanded, as the specification says literally.
  An aggregate that is an availability zone then demands
  ``availability_zone`` of its flavors.

Related options:

* ``[filter_scheduler] enabled_filters``: ``AggregateInstanceTypeFilter``
  must be in it for this option to have an effect.
""",
    ),
    cfg.ListOpt(
        'stack_spread_over',
        default=['host'],
        help="""
The kind of place that the servers of a stack are spread over or packed into.

``StackAffinityWeigher`` counts the members of the stack in the place of each
host. Spreading means few members in one place. Packing means many members in
one place.

Possible values:

* ``host``: each host is a place.
* ``availability_zone``, or any other metadata key of host aggregates, such
  as ``rack``: hosts with the same value are one place. A host without the
  key is a place of its own.
* Several kinds of places, the most important kind first. With ``rack,host``,
  racks are compared first. Hosts are compared only within their rack.

Related options:

* ``[nova_filters] stack_affinity_weight_multiplier``
* ``[nova_filters] stack_place_weight_multiplier``
""",
    ),
    cfg.Opt(
        'stack_affinity_weight_multiplier',
        type=FiniteNumber(),
        default=-1.0,
        help="""
The strength with which servers of one Heat stack attract or repel each other.

``StackAffinityWeigher`` counts, for each host, the instances that belong to
the same root stack as the server that is being scheduled. The weigher
multiplies the normalized count by this number.

Possible values:

* A negative number: the servers of a stack are spread over the hosts.
* A positive number: the servers of a stack are packed onto few hosts.
* 0: the weigher has no effect.

The metadata key ``stack_affinity_weight_multiplier`` of a host aggregate
overrides this option for the aggregate's hosts. If a host is in several such
aggregates, the smallest value counts.

Related options:

* ``[filter_scheduler] weight_classes``: must name
  ``nova_filters.all_weighers`` for this option to have an effect.
""",
    ),
    cfg.Opt(
        'stack_place_weight_multiplier',
        type=FiniteNumber(min=0.0),
        default=100.0,
        help="""
The strength with which the planned place of a server attracts the server.

``heat-engine`` can plan a place for each server of a stack, such as a rack,
and send the place as the hint ``heat_group_place``. ``StackPlaceWeigher``
prefers the hosts in this place. A host is in the place if a metadata key that
``stack_spread_over`` lists has the place as its value.

Possible values:

* A positive number: the weight of a host in the planned place. The default is
  more than Nova's own weighers and ``StackAffinityWeigher`` add up to.
* 0: the weigher has no effect.

Related options:

* ``[heat_hints] group_places`` in ``heat.conf``
* ``[nova_filters] stack_spread_over``
* ``[filter_scheduler] weight_classes``: must name
  ``nova_filters.all_weighers`` for this option to have an effect.
""",
    ),
)


#: The same group and option as in heat.conf, so that one line serves both.
SIGNATURE_GROUP: Final = cfg.OptGroup(
    'heat_hints',
    title='Signed stack scheduler hints',
    help="""
The option with which nova-scheduler checks the stack scheduler hints that
heat-engine sends.
""",
)

SIGNATURE_OPTS: Final = (
    cfg.Opt(
        'signing_key',
        type=options.SigningKeys(),
        default=[],
        secret=True,
        help="""
The keys that heat-engine signs its stack scheduler hints with.

Any tenant can send a ``heat_root_stack_id`` straight to Nova. With a key,
``StackAffinityWeigher`` believes only hints with a signature that was made
with this key for the project that owns the server. All other hints count as
absent, also those of running servers. nova-scheduler reads the option when it
starts.

Possible values:

* Empty: hints are not signed, and the weigher believes all hints.
* A list of keys, separated by commas. Each key has at least 32 characters,
  without ``$`` and commas; ``openssl rand -hex 32`` makes a good key. The
  weigher believes a signature that was made with any of the keys.

To change the key: (1) write ``old,new`` here and restart every
nova-scheduler; (2) write ``new`` into ``heat.conf`` and restart every
heat-engine; (3) keep ``old`` here as long as you want to recognize servers
with a signature of this key, because Nova keeps their hints for ever.

Related options:

* ``[heat_hints] signing_key`` in ``heat.conf``: you can use the same line in
  both files. heat-engine signs with the first key of the list.
* ``[filter_scheduler] weight_classes`` must name
  ``nova_filters.all_weighers`` for this option to have an effect.
""",
    ),
)

#: What each option is when nothing is configured.
DEFAULTS: Final = {opt.name: opt.default for opt in OPTS}


def list_opts() -> list[tuple[cfg.OptGroup, tuple[cfg.Opt, ...]]]:
    """Return the options, for the sample file generator.

    :returns: each group and its options.
    """
    return [(GROUP, OPTS), (SIGNATURE_GROUP, SIGNATURE_OPTS)]
