# SPDX-License-Identifier: Apache-2.0

"""What is left in Nova's databases fails the test or the class."""

from tests import leaks
from tests.functional.nova_filters import base


class LeakTest(base.CloudTestCase):
    def leave(self) -> None:
        """Leave an aggregate, and a server on a host."""
        host = self.add_host({'k': '1'})
        request = self.cloud.request(self.add_flavor({}), [host])
        self.cloud.boot(self.cloud.scheduler(), request)
        self.cloud.place(request, host)

    def assert_told(self, text: str) -> None:
        """Check that each kind of thing is told."""
        for words in (
            'rows of table aggregates in nova_api is new: 1',
            'rows of table flavors in nova_api is new: 1',
            'rows of table request_specs in nova_api is new: 1',
            'rows of table instances in the cell is new: 1',
            'rows of table allocations in Placement is new: 3',
        ):
            self.assertIn(words, text)

    def test_a_test_fails_by_its_name(self) -> None:
        ((name, text),) = leaks.planted(in_test=self.leave)
        self.assertTrue(name.endswith('.Planted.test_first'), name)
        self.assert_told(text)

    def test_a_class_fails_by_its_name(self) -> None:
        ((name, text),) = leaks.planted(in_class=self.leave)
        self.assertRegex(name, r'^tearDownClass \(.*\.Planted\)$')
        self.assert_told(text)
