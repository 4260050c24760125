# SPDX-License-Identifier: Apache-2.0

"""Run the tests of a package in any order, to see that none needs its own.

A package of tests says ``load_tests = order.shuffled(__file__)``. The variable
``OPP_SEED`` chooses the order; without it, the order is unittest's.
"""

import itertools
import os
import pathlib
import random
import unittest
from collections.abc import Callable, Iterator

#: unittest's hook: the loader, the tests of the module itself, a pattern.
Hook = Callable[
    [unittest.TestLoader, unittest.TestSuite, str | None], unittest.TestSuite
]


def shuffled(package: str) -> Hook:
    """Return the hook that loads a package: classes and tests shuffled.

    :param package: the package's ``__file__``.
    """
    folder = str(pathlib.Path(package).parent)

    def load_tests(
        loader: unittest.TestLoader,
        _module_tests: unittest.TestSuite,
        pattern: str | None,
    ) -> unittest.TestSuite:
        suite = loader.discover(folder, pattern or 'test*.py')
        seed = os.environ.get('OPP_SEED')
        if not seed:
            return suite
        chance = random.Random(seed)  # noqa: S311
        tests = sorted(flat(suite), key=lambda test: test.id())
        # The tests of a class stay together: they may share what is slow.
        classes = [list(group) for _, group in itertools.groupby(tests, type)]
        chance.shuffle(classes)
        for tests_of_class in classes:
            chance.shuffle(tests_of_class)
        return unittest.TestSuite(itertools.chain(*classes))

    return load_tests


def flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Yield the tests of a suite, one by one."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test
