# SPDX-License-Identifier: Apache-2.0

"""What only two schedulers, and Nova's own API, can tell of the filter."""

from tests.cloud import base, nova_base


class FilterTest(nova_base.PlacementTest):
    """A test with hosts that demand an extra spec."""

    def assert_refused(self, servers: list[str]) -> None:
        """Fail unless all hosts have refused servers, for this reason."""
        self.assertEqual({None}, set(self.hosts_of(servers).values()))
        number = len(self.hosts)
        for server in servers:
            self.logged(
                rf"Instance {server}, flavor '.*?': 0 of {number} hosts:"
                rf" {number} [^,]*demands 'os'"
            )


class TestMetadata(FilterTest):
    def test_change_of_metadata_counts_at_once(self):
        aggregate = self.make_aggregate(
            {'os': 'windows', 'force_metadata_check': 'True'},
            *self.hosts,
        )
        flavor = self.make_flavor({})
        for forced in ('True', 'False', 'True'):
            with self.subTest(force_metadata_check=forced):
                self.compute.set_aggregate_metadata(
                    aggregate, {'force_metadata_check': forced}
                )
                # Enough of them for both schedulers.
                servers = self.at_once(self.boot, [flavor] * 4)
                if forced == 'True':
                    self.assert_refused(servers)
                else:
                    self.assertNotIn(None, self.hosts_of(servers).values())


class TestMetadataInNewestNova(TestMetadata):
    region = base.TWO
