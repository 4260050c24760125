# SPDX-License-Identifier: Apache-2.0

"""What all filters and weighers of this package have in common."""

import nova.conf

from nova_filters import conf
from os_placement_plugins import options

CONF = nova.conf.CONF
options.register(CONF, conf.list_opts())


class Plugin:
    """A plug-in of nova-scheduler, which does not start with wrong values."""

    def __init__(self) -> None:
        options.check(CONF, conf.list_opts())
        super().__init__()
