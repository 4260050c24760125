# SPDX-License-Identifier: Apache-2.0

"""What only two schedulers, and Nova's own API, can tell of the filter."""

from tests.cloud import base, layout, nova_base


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


class TestRebuild(FilterTest):
    """An aggregate is forced when a server runs there that lacks the key."""

    def test_rebuild_passes_and_forged_rebuild_does_not(self):
        flavor = self.make_flavor({})
        server = self.boot(flavor)
        host = self.host_of(server)
        self.make_aggregate(
            {'os': 'windows', 'force_metadata_check': 'True'}, *self.hosts
        )
        forged = self.boot(flavor, {'_nova_check_type': 'rebuild'})
        self.assert_refused([forged])
        # This region's Nova lets it through to the scheduler.
        self.assertIn('_nova_check_type', self.hints(self.region, forged))

        glance = self.admin[self.region].image
        image = glance.find_image(layout.OTHER_IMAGE).id
        # The scheduler is asked because the image is another one.
        self.compute.rebuild_server(server, image=image)
        self.assertEqual(host, self.host_of(server))
        self.assertEqual(image, self.compute.get_server(server).image.id)
