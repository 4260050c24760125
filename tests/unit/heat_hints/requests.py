# SPDX-License-Identifier: Apache-2.0

"""A resource and a configuration for the tests of hints and providers."""

from oslo_config import cfg

from heat_hints import conf as heat_hints_conf
from heat_hints.deciding.resource import Request
from os_placement_plugins.stack_hints import PathStep
from tests import configurations

#: A server in a stack that is nested in the stack "web".
REQUEST = Request(
    resource_type='OS::Nova::Server',
    resource_name='db',
    resource_uuid='uuid-db',
    project_id='project',
    stack_id='id-inner',
    stack_name='web-inner-abc',
    root_stack_id='id-root',
    path=(PathStep(None, 'web'), PathStep('inner', 'web-inner-abc')),
    user_hints={},
)
#: A mapping file that has a hint for this server.
MAPPING = '- {stack: web, hints: {rack: r1}}\n'


def configuration(mapping_file: object = None) -> cfg.ConfigOpts:
    """Return heat-engine's configuration, with or without a mapping file."""
    line = '' if mapping_file is None else f'mapping_file = {mapping_file}\n'
    return configurations.load(
        heat_hints_conf.list_opts(), f'[heat_hints]\n{line}'
    )
