"""Test the provider without Heat: python -m unittest."""

import pathlib
import tempfile
import unittest

from oslo_config import cfg
from rack_provider import OPTS, RackProvider

from heat_hints.providers import PathStep, ProviderError, Request

REQUEST = Request(
    resource_type='OS::Nova::Server',
    resource_name='db',
    resource_uuid='c1f0a2b4-5d6e-4f70-8192-a3b4c5d6e7f8',
    project_id='2f4b3a0c5f2e4a2b9d3c7e6f1a0b9c8d',
    stack_id='e4d2c0b8-6a19-4f35-8d7c-2b1a09f8e7d6',
    stack_name='web',
    root_stack_id='e4d2c0b8-6a19-4f35-8d7c-2b1a09f8e7d6',
    path=(PathStep(None, 'web'),),
    user_hints={},
)


class RackProviderTest(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.file = pathlib.Path(folder, 'racks.json')
        self.conf = cfg.ConfigOpts()
        self.conf([])
        self.conf.register_opts(OPTS, 'rack_provider')
        self.conf.set_override('file', str(self.file), 'rack_provider')

    def test_a_project_has_a_rack(self):
        for project, rack in ((REQUEST.project_id, 'r7'), ('other', None)):
            self.file.write_text(f'{{"{project}": "r7"}}')
            RackProvider.check(self.conf)
            hints = RackProvider(self.conf).hints(REQUEST)
            self.assertEqual({'rack': rack}, hints)

    def test_without_a_file_heat_engine_does_not_start(self):
        for text in (None, '{', '7'):
            if text:
                self.file.write_text(text)
            with self.assertRaises(ProviderError):
                RackProvider.check(self.conf)
