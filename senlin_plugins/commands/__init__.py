# SPDX-License-Identifier: Apache-2.0

"""Commands for the ``openstack`` shell; importing this loads no library."""
