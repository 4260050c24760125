# SPDX-License-Identifier: Apache-2.0

import dataclasses
import threading
import unittest
from collections.abc import Mapping
from importlib import metadata

from heat_hints.providers import NAMESPACE, asking, making
from tests.unit.heat_hints.requests import REQUEST, configuration


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


def ask(*classes):
    """Return the hints of providers, and what failed."""
    conf = configuration()
    conf.set_override('provider_timeout', 1, 'heat_hints')
    points = (
        metadata.EntryPoint(c.__name__, f'{__name__}:{c.__name__}', NAMESPACE)
        for c in classes
    )
    told = []
    found = asking.ask(
        [making.Maker(point, conf) for point in points],
        dataclasses.replace(REQUEST, user_hints={'tier': ['a']}),
        (),
        lambda what, exc=None, told_before=False: told.append(f'{what} {exc}'),
    )
    return found, told


class TestAsk(unittest.TestCase):
    def test_a_provider_changes_nothing_for_the_next_one(self):
        found, _ = ask(Changing, Repeating)
        self.assertEqual({'seen': ['a', 'tier']}, found)

    def test_what_is_read_late_is_read_within_the_time_limit(self):
        self.addCleanup(Lazy.go_on.set)
        found, (told,) = ask(Slow)
        self.assertEqual({}, found)
        self.assertIn('no answer within', told)
