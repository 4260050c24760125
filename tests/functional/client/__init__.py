# SPDX-License-Identifier: Apache-2.0

"""The commands in the real ``openstack`` shell, no service installed."""
