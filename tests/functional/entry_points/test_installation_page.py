# SPDX-License-Identifier: Apache-2.0

"""The installation page: its files, before the services that read them."""

import re
import textwrap

from tests import console, processes, upgrade_checks

PAGE = processes.ROOT / 'doc' / 'source' / 'install.rst'
#: Senlin's database, of which the page says nothing.
DATABASE = 'Attached policies'


def block(name: str) -> str:
    """Return the lines that the page shows for a file.

    :param name: the file, which is the title of a section.
    :returns: the first block of the section.
    """
    (section,) = re.findall(
        rf'^{re.escape(name)}\n-+\n(.*?)^[^\n]+\n[-=]+\n',
        PAGE.read_text('utf-8'),
        re.M | re.S,
    )
    found = re.search(r'\.\. code-block:: ini\n\n((?:   .*\n|\n)+)', section)
    assert found, name
    return textwrap.dedent(found[1])


class SenlinTest(upgrade_checks.UpgradeCheckCase):
    command = 'senlin-plugins-status'
    file = 'senlin.conf'

    def test_the_check_has_nothing_to_say_of_the_lines(self):
        checks = self.check(block(self.file)).checks
        self.assertIn(DATABASE, checks)
        del checks[DATABASE]
        self.assertEqual({'SUCCESS'}, {code for code, _ in checks.values()})


class NovaTest(upgrade_checks.UpgradeCheckCase):
    command = 'nova-filters-status'
    file = 'nova.conf'

    def test_the_check_has_nothing_to_say_of_the_lines(self):
        self.assert_clean(block(self.file))

    def test_nor_of_those_of_the_quickstart(self):
        (lines,) = console.blocks('quickstart-nova.rst', 'ini')
        self.assert_clean(lines.text)

    def test_without_the_weigher_there_is_nothing_to_say_either(self):
        text, weigher, _ = block(self.file).partition('# Only for')
        self.assertTrue(weigher)
        self.assert_clean(text)


class HeatTest(upgrade_checks.UpgradeCheckCase):
    command = 'heat-hints-status'
    file = 'heat.conf'

    def test_the_check_has_nothing_to_say_of_the_lines(self):
        self.assert_clean(block(self.file))

    def test_both_services_have_the_same_key(self):
        keys = {
            line
            for name in ('nova.conf', self.file)
            for line in block(name).splitlines()
            if line.startswith('signing_key')
        }
        self.assertEqual(1, len(keys), keys)
