# SPDX-License-Identifier: Apache-2.0

"""The commands of the ``openstack`` shell; no service imports them.

Each ``advice`` folder has pure modules. The modules beside it read the cloud
and print.
"""
