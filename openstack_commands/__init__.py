# SPDX-License-Identifier: Apache-2.0

"""The commands of the ``openstack`` shell; no service imports them.

The modules in each ``advice`` folder are pure: they read no file and no cloud,
and print nothing. The modules next to the folder read files or the cloud, and
print the results.
"""
