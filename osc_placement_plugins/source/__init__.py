# SPDX-License-Identifier: Apache-2.0

"""Where the commands read: a running cloud, or its answers in files."""

from typing import Final

#: The first microversion in which Nova's answers have all that is read here:
#: extra specs in flavors and in servers, and servers whose cell is down.
MICROVERSION: Final = '2.69'
#: How to ask Nova's API for each kind of object.
REQUESTS: Final = {
    # Private flavors, too.
    'flavors': '/flavors/detail?is_public=None',
    'aggregates': '/os-aggregates',
    'hosts': '/os-services?binary=nova-compute',
    'servers': '/servers/detail?all_tenants=True',
}
