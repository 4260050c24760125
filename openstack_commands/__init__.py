# SPDX-License-Identifier: Apache-2.0

"""The commands of the ``openstack`` shell; no service imports them.

The modules in each ``advice`` folder are pure: they neither read nor print.
The modules beside the folder read files or the cloud, and print.
"""
