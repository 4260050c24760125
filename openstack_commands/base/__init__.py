# SPDX-License-Identifier: Apache-2.0

"""The base of all commands of the ``openstack`` shell."""
