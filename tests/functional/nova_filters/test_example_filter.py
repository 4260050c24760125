# SPDX-License-Identifier: Apache-2.0

"""The filter that the page shows for others, in Nova's scheduler."""

import importlib
import sys

from tests import processes, signing
from tests.functional.nova_filters import base

EXAMPLES = processes.ROOT / 'doc' / 'source' / 'examples'
NAME = 'OneStackFilter'


class ExampleFilterTest(base.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        sys.path.insert(0, str(EXAMPLES))
        self.addCleanup(sys.path.remove, str(EXAMPLES))
        # The module registers the option.
        importlib.import_module('one_stack_filter')
        self.set_option('signing_key', [signing.KEY], 'heat_hints')
        self.set_option(
            'available_filters',
            ['nova.scheduler.filters.all_filters', f'one_stack_filter.{NAME}'],
            'filter_scheduler',
        )

    def host(self, hints: dict) -> str | None:
        """Return where a server with these hints is put."""
        request = self.cloud.request(self.flavor, self.hosts, hints)
        return self.cloud.boot(self.scheduler, request).host

    def test_the_hosts_are_for_servers_that_heat_signed(self) -> None:
        kept = self.add_host({'root_stack': 'a'})
        other = self.add_host()
        self.scheduler = self.cloud.scheduler(NAME)
        self.flavor = self.add_flavor({})
        member = {'heat_root_stack_id': 'a'}
        project = self.cloud.request(self.flavor).project_id
        signed = signing.signed(member, project)
        stranger = signing.signed({'heat_root_stack_id': 'b'}, project)
        self.hosts = [kept]
        self.assertEqual(kept, self.host(signed))
        for hints in {}, member, stranger:
            self.assertIsNone(self.host(hints), hints)
        # Other hosts are for everybody.
        self.hosts = [kept, other]
        self.assertEqual(other, self.host({}))
