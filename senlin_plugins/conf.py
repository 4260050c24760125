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
Options of the region placement policy, the deletion policy and
the region-aware profiles of os-placement-plugins.
senlin-conductor and senlin-engine read these options and need
the same values.
""",
)

OPTS = [
    cfg.ListOpt(
        'enabled_policies',
        item_type=types.String(choices=[REGION_PLACEMENT, DELETION]),
        default=[REGION_PLACEMENT, DELETION],
        help="""
Policy types of this package that users may use.

If a type is not in the list, users cannot create a policy of this
type, and cannot attach an existing policy of this type. The type
is still shown in the list of policy types. Policies that are
already attached continue to work.

Possible values:

* A comma-separated list of ``region_placement`` (the type
  ``senlin_plugins.policy.region_placement``) and ``deletion``
  (the type ``senlin_plugins.policy.deletion``).
* An empty list, to disable both.
""",
    ),
    cfg.StrOpt(
        'unaware_profile',
        default=REFUSE,
        choices=[
            (
                REFUSE,
                'Refuse to attach the policy and name the profile type to '
                'use instead.',
            ),
            (
                PLAN_ONLY,
                'Attach the policy. It writes the documented plan, but '
                'no placements, and logs a warning on each action.',
            ),
        ],
        help="""
How the region placement policy treats a cluster whose profile
cannot place nodes in regions.

The profile types that come with Senlin create every node in the
default region, whatever a region placement policy decides.

Related options:

* ``default_region_name`` in ``[DEFAULT]``: where those profiles
  create their nodes.
""",
    ),
    cfg.BoolOpt(
        'check_catalog',
        default=True,
        help="""
Whether a region must offer the services that the cluster's
profile needs.

If true, a region is usable only if Keystone knows it and its
catalog has an endpoint there for each of these services. Servers
need compute, and stacks need orchestration. A profile that names
an image, networks or a volume to boot from also needs the image,
network or block storage service. A cluster that shrinks needs
only compute or orchestration.

If false, a region is usable if Keystone knows it.

Related options:

* ``interface`` in ``[authentication]``: the interface of the
  endpoints that count.
""",
    ),
    cfg.IntOpt(
        'region_timeout',
        default=3,
        min=1,
        help="""
Seconds within which a service must answer. If it does not answer,
its region counts as out.

A region placement policy of version 1.1 asks the services that a
cluster's profile needs, in all its regions at the same time. A
service that does not answer is asked a second time. After an
answer, an engine does not ask again for 30 seconds.
""",
    ),
    cfg.IntOpt(
        'full_time',
        default=600,
        min=0,
        help="""
Seconds for which a region counts as full.

This option is for region placement policies of version 1.1. A
region becomes full for a cluster if Nova or Neutron there refuses
a node, because of a quota or because no host has room. While a
region is full, new nodes go to the other regions. With 0, no
region is ever full.
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
