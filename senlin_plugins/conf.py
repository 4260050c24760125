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
Policy types of this package that users may create and attach:
``region_placement``, ``deletion``, both or none. Senlin lists a type
even if it is not enabled here. Attached policies continue to work.
""",
    ),
    cfg.StrOpt(
        'unaware_profile',
        default=REFUSE,
        choices=[
            (REFUSE, 'Refuse to attach the policy, and say what to use.'),
            (
                PLAN_ONLY,
                'Attach the policy. It writes plans without effect, and logs '
                'a warning for each.',
            ),
        ],
        help="""
What happens if you attach the region placement policy to a
cluster whose profile ignores regions.

Senlin's own profile types create all nodes in one region: the one
that the profile names, or else ``default_region_name``.
""",
    ),
    cfg.BoolOpt(
        'check_catalog',
        default=True,
        help="""
Whether a region must offer the services that the cluster's
profile needs.

Server profiles need compute, and also image, network or block
storage if they name an image, networks or volumes. Stack profiles
need orchestration. When a cluster shrinks, compute or orchestration
is enough. Only endpoints with the ``interface`` of
``[authentication]`` count. If false, it is enough that Keystone
knows the region.
""",
    ),
    cfg.IntOpt(
        'region_timeout',
        default=3,
        min=1,
        help="""
Number of seconds in which a service must answer. If a service does
not answer, the policy asks it again after 1 second, and once more
after 3 further seconds. The policy stops after this number of
seconds plus 1. If a service never answers, its region is silent.
Region placement policies of version 1.1 ask the services that the
profile needs, in all regions at the same time.
""",
    ),
    cfg.IntOpt(
        'region_out_after',
        default=300,
        min=0,
        help="""
Number of seconds for which a region must be silent before the
region is out, for region placement policies of version 1.1.

New nodes avoid a silent region. Nodes move only if their region is
out: if it did not answer at two times that are this number of
seconds apart, and does not answer now. One answer in between ends
the silence.

A small value moves nodes because of short outages, such as the
restart of a load balancer. If the value is 0, a region is out when
the policy finds it silent for the second time.
""",
    ),
    cfg.IntOpt(
        'full_time',
        default=600,
        min=0,
        help="""
Number of seconds for which a region is full after it refuses a
node, for region placement policies of version 1.1.

Nova, Neutron or Cinder can refuse a node because of a quota, or
because no host or no address is free. New nodes then go to other
regions.
If the value is 0, no region is ever full.
""",
    ),
]


def load(conf: cfg.ConfigOpts) -> None:
    """Register the options, and end the service if a value is wrong.

    :param conf: the configuration of the service.
    :raises SystemExit: if a value is wrong. After any other exception, Senlin
        would start without the policies.
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
