# SPDX-License-Identifier: Apache-2.0

import dataclasses
import tempfile
import threading
import unittest
from collections.abc import Mapping
from importlib import metadata

from oslo_config import cfg
from oslo_context import context

from heat_hints.providers import (
    NAMESPACE,
    ProviderError,
    calls,
    mapping_file,
)
from tests.unit.heat_hints import requests

#: Longer than any busy machine takes.
LONG = 600.0


class Racks:
    """A provider that cannot be made as long as ``reason`` says so."""

    reason: str | None = None
    made = 0

    def __init__(self, conf):
        Racks.made += 1
        if Racks.reason:
            raise RuntimeError(Racks.reason)


class Checked(Racks):
    @classmethod
    def check(cls, conf):
        raise ProviderError('[racks] url is not set')


def point(name):
    """Return the entry point of something in this module."""
    return metadata.EntryPoint('rack', f'{__name__}:{name}', NAMESPACE)


class TestFind(unittest.TestCase):
    def test_the_reference_provider_is_found_by_its_name(self):
        with tempfile.NamedTemporaryFile('w') as file:
            file.write(requests.MAPPING)
            file.flush()
            (maker,) = calls.find(
                requests.configuration(file.name), ['mapping_file']
            )
            self.assertEqual('mapping_file', maker.name)
            self.assertIsInstance(
                maker.get(), mapping_file.MappingFileProvider
            )

    def test_an_unknown_name_stops_the_service_and_says_what_there_is(self):
        with self.assertRaisesRegex(
            cfg.ConfigFileValueError,
            'option providers .*"nobody": .* mapping_file',
        ):
            calls.find(requests.configuration(), ['nobody'])

    def test_an_option_that_is_not_set_stops_the_service(self):
        with self.assertRaisesRegex(
            cfg.ConfigFileValueError, 'mapping_file is not set'
        ):
            calls.find(requests.configuration(), ['mapping_file'])

    def test_no_names_find_nothing(self):
        self.assertEqual((), calls.find(requests.configuration(), []))


class TestMaker(unittest.TestCase):
    def setUp(self):
        Racks.reason, Racks.made = None, 0
        self.now = 0.0

    def maker(self, name='Racks'):
        return calls.Maker(
            point(name), requests.configuration(), lambda: self.now
        )

    def test_nothing_is_made_before_it_is_asked(self):
        maker = self.maker()
        maker.check()
        self.assertEqual(0, Racks.made)
        self.assertIs(maker.get(), maker.get())
        self.assertEqual(1, Racks.made)

    def test_threads_that_ask_at_once_get_the_same_provider(self):
        maker, found = self.maker(), []
        threads = [
            threading.Thread(target=lambda: found.append(maker.get()))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((8, 1), (len(found), Racks.made))

    def test_a_failure_is_told_once_and_tried_again_after_a_minute(self):
        maker, Racks.reason = self.maker(), 'no inventory\nERROR forged'
        with self.assertLogs('heat_hints.providers', 'ERROR') as logs:
            found = {maker.get() for _ in range(9)}
            self.now = calls.RETRY_SECONDS - 1
            found.add(maker.get())
        self.assertEqual(({None}, 1), (found, Racks.made))
        (record,) = logs.records
        self.assertIn(
            '"rack" cannot be used: RuntimeError: no inventory ERROR forged',
            record.getMessage(),
        )
        self.now = calls.RETRY_SECONDS
        with self.assertLogs('heat_hints.providers', 'ERROR') as logs:
            self.assertIsNone(maker.get())
        self.assertEqual(1, len(logs.records))
        self.now, Racks.reason = 2 * calls.RETRY_SECONDS, None
        self.assertIsInstance(maker.get(), Racks)

    def test_its_own_check_refuses_wrong_options(self):
        with self.assertRaisesRegex(ProviderError, 'url is not set'):
            self.maker('Checked').check()

    def test_what_cannot_be_imported_is_told_at_the_start(self):
        with self.assertLogs('heat_hints.providers', 'ERROR') as logs:
            self.maker('NoSuchClass').check()
        self.assertIn('NoSuchClass', logs.records[0].getMessage())


class Provider:
    def __init__(self, conf):
        pass


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
        self.go_on.wait(60)
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
        Lazy.go_on.wait(60)


def ask(*classes):
    """Return the hints of providers, and what failed."""
    conf = requests.configuration()
    conf.set_override('provider_timeout', 1, 'heat_hints')
    points = (
        metadata.EntryPoint(c.__name__, f'{__name__}:{c.__name__}', NAMESPACE)
        for c in classes
    )
    told = []
    found = calls.ask(
        [calls.Maker(point, conf) for point in points],
        dataclasses.replace(requests.REQUEST, user_hints={'tier': ['a']}),
        (),
        lambda what, exc=None, told_before=False: told.append(f'{what} {exc}'),
    )
    return found, told


class TestAsk(unittest.TestCase):
    def test_a_provider_changes_nothing_for_the_next_one(self):
        found, _ = ask(Changing, Repeating)
        self.assertEqual({'seen': ['a', 'tier']}, found)

    def test_making_and_reading_are_within_the_time_limit(self):
        self.addCleanup(Lazy.go_on.set)
        found, told = ask(Slow, NeverMade)
        self.assertEqual({}, found)
        for name, text in zip(('Slow', 'NeverMade'), told, strict=True):
            self.assertIn(f'"{name}" failed', text)
            self.assertIn('no answer within 1 seconds', text)


class Hanging:
    """A provider that answers when it is told to."""

    def __init__(self):
        self.go_on = threading.Event()
        self.full = threading.Event()
        self.running = self.most = self.asked = 0
        self.lock = threading.Lock()

    def ask(self):
        with self.lock:
            self.asked += 1
            self.running += 1
            self.most = max(self.most, self.running)
            if self.running >= calls.MAX_CALLS:
                self.full.set()
        self.go_on.wait()
        with self.lock:
            self.running -= 1
        return 'answer'


def raising(exc):
    """Return a question that raises an exception."""

    def ask():
        raise exc

    return ask


class TestCalls(unittest.TestCase):
    def setUp(self):
        self.provider = Hanging()
        self.addCleanup(self.provider.go_on.set)

    def test_the_answer_is_handed_on(self):
        self.assertEqual('answer', calls.Calls(LONG).wait(lambda: 'answer'))

    def test_what_is_raised_is_raised(self):
        for exc in (KeyError('rack'), TimeoutError('rack')):
            with self.assertRaisesRegex(type(exc), '^.?rack.?$'):
                calls.Calls(LONG).wait(raising(exc))

    def test_an_exit_ends_nothing(self):
        with self.assertRaisesRegex(ProviderError, 'SystemExit: no inventory'):
            calls.Calls(LONG).wait(raising(SystemExit('no inventory')))

    def test_the_provider_logs_for_the_same_request_of_heat(self):
        ours = context.RequestContext(overwrite=True)
        found = calls.Calls(LONG).wait(context.get_current)
        self.assertIs(ours, found)

    def test_one_that_hangs_fails_and_is_not_asked_for_ever(self):
        limited = calls.Calls(0.01)
        for _ in range(calls.MAX_CALLS):
            with self.assertRaisesRegex(TimeoutError, 'within 0.01 seconds'):
                limited.wait(self.provider.ask)
        for _ in range(3):
            with self.assertRaisesRegex(TimeoutError, '16 earlier calls'):
                limited.wait(self.provider.ask)
        self.assertEqual(calls.MAX_CALLS, self.provider.asked)

    def test_calls_are_limited_while_they_hang_and_the_others_wait(self):
        limited, found = calls.Calls(LONG), []
        threads = [
            threading.Thread(
                target=lambda: found.append(limited.wait(self.provider.ask))
            )
            for _ in range(3 * calls.MAX_CALLS)
        ]
        for thread in threads:
            thread.start()
        self.assertTrue(self.provider.full.wait(LONG))
        self.provider.go_on.set()
        for thread in threads:
            thread.join()
        self.assertEqual(['answer'] * len(threads), found)
        self.assertEqual(calls.MAX_CALLS, self.provider.most)

    def test_those_that_wait_fail_when_all_before_them_are_late(self):
        limited, told = calls.Calls(0.5), []

        def wait():
            try:
                limited.wait(self.provider.ask)
            except TimeoutError as exc:
                told.append(str(exc))

        threads = [
            threading.Thread(target=wait) for _ in range(calls.MAX_CALLS + 3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(calls.MAX_CALLS, self.provider.asked)
        late = [text for text in told if 'no answer within' in text]
        self.assertEqual(calls.MAX_CALLS, len(late))
        self.assertEqual(3, sum('16 earlier calls' in text for text in told))
