"""Test the provider without Heat: python -m unittest."""

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
        self.conf = cfg.ConfigOpts()
        self.conf([])

    def test_a_project_has_a_rack(self):
        self.conf.register_opts(OPTS, 'rack_provider')
        self.conf.set_override(
            'racks', {REQUEST.project_id: 'r7'}, 'rack_provider'
        )
        self.assertEqual(
            {'rack': 'r7'}, RackProvider(self.conf).hints(REQUEST)
        )

    def test_without_racks_heat_engine_does_not_start(self):
        with self.assertRaises(ProviderError):
            RackProvider.check(self.conf)
