# SPDX-License-Identifier: Apache-2.0

"""What all commands of the ``openstack`` shell have in common."""
