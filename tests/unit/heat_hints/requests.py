# SPDX-License-Identifier: Apache-2.0

"""A resource and a configuration for the tests of hints and providers."""

from oslo_config import cfg

from heat_hints import conf as heat_hints_conf
from heat_hints.hints import Request
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


def configuration(*lines: str) -> cfg.ConfigOpts:
    """Return heat-engine's configuration.

    :param lines: the lines below ``[heat_hints]``.
    """
    return configurations.load(
        heat_hints_conf.list_opts(), '\n'.join(['[heat_hints]', *lines])
    )
