# SPDX-License-Identifier: Apache-2.0

"""What is left in Senlin or in its clouds fails the test or the class."""

from tests import leaks
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE


class LeakTest(base.TestCase):
    def leave(self):
        """Leave a cluster with a server, and a region that fails."""
        self.cluster(size=1)
        self.cloud.regions[ONE].failures['server_delete'] = 'no'

    def assert_told(self, text):
        """Check that each kind of thing is told."""
        (server,) = self.cloud.regions[ONE].servers
        for words in (
            f'{server} of servers in {ONE} is new: ',
            f"failure of server_delete in {ONE} is new: 'no'",
            'rows of table cluster is new: 1',
            'rows of table node is new: 1',
        ):
            self.assertIn(words, text)

    def test_a_test_fails_by_its_name(self):
        ((name, text),) = leaks.planted(in_test=self.leave)
        self.assertTrue(name.endswith('.Planted.test_first'), name)
        self.assert_told(text)

    def test_a_class_fails_by_its_name(self):
        ((name, text),) = leaks.planted(in_class=self.leave)
        self.assertRegex(name, r'^tearDownClass \(.*\.Planted\)$')
        self.assert_told(text)
