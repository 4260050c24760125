# SPDX-License-Identifier: Apache-2.0

"""Tests of looks that several actions share."""

import threading
import unittest
from unittest import mock

from senlin_plugins.regions import shared_look
from tests import threads


class Waiting(dict):
    """The looks that have not begun, with a note of each question."""

    def __init__(self):
        super().__init__()
        self.questions = []

    def setdefault(self, cluster, look):
        shared = super().setdefault(cluster, look)
        self.questions.append(cluster)
        return shared


class SharedLookTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.waiting = Waiting()
        patch = mock.patch.object(shared_look, '_waiting', self.waiting)
        patch.start()
        self.addCleanup(patch.stop)
        self.looks = []
        self.go_on = threading.Event()
        self.results = []
        self.threads = []

    def look(self):
        """Look until the test lets it end, and return its number."""
        number = len(self.looks) + 1
        self.looks.append(number)
        self.assertTrue(self.go_on.wait(threads.LIMIT))
        return number

    def fail_later(self):
        """Look, and fail if somebody else has looked before."""
        if self.look() > 1:
            raise LookupError('Keystone is away')
        return 1

    def ask(self, look, cluster='c'):
        """Ask for a look in a thread of its own."""

        def run():
            try:
                self.results.append(shared_look.share(cluster, look))
            except LookupError as exc:
                self.results.append(str(exc))

        thread = threading.Thread(target=run)
        self.threads.append(thread)
        thread.start()

    def ask_twenty_times(self, look):
        """Let one action look, and nineteen others ask meanwhile."""
        self.ask(look)
        threads.wait_until(lambda: self.looks, 'the first look')
        for _ in range(19):
            self.ask(look)
        threads.wait_until(
            lambda: len(self.waiting.questions) == 20, 'all questions'
        )
        self.finish()

    def finish(self):
        """Let all looks end; nothing of them stays."""
        self.go_on.set()
        threads.join(self.threads)
        self.assertEqual({}, self.waiting)
        self.assertEqual({}, shared_look._running)

    def test_twenty_actions_need_two_looks(self):
        self.ask_twenty_times(self.look)
        self.assertEqual([1, 2], self.looks)
        # Nobody gets the result of a look that began before the question.
        self.assertEqual([1, *[2] * 19], sorted(self.results))

    def test_a_look_that_fails_fails_for_all_who_share_it(self):
        self.ask_twenty_times(self.fail_later)
        self.assertEqual([1, 2], self.looks)
        self.assertEqual(19, self.results.count('Keystone is away'))

    def test_clusters_do_not_wait_for_each_other(self):
        self.ask(self.look, 'c')
        self.ask(self.look, 'd')
        threads.wait_until(lambda: len(self.looks) == 2, 'both looks')
        self.finish()

    def test_a_later_question_is_a_new_look(self):
        self.go_on.set()
        answers = [shared_look.share('c', self.look) for _ in range(3)]
        self.assertEqual([1, 2, 3], answers)

    def test_a_look_that_is_killed_leaves_nobody_waiting(self):
        def be_killed():
            raise SystemExit

        with self.assertRaises(SystemExit):
            shared_look.share('c', be_killed)
        self.finish()
