# SPDX-License-Identifier: Apache-2.0

"""The sample files of the options, as ``make sample`` writes them."""

import importlib
import pathlib
import tempfile
import unittest

import ddt

from tests import processes

PACKAGES = ('senlin_plugins', 'nova_filters', 'heat_hints')
PROGRAM = """
import sys
from oslo_config import generator
generator.main(sys.argv[1:])
"""


@ddt.ddt
class SampleTest(unittest.TestCase):
    """oslo.config's generator finds each package by its entry point."""

    def sample(self, package: str) -> str:
        """Return the sample file of a package."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f'{package}.conf.sample'
            processes.run_python(
                PROGRAM,
                *('--namespace', package),
                *('--wrap-width', '79'),
                *('--output-file', str(path)),
            )
            return path.read_text()

    @ddt.data(*PACKAGES)
    def test_it_names_every_option_with_its_help(self, package: str) -> None:
        conf = importlib.import_module(f'{package}.conf')
        lines = self.sample(package).splitlines()
        said = ' '.join(' '.join(line.lstrip('#') for line in lines).split())
        listed = conf.list_opts()
        self.assertTrue(listed)
        for group, opts in listed:
            self.assertTrue(opts)
            self.assertIn(f'[{group.name}]', lines)
            for opt in opts:
                self.assertTrue(
                    any(line.startswith(f'#{opt.name} =') for line in lines),
                    opt.name,
                )
                self.assertIn(' '.join(opt.help.split()), said)

    @ddt.data(*PACKAGES)
    def test_it_keeps_the_lines_of_each_help(self, package: str) -> None:
        # A line that is too long for the sample goes on at the left margin,
        # whatever the indent of its item.
        conf = importlib.import_module(f'{package}.conf')
        lines = self.sample(package).splitlines()
        for group, opts in conf.list_opts():
            for opt in opts:
                for line in opt.help.strip().splitlines():
                    wanted = f'# {line}' if line else '#'
                    self.assertIn(wanted, lines, f'{group.name}.{opt.name}')

    def test_make_writes_all_of_them(self) -> None:
        text = (processes.ROOT / 'Makefile').read_text()
        self.assertIn(f'for name in {" ".join(PACKAGES)}; do', text)
