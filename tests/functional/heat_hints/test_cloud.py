# SPDX-License-Identifier: Apache-2.0

"""The demo's loopback cloud, on ports that it cannot have."""

import unittest

import ddt

from demo import report
from demo.heat import cloud as loopback


@ddt.ddt
class TestPort(unittest.TestCase):
    def test_a_busy_port_is_told_in_one_line_that_says_what_to_do(self):
        cloud = loopback.Cloud()
        self.addCleanup(cloud.close)
        port = int(cloud.url.rpartition(':')[2])
        with self.assertRaises(report.DemoError) as caught:
            loopback.Cloud(port)
        message = str(caught.exception)
        self.assertIn(f'port {port} on 127.0.0.1 is in use', message)
        self.assertIn('--port', message)
        self.assertNotIn('\n', message)

    @ddt.data(-1, 65536)
    def test_a_number_that_is_no_port_is_told(self, port):
        with self.assertRaisesRegex(report.DemoError, f'port {port} is not'):
            loopback.Cloud(port)
