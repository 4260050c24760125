# SPDX-License-Identifier: Apache-2.0

from tests import order

load_tests = order.shuffled(__file__)
