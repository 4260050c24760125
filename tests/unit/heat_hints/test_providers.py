# SPDX-License-Identifier: Apache-2.0

import asyncio
import pathlib
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import ddt
from oslo_config import cfg
from oslo_context import context

from heat_hints import providers
from heat_hints.providers import NAMESPACE, ProviderError
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


def join(started):
    """Wait for the end of threads, but for none of them without a limit."""
    for thread in started:
        thread.join(LONG)
        if thread.is_alive():
            raise AssertionError(f'{thread.name} goes on')


class Provider:
    def __init__(self, conf):
        pass

    def hints(self, request):
        return {}


class Racks:
    """A provider that cannot be made as long as ``reason`` says so."""

    reason: str | None = None
    made = 0

    def __init__(self, conf):
        Racks.made += 1
        if Racks.reason:
            raise RuntimeError(Racks.reason)

    def hints(self, request):
        return {'rack': 'r7', 'made': Racks.made}


class Grouping(Provider):
    def hints(self, request):
        return {'rack': 'r8', 'group': 'x', 'tier': None}


class Lazy(dict):
    """What a provider returns is looked up only as it is read."""

    go_on = threading.Event()

    def items(self):
        self.go_on.wait(LONG)
        return ()


class Slow(Provider):
    def hints(self, request):
        return Lazy()


class NeverMade:
    def __init__(self, conf):
        Lazy.go_on.wait(LONG)


class Unready(Provider):
    @classmethod
    def check(cls, conf):
        raise RuntimeError('no inventory\nERROR forged')

    def hints(self, request):
        return {'ready': 'now'}


class Threaded(Provider):
    """A provider with a slow check, which remembers its thread."""

    checked_in = None

    @classmethod
    def check(cls, conf):
        time.sleep(1.1)
        cls.checked_in = threading.current_thread()


class Ending(Provider):
    """A provider that ends its process, as far as it can."""

    @classmethod
    def check(cls, conf):
        sys.exit('no inventory')

    def hints(self, request):
        return {'ready': 'now'}


class Hintless:
    """A class that is no provider."""

    def __init__(self, conf):
        pass


SEVEN = 7


class Unset(Provider):
    @classmethod
    def check(cls, conf):
        raise ProviderError('[racks] file is not set')


def hang(case):
    """Have providers wait until the test ends."""
    Lazy.go_on.clear()
    case.addCleanup(Lazy.go_on.set)


def caller(name, conf):
    """Return what calls a provider of this module."""
    return providers.Caller(name, globals()[name], conf)


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
            f'unready = {__name__}:Unready\n'
            f'threaded = {__name__}:Threaded\n'
            f'ending = {__name__}:Ending\n'
            f'hintless = {__name__}:Hintless\n'
            f'seven = {__name__}:SEVEN\n'
            'gone = gone_for_tests:Gone\n'
        )
        sys.path.append(folder)
        self.addCleanup(sys.path.remove, folder)

    @ddt.data(
        ('nobody', 'providers .*"nobody"; .* here are: .*, racks, .*, unset'),
        ('unset', r'"unset": \[racks\] file is not set'),
    )
    @ddt.unpack
    def test_a_wrong_name_or_option_stops_the_service(self, name, words):
        with self.assertRaisesRegex(cfg.ConfigFileValueError, words):
            self.find(name)

    def find(self, names, *lines):
        conf = requests.configuration(f'providers = {names}', *lines)
        return providers.find(conf)

    def test_names_are_found_once_and_nothing_is_made(self):
        self.assertEqual((), self.find(''))
        Racks.made = 0
        callers = self.find('racks,racks')
        self.assertEqual(['racks'], [found.name for found in callers])
        self.assertEqual(0, Racks.made)

    def test_a_line_names_a_provider_before_it_is_loaded(self):
        with self.assertLogs(LOG, 'INFO') as logs:
            self.find('threaded', 'provider_timeout = 1')
        self.assertEqual(
            [
                'INFO:heat_hints.providers:heat_hints: loading the provider '
                '"threaded".'
            ],
            logs.output,
        )
        # heat-engine forks while a thread that hangs still runs.
        self.assertIs(threading.current_thread(), Threaded.checked_in)

    @ddt.data(
        (
            'unready',
            'RuntimeError: no inventory ERROR forged',
            {'ready': 'now'},
        ),
        ('ending', 'SystemExit: no inventory', {'ready': 'now'}),
        (
            'gone',
            'ModuleNotFoundError: ',
            {},
            'heat-engine could not import it',
        ),
        ('hintless', 'TypeError: .*Hintless.* has no method "hints"', {}, ''),
        ('seven', 'TypeError: .*SEVEN.* has no method "hints"', {}, ''),
    )
    @ddt.unpack
    def test_one_line_names_a_provider_that_fails(
        self, name, reason, answer, cause=None
    ):
        with self.assertLogs(LOG, 'ERROR') as logs:
            callers = self.find(name)
        self.assertEqual([name], [found.name for found in callers])
        (line,) = logs.output
        self.assertRegex(line, f'"{name}" failed at the start: {reason}')
        failures = []
        found = providers.ask(
            callers, requests.REQUEST, lambda *words: failures.append(words)
        )
        self.assertEqual(answer, found)
        causes = [str(exc) for _, exc in failures]
        self.assertEqual(cause is not None, bool(causes))
        for text in causes:
            self.assertIn(cause, text)


class TestAsk(unittest.TestCase):
    def setUp(self):
        Racks.reason, Racks.made = None, 0

    def ask(self, *names, seconds=LONG):
        """Return the hints of providers, and what failed.

        :param seconds: how long each provider may take.
        """
        conf = requests.configuration(f'provider_timeout = {seconds:.0f}')
        return self.ask_callers([caller(name, conf) for name in names])

    def ask_callers(self, callers):
        failures = []
        hints = providers.ask(
            callers,
            requests.REQUEST,
            lambda what, exc=None: failures.append(f'{what} {exc}'),
        )
        return hints, failures

    def test_what_is_refused_is_told_and_a_taken_name_fails_nothing(self):
        with self.assertLogs(LOG, 'WARNING') as logs:
            hints, failures = self.ask('Racks', 'Grouping')
        self.assertEqual({'rack': 'r7', 'made': '1'}, hints)
        (failure,) = failures
        self.assertRegex(failure, 'group.* "Grouping".*Nova acts on this')
        (line,) = logs.output
        self.assertRegex(line, 'rack.* "Grouping".*earlier provider')

    def test_making_and_reading_are_within_the_time_limit(self):
        hang(self)
        hints, failures = self.ask('Slow', 'NeverMade', seconds=1)
        self.assertEqual({}, hints)
        for name, text in zip(('Slow', 'NeverMade'), failures, strict=True):
            self.assertIn(f'"{name}" failed', text)
            self.assertIn('no answer within 1 seconds', text)

    def test_a_provider_that_cannot_be_made_is_made_for_a_later_server(self):
        racks = caller('Racks', requests.configuration())
        Racks.reason = 'no inventory'
        for _ in range(2):
            hints, failures = self.ask_callers([racks])
            self.assertEqual({}, hints)
            (failure,) = failures
            self.assertIn('"Racks" failed no inventory', failure)
        Racks.reason = None
        expected = {'rack': 'r7', 'made': '3'}, []
        self.assertEqual(expected, self.ask_callers([racks]))
        self.assertEqual(expected, self.ask_callers([racks]))

    def test_threads_that_ask_at_once_get_the_same_provider(self):
        racks = caller('Racks', requests.configuration())
        answers = []
        join(together(8, lambda: answers.append(racks.ask(None, {})[0])))
        self.assertEqual([{'rack': 'r7', 'made': '1'}] * 8, answers)


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
            if self.running >= providers.MAX_CALLS:
                self.full.set()
        self.go_on.wait(LONG)
        with self.lock:
            self.running -= 1
        return 'answer'

    def test_what_is_raised_is_raised(self):
        for exc, kind, words in (
            (KeyError('rack'), KeyError, '^.?rack.?$'),
            (TimeoutError('rack'), TimeoutError, '^rack$'),
        ):

            def ask(exc=exc):
                raise exc

            with self.assertRaisesRegex(kind, words):
                providers.Calls(LONG).wait(ask)

    def test_what_would_end_a_thread_is_told_at_once_and_nowhere_else(self):
        class Odd(BaseException):
            def __str__(self):
                raise self

        for exc, words in (
            (SystemExit('rack'), '^SystemExit: rack$'),
            (asyncio.CancelledError('password=rack'), r'=\*\*\*$'),
            (KeyboardInterrupt(), '^KeyboardInterrupt$'),
            (Odd(), '^Odd$'),
        ):

            def ask(exc=exc):
                raise exc

            with (
                mock.patch.object(threading, 'excepthook') as hook,
                self.assertRaisesRegex(RuntimeError, words),
            ):
                providers.Calls(LONG).wait(ask)
            hook.assert_not_called()

    def test_a_thread_that_cannot_be_started_takes_no_room(self):
        calls = providers.Calls(LONG)
        refuse = mock.patch.object(
            threading.Thread, 'start', side_effect=RuntimeError('no thread')
        )
        with refuse:
            for _ in range(providers.MAX_CALLS + 1):
                with self.assertRaisesRegex(RuntimeError, 'no thread'):
                    calls.wait(self.ask)
        self.go_on.set()
        self.assertEqual('answer', calls.wait(self.ask))

    def test_the_provider_logs_for_the_same_request_of_heat(self):
        ours = context.RequestContext(overwrite=True)
        current = providers.Calls(LONG).wait(context.get_current)
        self.assertIs(ours, current)

    def test_calls_are_limited_while_they_hang_and_the_others_wait(self):
        limited = providers.Calls(LONG)
        count = 3 * providers.MAX_CALLS
        answers = []
        asking = together(
            count, lambda: answers.append(limited.wait(self.ask))
        )
        self.assertTrue(self.full.wait(LONG))
        self.go_on.set()
        join(asking)
        self.assertEqual(['answer'] * count, answers)
        self.assertEqual(16, self.most)

    def test_those_that_wait_fail_when_all_before_them_hang(self):
        limited = providers.Calls(0.5)
        errors = []

        def wait():
            try:
                limited.wait(self.ask)
            except TimeoutError as exc:
                errors.append(str(exc))

        join(together(providers.MAX_CALLS + 3, wait))
        # On a busy machine, the limit may end before the last call begins.
        self.assertTrue(self.full.wait(LONG))
        self.assertEqual(16, self.begun)
        late = [text for text in errors if 'no answer within' in text]
        self.assertEqual(providers.MAX_CALLS, len(late))
        self.assertEqual(3, sum('16 earlier calls' in text for text in errors))
        # They are running although nobody waits for them any more.
        with self.assertRaisesRegex(TimeoutError, '16 earlier calls'):
            limited.wait(self.ask)
        self.go_on.set()
        limited._seconds = LONG
        self.assertEqual('answer', limited.wait(self.ask))
