# SPDX-License-Identifier: Apache-2.0

import threading
import unittest

from oslo_context import context

from heat_hints.providers import ProviderError, limit

#: Longer than any busy machine takes.
LONG = 600.0


class Hanging:
    """A provider that answers when it is told to."""

    def __init__(self):
        self.go_on = threading.Event()
        self.asked = 0

    def ask(self):
        self.asked += 1
        self.go_on.wait()
        return 'answer'


def raising(exc):
    """Return a question that raises an exception."""

    def ask():
        raise exc

    return ask


class TestLimit(unittest.TestCase):
    def test_the_answer_is_handed_on(self):
        self.assertEqual('answer', limit.Limit(LONG).wait(lambda: 'answer'))

    def test_what_is_raised_is_raised(self):
        with self.assertRaisesRegex(KeyError, 'rack'):
            limit.Limit(LONG).wait(raising(KeyError('rack')))

    def test_an_exit_ends_nothing(self):
        with self.assertRaisesRegex(ProviderError, 'SystemExit: no inventory'):
            limit.Limit(LONG).wait(raising(SystemExit('no inventory')))

    def test_the_provider_logs_for_the_same_request_of_heat(self):
        ours = context.RequestContext(overwrite=True)
        found = limit.Limit(LONG).wait(context.get_current)
        self.assertIs(ours, found)

    def test_one_that_hangs_fails_and_is_not_asked_for_ever(self):
        limited = limit.Limit(0.01)
        provider = Hanging()
        self.addCleanup(provider.go_on.set)
        for _ in range(limit.MAX_LATE):
            with self.assertRaisesRegex(TimeoutError, 'within 0.01 seconds'):
                limited.wait(provider.ask)
        for _ in range(3):
            with self.assertRaisesRegex(TimeoutError, '8 earlier calls'):
                limited.wait(provider.ask)
        self.assertEqual(limit.MAX_LATE, provider.asked)
        provider.go_on.set()
        for late in limited._late:
            late._thread.join()
        limited._seconds = LONG
        self.assertEqual('answer', limited.wait(provider.ask))
