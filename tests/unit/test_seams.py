# SPDX-License-Identifier: Apache-2.0

"""Each thing that the package uses of a service has a test that asks it."""

import unittest
from collections.abc import Iterator

import ddt
import docutils.core
import yaml
from docutils import nodes

from tests import pages, promises

PAGE = pages.PAGES / 'contributor' / 'seams.rst'
FILE = pages.ROOT / 'tests' / 'seams.yaml'


def read_rows() -> Iterator[str]:
    """Yield the service and the name in each row of the table."""
    page = docutils.core.publish_doctree(PAGE.read_text('utf-8'))
    (table,) = page.findall(nodes.tbody)
    for row in table.findall(nodes.row):
        service, name, _ = [
            ' '.join(entry.rawsource.split()) or entry.astext()
            for entry in row.findall(nodes.paragraph)
        ]
        yield f'{service}: {name}'


TESTS: dict[str, list[str]] = yaml.safe_load(FILE.read_text('utf-8'))


@ddt.ddt
class SeamsTest(unittest.TestCase):
    @ddt.data(*read_rows())
    def test_the_row_has_one_test(self, row: str) -> None:
        (test,) = (test for test, rows in TESTS.items() if row in rows)
        self.assertTrue(promises.exists(test), test)

    def test_each_entry_has_a_row(self) -> None:
        entries = [entry for rows in TESTS.values() for entry in rows]
        self.assertEqual(sorted(read_rows()), sorted(entries))
