# SPDX-License-Identifier: Apache-2.0

"""Options of the Senlin plug-ins, group ``[senlin_plugins]``."""

import sys
from typing import Any

from oslo_config import cfg, types
from oslo_log import log as logging

from os_placement_plugins import options

LOG = logging.getLogger(__name__)

GROUP = 'senlin_plugins'

REGION_PLACEMENT = 'region_placement'
DELETION = 'deletion'

REFUSE = 'refuse'
PLAN_ONLY = 'plan_only'

group = cfg.OptGroup(
    name=GROUP,
    title='Placement plug-ins for Senlin',
    help="""
Options for the region placement policy, the deletion policy and
the region-aware profiles of os-placement-plugins.
senlin-conductor and senlin-engine need the same values.
""",
)

OPTS = [
    cfg.ListOpt(
        'enabled_policies',
        item_type=types.String(choices=[REGION_PLACEMENT, DELETION]),
        default=[REGION_PLACEMENT, DELETION],
        help="""
Policy types of this package that users may use.

If a type is not in this list, users cannot create or attach
policies of the type. Senlin still lists the type among the policy
types. Policies that are already attached continue to work.

Possible values:

* A comma-separated list of ``region_placement`` (the type
  ``senlin_plugins.policy.region_placement``) and ``deletion``
  (the type ``senlin_plugins.policy.deletion``).
* An empty list, to disable both types.
""",
    ),
    cfg.StrOpt(
        'unaware_profile',
        default=REFUSE,
        choices=[
            (
                REFUSE,
                'Refuse to attach the policy. The error message lists the '
                'profile types to use instead.',
            ),
            (
                PLAN_ONLY,
                'Attach the policy. When the cluster grows, the policy '
                'writes its plan and logs a warning, but the plan has no '
                'effect.',
            ),
        ],
        help="""
What happens if you attach the region placement policy to a
cluster whose profile ignores regions.

Senlin's own profile types ignore the regions that a policy plans,
and create all nodes in one region.

Related options:

* ``default_region_name`` in ``[DEFAULT]``: the region of these
  nodes, unless the profile names a region.
""",
    ),
    cfg.BoolOpt(
        'check_catalog',
        default=True,
        help="""
Whether a region must offer the services that the cluster's
profile needs.

If true, a region is usable only if Keystone knows the region and
the region's catalog lists each of these services. Server profiles
need compute, and stack profiles need orchestration. A profile
with an image also needs the image service, and a profile with
networks also needs the network service. If the destination of a
block device is a volume, the profile also needs block storage.
When a cluster shrinks, its regions need only compute or
orchestration.

If false, a region is usable if Keystone knows the region.

Related options:

* ``interface`` in ``[authentication]``: only endpoints with this
  interface count.
""",
    ),
    cfg.IntOpt(
        'region_timeout',
        default=3,
        min=1,
        help="""
Number of seconds in which a service must answer. If a service
does not answer three times in a row, with pauses in between, its
region is silent.

This option applies to region placement policies of version 1.1.
Before each action, such a policy contacts the services that the
cluster's profile needs, in all regions at the same time.

Related options:

* ``region_out_after``: when a silent region is out.
""",
    ),
    cfg.IntOpt(
        'region_out_after',
        default=300,
        min=0,
        help="""
Number of seconds for which a region must be silent before the
region is out.

This option applies to region placement policies of version 1.1.
While a region is silent, new nodes avoid the region, and nothing
else happens. Nodes move only if their region is out. A region is
out if the services in the region did not answer at two times that
are this number of seconds apart, and do not answer now. One answer
in between ends the silence.

A small value moves nodes because of short outages, such as the
restart of a load balancer. If the value is 0, a region is out when
the second look finds it silent.
""",
    ),
    cfg.IntOpt(
        'full_time',
        default=600,
        min=0,
        help="""
Number of seconds for which a region is full after it refuses a
node.

This option applies to region placement policies of version 1.1. A
region becomes full for a cluster if Nova or Neutron in the region
refuses a node, because of a quota or because no host has room.
While a region is full, new nodes go to other regions. If the
value is 0, no region is ever full.
""",
    ),
]


def load(conf: cfg.ConfigOpts) -> None:
    """Register the options, and end the service if a value is wrong.

    :param conf: the configuration of the service.
    :raises SystemExit: with what is wrong. Senlin would go on without the
        policies after any other exception.
    """
    options.register(conf, list_opts())
    try:
        options.check(conf, list_opts())
    except ValueError as exc:
        LOG.critical('%s', exc)
        sys.exit(str(exc))


def list_opts() -> list[tuple[cfg.OptGroup, list[Any]]]:
    """Return the options for ``oslo-config-generator``.

    :returns: the group with its options.
    """
    return [(group, OPTS)]
