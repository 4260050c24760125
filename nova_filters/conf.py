# SPDX-License-Identifier: Apache-2.0

"""The options of ``nova_filters``, in the ``nova.conf`` of the scheduler.

Importing this module loads no service.
"""

import math
from typing import Final

from oslo_config import cfg
from oslo_log import log as logging

LOG = logging.getLogger(__name__)

GROUP: Final = cfg.OptGroup(
    'nova_filters',
    title='Placement plug-ins for nova-scheduler',
    help="""
Options of the scheduler plug-ins ``AggregateInstanceTypeFilter`` and
``StackAffinityWeigher``. They are read by nova-scheduler only.
""",
)

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
keys of every flavor. Nova itself reads some keys from aggregates; demanding
those would lock every flavor out of the aggregate. The keys that match one
of these patterns are never demanded. A flavor that asks for one of them is
still checked against the aggregates.

Possible values:

* A list of shell patterns (``*``, ``?``, ``[abc]``), matched with the case
  as written, against the key without the scope
  ``aggregate_instance_extra_specs:``.
* An empty list: every key is demanded, which is what the specification says
  to the letter. An aggregate that is an availability zone then demands
  ``availability_zone`` of its flavors.

Related options:

* ``[filter_scheduler] enabled_filters``: ``AggregateInstanceTypeFilter``
  must be in it for this option to have an effect.
""",
    ),
    cfg.IntOpt(
        'stack_map_size',
        default=65536,
        min=1,
        help="""
How many instances the weigher remembers the root stack of.

Instances carry no scheduler hints, so ``StackAffinityWeigher`` reads them
from the API database: with one query per request at most, of 10,000 unknown
instances at most, and none when all are known. An entry takes about 250
bytes, and 600 at most: 16 MiB for the default, and 38 MiB at the very worst.

Possible values:

* A number of instances, at least 1. With fewer than there are instances on
  the hosts of one request, every request reads some of them again: give it
  room for every instance of the cloud.

Related options:

* ``[nova_filters] stack_affinity_weight_multiplier``
""",
    ),
    cfg.FloatOpt(
        'stack_affinity_weight_multiplier',
        default=-1.0,
        help="""
How strongly servers of one Heat stack attract or repel each other.

``StackAffinityWeigher`` counts, per host, the instances that belong to the
same root stack as the server that is being scheduled, and multiplies the
normalized count by this number.

Possible values:

* A negative number: the servers of a stack are spread over the hosts.
* A positive number: they are packed onto few hosts.
* 0: the weigher has no effect.

The metadata key ``stack_affinity_weight_multiplier`` of a host aggregate
overrides this option for the aggregate's hosts; if a host is in several such
aggregates, the smallest value is used.

Related options:

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
What nova-scheduler knows of the stack scheduler hints that heat-engine
sends.
""",
)

SIGNATURE_OPTS: Final = (
    cfg.ListOpt(
        'signing_key',
        default=[],
        secret=True,
        help="""
The keys that heat-engine signs its stack scheduler hints with.

Any tenant can send a ``heat_root_stack_id`` straight to Nova. With a key,
``StackAffinityWeigher`` believes only hints that carry a signature made with
it, for the project that owns the server: all others count as absent, those
of running servers as well. The option is read when nova-scheduler starts.

Possible values:

* Empty: hints are not signed, and all of them are believed.
* A list of keys, separated by commas, each of at least 32 characters and
  without ``$`` and commas; ``openssl rand -hex 32`` makes a good one. A
  signature made with any of them is believed. A shorter key is not used; if
  none is left, no hint is believed.

To change the key: (1) write ``old,new`` here and restart every
nova-scheduler; (2) write ``new`` into ``heat.conf`` and restart every
heat-engine; (3) keep ``old`` here for as long as servers that carry its
signature should be recognized, because Nova keeps their hints for ever.

Related options:

* ``[heat_hints] signing_key`` in ``heat.conf``, where the first key of the
  list signs: the same line serves both files.
* ``[filter_scheduler] weight_classes`` must name
  ``nova_filters.all_weighers`` for this option to have an effect.
""",
    ),
)

#: What each option is when nothing is configured.
DEFAULTS: Final = {opt.name: opt.default for opt in OPTS}

#: What stands in the place of keys that cannot be read: it is too short to be
#: used, so that nothing is believed.
_NO_KEY: Final = ['unreadable']


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register both groups and their options; repeating changes nothing.

    :param conf: the configuration of the service.
    """
    for group, opts in list_opts():
        # A group for each configuration: oslo.config keeps overrides in it.
        conf.register_group(cfg.OptGroup(group.name, group.title, group.help))
        conf.register_opts(opts, group=group.name)


def reset_wrong_values(conf: cfg.ConfigOpts) -> list[str]:
    """Put something usable in the place of values that are not.

    nova-scheduler itself reads every registered option to log it, and would
    end at one that cannot be read.

    :param conf: the configuration, with the options registered.
    :returns: what is wrong, a line for each option that its default stands
        in for now. Keys are not told of here: no text of an error that has
        seen a key may be.
    """
    wrong = []
    for group, opts in list_opts():
        for opt in opts:
            try:
                value = conf[group.name][opt.dest]
            except (ValueError, cfg.Error) as exc:
                reason = str(exc)
            else:
                if not isinstance(value, float) or math.isfinite(value):
                    continue
                reason = f'{value} is not a finite number'
            if opt.secret:
                conf.set_override(opt.dest, _NO_KEY, group=group.name)
                continue
            conf.set_override(opt.dest, opt.default, group=group.name)
            wrong.append(
                f'Option {opt.name} in [{group.name}] cannot be used: '
                f'{reason}. The default, {opt.default}, is in force'
            )
    return wrong


def make_usable(conf: cfg.ConfigOpts) -> None:
    """Let a service start whatever nova.conf says, and tell what is wrong.

    :param conf: the configuration, with the options registered. One ERROR is
        logged for each option that its default stands in for; whoever asks
        again finds nothing wrong.
    """
    for wrong in reset_wrong_values(conf):
        LOG.error(
            '%(wrong)s; correct nova.conf and restart nova-scheduler.',
            {'wrong': wrong},
        )


def list_opts() -> list[tuple[cfg.OptGroup, tuple[cfg.Opt, ...]]]:
    """Return the options, for the sample file generator.

    :returns: each group and its options.
    """
    return [(GROUP, OPTS), (SIGNATURE_GROUP, SIGNATURE_OPTS)]
