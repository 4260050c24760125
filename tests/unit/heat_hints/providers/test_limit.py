# SPDX-License-Identifier: Apache-2.0

import threading
import unittest

from oslo_context import context

from heat_hints.providers import ProviderError, limit
from tests.unit.heat_hints.requests import REQUEST

#: Longer than any busy machine takes.
LONG = 600.0


class Hanging:
    """A provider that answers when it is told to."""

    def __init__(self):
        self.go_on = threading.Event()
        self.asked = 0

    def hints(self, request):
        self.asked += 1
        self.go_on.wait()
        return {'rack': 'r1'}


class Calling:
    def __init__(self, function):
        self.hints = function


class TestLimit(unittest.TestCase):
    def test_the_answer_is_handed_on(self):
        answer = limit.Limit(LONG).ask(Calling(lambda r: {'a': r}), REQUEST)
        self.assertEqual({'a': REQUEST}, answer)

    def test_nothing_is_no_hints(self):
        self.assertEqual(
            {}, limit.Limit(LONG).ask(Calling(lambda r: None), REQUEST)
        )

    def test_what_is_raised_is_raised(self):
        def fail(request):
            raise KeyError('rack')

        with self.assertRaisesRegex(KeyError, 'rack'):
            limit.Limit(LONG).ask(Calling(fail), REQUEST)

    def test_an_exit_ends_nothing(self):
        def leave(request):
            raise SystemExit('no inventory')

        with self.assertRaisesRegex(ProviderError, 'SystemExit: no inventory'):
            limit.Limit(LONG).ask(Calling(leave), REQUEST)

    def test_the_provider_logs_for_the_same_request_of_heat(self):
        ours = context.RequestContext(overwrite=True)
        found = limit.Limit(LONG).ask(
            Calling(lambda r: {'id': context.get_current().request_id}),
            REQUEST,
        )
        self.assertEqual({'id': ours.request_id}, found)

    def test_one_that_hangs_fails_and_is_not_asked_for_ever(self):
        asked = limit.Limit(0.01)
        provider = Hanging()
        self.addCleanup(provider.go_on.set)
        for _ in range(limit.MAX_LATE):
            with self.assertRaisesRegex(TimeoutError, 'within 0.01 seconds'):
                asked.ask(provider, REQUEST)
        for _ in range(3):
            with self.assertRaisesRegex(TimeoutError, '8 questions before'):
                asked.ask(provider, REQUEST)
        self.assertEqual(limit.MAX_LATE, provider.asked)
        provider.go_on.set()
        for late in asked._late:
            late._thread.join()
        asked._seconds = LONG
        self.assertEqual({'rack': 'r1'}, asked.ask(provider, REQUEST))
