# SPDX-License-Identifier: Apache-2.0

import dataclasses
import pathlib
import signal
import sys
import tempfile
import threading
import unittest
from collections.abc import Mapping
from importlib import metadata

import ddt
from oslo_config import cfg
from oslo_context import context

from heat_hints.providers import NAMESPACE, ProviderError, calls
from tests import threads
from tests.unit.heat_hints import requests

#: Longer than any busy machine takes.
LONG = 600.0
LOG = 'heat_hints.providers'


def together(count, work):
    """Call a function in so many threads, and return them."""
    started = [threading.Thread(target=work) for _ in range(count)]
    for thread in started:
        thread.start()
    return started


class Provider:
    def __init__(self, conf):
        pass


class Racks:
    """A provider that cannot be made as long as ``reason`` says so."""

    reason: str | None = None
    made = 0

    def __init__(self, conf):
        Racks.made += 1
        if Racks.reason:
            raise RuntimeError(Racks.reason)


class Changing(Provider):
    def hints(self, request):
        request.user_hints['tier'].append('changed')
        request.user_hints['group'] = 'changed'
        return {}


class Repeating(Provider):
    def hints(self, request):
        return {'seen': [*request.user_hints['tier'], *request.user_hints]}


class Lazy(Mapping):
    """What a provider returns is looked up only as it is read."""

    go_on = threading.Event()

    def __iter__(self):
        self.go_on.wait(LONG)
        return iter(())

    def __getitem__(self, name):
        raise KeyError(name)

    def __len__(self):
        return 1


class Slow(Provider):
    def hints(self, request):
        return Lazy()


class NeverMade:
    def __init__(self, conf):
        Lazy.go_on.wait(LONG)


class Unset(Provider):
    @classmethod
    def check(cls, conf):
        raise ProviderError('[racks] file is not set')


def maker(name, conf=None, *clock):
    """Return what makes a provider of this module."""
    point = metadata.EntryPoint(name, f'{__name__}:{name}', NAMESPACE)
    return calls.Maker(point, conf or requests.configuration(), *clock)


@ddt.ddt
class TestFind(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        info = pathlib.Path(folder, 'racks-1.0.dist-info')
        info.mkdir()
        (info / 'METADATA').write_text('Name: racks\nVersion: 1.0\n')
        (info / 'entry_points.txt').write_text(
            f'[{NAMESPACE}]\n'
            f'racks = {__name__}:Racks\n'
            f'unset = {__name__}:Unset\n'
        )
        sys.path.append(folder)
        self.addCleanup(sys.path.remove, folder)

    @ddt.data(
        ('nobody', 'option providers .*"nobody": .* here are: racks, unset'),
        ('unset', r'"unset": \[racks\] file is not set'),
    )
    @ddt.unpack
    def test_a_wrong_name_or_option_stops_the_service(self, name, words):
        with self.assertRaisesRegex(cfg.ConfigFileValueError, words):
            calls.find(requests.configuration(), [name])

    def test_names_are_found_once(self):
        conf = requests.configuration()
        self.assertEqual((), calls.find(conf, []))
        makers = calls.find(conf, ['racks', 'racks'])
        self.assertEqual(['racks'], [m.name for m in makers])


class TestMaker(unittest.TestCase):
    def setUp(self):
        Racks.reason, Racks.made = None, 0
        self.now = 0.0

    def maker(self):
        return maker('Racks', None, lambda: self.now)

    def test_threads_that_ask_at_once_get_the_same_provider(self):
        racks = self.maker()
        racks.check()
        self.assertEqual(0, Racks.made)
        providers = []
        threads.join(together(8, lambda: providers.append(racks.get())))
        self.assertEqual(8, len(providers))
        self.assertEqual(1, len(set(providers)))
        self.assertEqual(1, Racks.made)

    def test_a_failure_is_told_once_and_tried_again_after_a_minute(self):
        racks, Racks.reason = self.maker(), 'no inventory\nERROR forged'
        for begin in (0, calls.RETRY_SECONDS):
            with self.assertLogs(LOG, 'ERROR') as logs:
                for self.now in (begin, begin + calls.RETRY_SECONDS - 1):
                    self.assertIsNone(racks.get())
            (record,) = logs.records
            self.assertIn(
                '"Racks" cannot be used: RuntimeError: no inventory ERROR',
                record.getMessage(),
            )
        self.assertEqual(2, Racks.made)
        self.now, Racks.reason = 2 * calls.RETRY_SECONDS, None
        self.assertIsInstance(racks.get(), Racks)


class TestAsk(unittest.TestCase):
    def ask(self, *names, seconds=LONG):
        """Return the hints of providers, and what failed.

        :param seconds: how long each provider may take.
        """
        conf = requests.configuration()
        conf.set_override('provider_timeout', int(seconds), 'heat_hints')
        failures = []
        hints = calls.ask(
            [maker(name, conf) for name in names],
            dataclasses.replace(requests.REQUEST, user_hints={'tier': ['a']}),
            (),
            lambda what, exc=None, **more: failures.append(f'{what} {exc}'),
        )
        return hints, failures

    def test_a_provider_changes_nothing_for_the_next_one(self):
        hints, _ = self.ask('Changing', 'Repeating')
        self.assertEqual({'seen': ['a', 'tier']}, hints)

    def test_making_and_reading_are_within_the_time_limit(self):
        self.addCleanup(Lazy.go_on.set)
        hints, failures = self.ask('Slow', 'NeverMade', seconds=1)
        self.assertEqual({}, hints)
        for name, text in zip(('Slow', 'NeverMade'), failures, strict=True):
            self.assertIn(f'"{name}" failed', text)
            self.assertIn('no answer within 1 seconds', text)


class TestCalls(unittest.TestCase):
    def setUp(self):
        #: A provider that answers when it is told to.
        self.go_on, self.full = threading.Event(), threading.Event()
        self.addCleanup(self.go_on.set)
        self.running = self.most = self.begun = 0
        self.lock = threading.Lock()

    def ask(self):
        with self.lock:
            self.begun += 1
            self.running += 1
            self.most = max(self.most, self.running)
            if self.running >= calls.MAX_CALLS:
                self.full.set()
        self.go_on.wait()
        with self.lock:
            self.running -= 1
        return 'answer'

    def failures(self, limited, count):
        """Return what calls fail with that are made at once."""
        errors = []

        def wait():
            try:
                limited.wait(self.ask)
            except TimeoutError as exc:
                errors.append(str(exc))

        threads.join(together(count, wait))
        return errors

    def test_what_is_raised_is_raised_and_an_exit_ends_nothing(self):
        for exc, kind, words in (
            (KeyError('rack'), KeyError, '^.?rack.?$'),
            (TimeoutError('rack'), TimeoutError, '^rack$'),
            (SystemExit('no'), ProviderError, 'SystemExit: no'),
        ):

            def ask(exc=exc):
                raise exc

            with self.assertRaisesRegex(kind, words):
                calls.Calls(LONG).wait(ask)

    def test_the_provider_logs_for_the_same_request_of_heat(self):
        ours = context.RequestContext(overwrite=True)
        current = calls.Calls(LONG).wait(context.get_current)
        self.assertIs(ours, current)

    def test_calls_are_limited_while_they_hang_and_the_others_wait(self):
        limited = calls.Calls(LONG)
        count = 3 * calls.MAX_CALLS
        answers = []
        asking = together(
            count, lambda: answers.append(limited.wait(self.ask))
        )
        self.assertTrue(self.full.wait(LONG))
        self.go_on.set()
        threads.join(asking)
        self.assertEqual(['answer'] * count, answers)
        self.assertEqual(calls.MAX_CALLS, self.most)

    def test_calls_that_nobody_waits_for_any_more_are_late_as_well(self):
        """Heat 22 kills the thread that waits if its stack is deleted."""

        class KilledError(BaseException):
            pass

        def kill(*_):
            raise KilledError

        def ask():
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
            return self.ask()

        before = signal.signal(signal.SIGUSR1, kill)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        limited = calls.Calls(LONG)
        for _ in range(calls.MAX_CALLS):
            with self.assertRaises(KilledError):
                limited.wait(ask)

        # All of them exceed their time now.
        limited._seconds = 0.0
        errors = self.failures(limited, 3)
        limited._seconds = LONG
        self.assertEqual(['16 earlier calls have no answer yet'] * 3, errors)
        self.go_on.set()
        threads.wait_until(lambda: not limited._begun, 'all calls have ended')
        self.assertEqual('answer', limited.wait(self.ask))

    def test_those_that_wait_fail_when_all_before_them_are_late(self):
        errors = self.failures(calls.Calls(0.5), calls.MAX_CALLS + 3)
        # On a busy machine, the limit may end before the last call begins.
        self.assertTrue(self.full.wait(LONG))
        self.assertEqual(calls.MAX_CALLS, self.begun)
        late = [text for text in errors if 'no answer within' in text]
        self.assertEqual(calls.MAX_CALLS, len(late))
        self.assertEqual(3, sum('16 earlier calls' in text for text in errors))
