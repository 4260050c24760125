# SPDX-License-Identifier: Apache-2.0

"""The commands in the real ``openstack`` shell, no service installed."""

from tests import order

load_tests = order.shuffled(__file__)
