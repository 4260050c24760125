# SPDX-License-Identifier: Apache-2.0

"""Classes of tests that leave something behind, and what is said of them."""

import unittest
from collections.abc import Callable
from unittest import mock

from tests import process_state


def reports(case: type[unittest.TestCase]) -> list[tuple[str, str]]:
    """Run a class of tests.

    :returns: the name and the text of each failure and each error.
    """
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    result = unittest.TestResult()
    with mock.patch.object(process_state, 'PATIENCE', 0.05):
        suite.run(result)
    return [
        (test.id(), text) for test, text in result.failures + result.errors
    ]


def planted(
    in_test: Callable[[], object] = lambda: None,
    in_class: Callable[[], object] = lambda: None,
) -> list[tuple[str, str]]:
    """Run a class of two tests, the first of which leaves something.

    :param in_test: what the first test does.
    :param in_class: what ``setUpClass`` does.
    :returns: the name and the text of each failure and each error.
    """

    class Planted(unittest.TestCase):
        @classmethod
        def setUpClass(cls) -> None:
            super().setUpClass()
            in_class()

        def test_first(self) -> None:
            in_test()

        def test_second(self) -> None:
            pass

    return reports(Planted)
