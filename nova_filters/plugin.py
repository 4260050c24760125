# SPDX-License-Identifier: Apache-2.0

"""The base class of all filters and weighers of this package."""

from typing import Any

import nova.conf

from nova_filters import conf
from os_placement_plugins import options

CONF = nova.conf.CONF
options.register(CONF, conf.list_opts())


class Plugin:
    """A plug-in that checks its options when Nova creates it.

    If the value of an option is wrong, nova-scheduler does not start.
    """

    def __init__(self) -> None:
        options.check(CONF, conf.list_opts())
        super().__init__()


def field(obj: Any, name: str) -> Any:
    """Return a field of one of Nova's objects; None if it has no value."""
    if name not in obj:
        return None
    return getattr(obj, name)
