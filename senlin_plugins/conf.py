# SPDX-License-Identifier: Apache-2.0

"""The options of ``senlin_plugins``, in ``senlin.conf``.

Importing this module does not import Senlin.
"""

import sys
from typing import Final

from oslo_config import cfg

from os_placement_plugins import logger, options
from os_placement_plugins.errors import one_line

LOG = logger.get_logger(__name__)

GROUP: Final = cfg.OptGroup(
    'senlin_plugins',
    title='Placement plug-ins for Senlin',
    help="""
Options for the region placement policy, the deletion policy and
the region-aware profiles of os-placement-plugins.
senlin-conductor and senlin-engine need the same values.
""",
)

OPTS: Final = (
    cfg.BoolOpt(
        'check_catalog',
        default=True,
        help="""
Whether a region must offer the services that the cluster's
profile needs.

Server profiles need compute, and also image, network or block
storage if they name an image, networks or volumes. Stack profiles
need orchestration. When a cluster shrinks, compute or orchestration
is enough. The endpoints must have the ``interface`` of
``[authentication]``. If false, it is enough that Keystone
knows the region.
""",
    ),
    cfg.IntOpt(
        'region_timeout',
        default=3,
        min=1,
        help="""
Number of seconds in which a service must answer. If a service fails
at once, the policy asks it again after 1 second. The policy stops
after this number of seconds plus 1. If a service does not answer,
its region is not used.
The policy asks the services that the action needs, in all regions
at the same time.
""",
    ),
)


def load_options(conf: cfg.ConfigOpts) -> None:
    """Register the options, and end the service if a value is wrong.

    :param conf: the configuration of the service.
    :raises SystemExit: if a value is wrong. After any other exception, Senlin
        would start without the policies.
    """
    options.register(conf, list_opts())
    try:
        options.check(conf, list_opts())
    except ValueError as exc:
        LOG.critical('%s', one_line(exc))
        sys.exit(str(exc))


def list_opts() -> list[tuple[cfg.OptGroup, tuple[cfg.Opt, ...]]]:
    """Return the options, for ``oslo-config-generator``.

    :returns: each group and its options.
    """
    return [(GROUP, OPTS)]
