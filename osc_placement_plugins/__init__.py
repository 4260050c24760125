# SPDX-License-Identifier: Apache-2.0

"""The commands that this package adds to the ``openstack`` shell.

The shell imports the module of each command, whatever its user has typed. So
these modules import the others only when the command runs.
"""
