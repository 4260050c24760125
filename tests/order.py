# SPDX-License-Identifier: Apache-2.0

"""Run the tests of a package in any order, to see that none needs its own.

A package of tests says ``load_tests = order.shuffled(__file__)``. The variable
``OPP_SEED`` chooses the order; without it, the order is unittest's. A class of
tests that does not compare what it leaves behind is refused.
"""

import itertools
import os
import pathlib
import random
import unittest
from collections.abc import Callable, Iterator

from tests import process_state

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
        _own: unittest.TestSuite,
        pattern: str | None,
    ) -> unittest.TestSuite:
        found = loader.discover(folder, pattern or 'test*.py')
        for test in flat(found):
            process_state.check_base(type(test))
        if not (seed := os.environ.get('OPP_SEED')):
            return found
        chance = random.Random(seed)  # noqa: S311
        tests = sorted(flat(found), key=lambda test: test.id())
        # The tests of a class stay together: they may share what is slow.
        classes = [list(own) for _, own in itertools.groupby(tests, type)]
        chance.shuffle(classes)
        for own in classes:
            chance.shuffle(own)
        return unittest.TestSuite(itertools.chain(*classes))

    return load_tests


def flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Yield the tests of a suite, one by one."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test
