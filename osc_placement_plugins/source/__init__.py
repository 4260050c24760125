# SPDX-License-Identifier: Apache-2.0

"""Where the commands read: a running cloud, or files."""

from typing import Final

#: How to save each kind of object in a file.
SAVING: Final = {
    'flavors': 'openstack flavor list --all --long -f json',
    'aggregates': 'openstack aggregate list --long -f json',
    'hosts': 'openstack compute service list --service nova-compute --long '
    '-f json',
    'servers': 'openstack --os-compute-api-version 2.47 server show -f json '
    'SERVER',
}
