# SPDX-License-Identifier: Apache-2.0

"""What only two schedulers, and Nova's own API, can tell of the filter."""

from tests.cloud import base, nova_base


class TestMetadata(nova_base.PlacementTest):
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
                hosts = set(self.hosts_of(servers).values())
                if forced == 'False':
                    self.assertNotIn(None, hosts)
                    continue
                self.assertEqual({None}, hosts)
                for server in servers:
                    ((reason, number),) = self.reasons(server).items()
                    self.assertEqual(len(self.hosts), number, reason)
                    self.assertIn("demands 'os'", reason)


class TestMetadataInNewestNova(TestMetadata):
    region = base.TWO


class TestRebuild(nova_base.PlacementTest):
    """An aggregate is forced when a server runs there that lacks the key."""

    def test_rebuild_passes_and_forged_rebuild_does_not(self):
        flavor = self.make_flavor({})
        server = self.boot(flavor)
        host = self.host_of(server)
        self.make_aggregate(
            {'os': 'windows', 'force_metadata_check': 'True'}, *self.hosts
        )
        forged = self.boot(flavor, {'_nova_check_type': 'rebuild'})
        self.assertIsNone(self.host_of(forged))
        # This region's Nova lets it through to the scheduler.
        self.assertIn('_nova_check_type', self.hints(self.region, forged))
        ((reason, number),) = self.reasons(forged).items()
        self.assertEqual(len(self.hosts), number, reason)
        self.assertIn("demands 'os'", reason)

        image = self.make_image()
        # The scheduler is asked because the image is another one.
        self.compute.rebuild_server(server, image=image)
        self.assertEqual(host, self.host_of(server))
        self.assertEqual(image, self.compute.get_server(server).image.id)

    def make_image(self) -> str:
        """Make an image and return its id."""
        glance = self.admin[self.region].image
        made = glance.create_image(
            base.unique('image'),
            data=bytes(1024),
            disk_format='raw',
            container_format='bare',
        ).id
        self.addCleanup(glance.delete_image, made)
        return made
