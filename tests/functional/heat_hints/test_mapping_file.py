# SPDX-License-Identifier: Apache-2.0

"""The mapping file in a process that is prepared as heat-engine is."""

import unittest

from tests import processes

#: Before Heat 27 all threads of this process are green: whoever computes
#: lets no other work.
BUSY = """
import heat.cmd.engine
import pathlib
import tempfile

from heat_hints.deciding import mapping
from heat_hints.providers import mapping_file

busy = True


def compute(data):
    while busy:
        pass
    return ('new',)


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / 'mapping.yaml'
    path.write_text('- {hints: {rack: r1}}')
    file = mapping_file._File(path)
    mapping.parse = compute
    path.write_text('- {hints: {rack: r2}}\\n')
    print(file.rules(0.0)[0].hints['rack'])
    busy = False
    print(file.rules(600.0)[0])
"""


class TestBesideHeat(unittest.TestCase):
    def test_a_file_that_is_read_keeps_no_server_waiting(self) -> None:
        self.assertEqual(['r1', 'new'], processes.run_python(BUSY))
