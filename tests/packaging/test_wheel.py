# SPDX-License-Identifier: Apache-2.0

import email
import tarfile
import zipfile

from tests.packaging import base
from tools import environments


class WheelTest(base.DistributionTestCase):
    def test_wheel_holds_exactly_the_three_packages(self):
        roots = {name.split('/')[0] for name in self.names_in_wheel()}
        packages = {root for root in roots if not root.endswith('.dist-info')}
        self.assertEqual(base.PACKAGES, packages)
        self.assertEqual(len(packages) + 1, len(roots))

    def test_wheel_holds_every_module_of_the_packages(self):
        tracked = base.git(
            'ls-files', '-c', '-o', '--exclude-standard', *base.PACKAGES
        ).split()
        wanted = {
            name for name in tracked if (environments.ROOT / name).exists()
        }
        found = {
            name
            for name in self.names_in_wheel()
            if name.split('/')[0] in base.PACKAGES
        }
        self.assertEqual(wanted, found)

    def test_services_are_extras_and_never_requirements(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            (name,) = (
                name
                for name in wheel.namelist()
                if name.endswith('.dist-info/METADATA')
            )
            metadata = email.message_from_bytes(wheel.read(name))
        self.assertEqual(
            {'senlin', 'nova', 'heat', 'client'},
            set(metadata.get_all('Provides-Extra')),
        )
        # Nor does a service need the openstack command, or a client a service.
        services = (
            'senlin',
            'nova',
            'openstack-heat',
            'python-openstackclient',
            'osc-lib',
            'openstacksdk',
        )
        found = set()
        for requirement in metadata.get_all('Requires-Dist'):
            if requirement.startswith(services):
                self.assertRegex(requirement, 'extra ==')
                found.add(requirement.split(';')[0].split('>')[0].strip())
        self.assertEqual(set(services), {name.split('<')[0] for name in found})

    def test_sdist_holds_what_builds_and_tests_it(self):
        with tarfile.open(self.sdist) as sdist:
            names = {
                member.name.partition('/')[2] for member in sdist.getmembers()
            }
        for wanted in (
            'LICENSE',
            'Makefile',
            'README.rst',
            'constraints/2024.1.txt',
            'demo/__main__.py',
            'setup.cfg',
            'tests/packaging/test_wheel.py',
        ):
            self.assertIn(wanted, names)
