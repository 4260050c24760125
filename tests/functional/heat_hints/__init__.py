# SPDX-License-Identifier: Apache-2.0

from testing.heat import loopback
from tests import order, process_state

process_state.stub_clouds.append(loopback.open_clouds)

load_tests = order.shuffled(__file__)
