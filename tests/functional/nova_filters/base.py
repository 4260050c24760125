# SPDX-License-Identifier: Apache-2.0

"""A cloud for the tests of the filter and of the weigher."""

import functools
import itertools
import logging
import unittest
from typing import Any

from testing.nova import engine

#: What switches the check of the metadata on.
ON = {'force_metadata_check': 'True'}

# What the tests look at they catch; the rest is not for the terminal.
logging.getLogger().addHandler(logging.NullHandler())


@functools.cache
def cloud() -> engine.Cloud:
    """Return the cloud of this process: Nova's databases are global."""
    return engine.Cloud()


def loaded_filter() -> Any:
    """Return the filter as a new scheduler has loaded it."""
    return cloud().scheduler(engine.OURS).host_manager.enabled_filters[-1]


def records() -> Any:
    """Collect what the filter logs meanwhile, DEBUG included."""
    return engine.records(logging.DEBUG)


class OptionTestCase(unittest.TestCase):
    """Nova's options, until the end of the test."""

    def set_option(
        self, name: str, value: Any, group: str = 'nova_filters'
    ) -> None:
        """Set an option until the end of the test."""
        engine.CONF.set_override(name, value, group=group)
        self.addCleanup(engine.CONF.clear_override, name, group=group)


class CloudTestCase(OptionTestCase):
    """Aggregates, flavors and servers of its own for each test."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = cloud()
        self.addCleanup(self.cloud.clear)
        self._numbers = itertools.count()
        self._hosts = itertools.count()

    def add_host(self, *metadata: dict[str, str]) -> str:
        """Return a host, in one new aggregate per metadata.

        The hosts themselves serve all tests: making one takes time.
        """
        host = f'host-{next(self._hosts)}'
        if host not in self.cloud.hosts:
            self.cloud.add_host(host)
        for data in metadata:
            self.add_aggregate([host], data)
        return host

    def add_aggregate(self, hosts: list[str], metadata: dict[str, str]) -> Any:
        """Return a new aggregate."""
        name = f'aggregate-{next(self._numbers)}'
        return self.cloud.add_aggregate(name, hosts, metadata)

    def add_flavor(self, extra_specs: dict[str, str]) -> Any:
        """Return a new flavor."""
        return self.cloud.add_flavor(
            f'flavor-{next(self._numbers)}', extra_specs
        )

    def boot(
        self, extra_specs: dict[str, str], hosts: list[str]
    ) -> engine.Boot:
        """Return what comes of a boot with these hosts to choose from."""
        scheduler = self.cloud.scheduler(engine.OURS)
        request = self.cloud.request(self.add_flavor(extra_specs), hosts)
        return self.cloud.boot(scheduler, request)
