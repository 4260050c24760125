# SPDX-License-Identifier: Apache-2.0

"""Load resource types as heat-engine does when it starts.

Run by path in an environment that holds Heat alone, with a heat.conf in the
current folder; prints the modules of the class that stands behind a server,
and of the method that gives a server its hints.
"""

# The import chooses the threading backend, so it stands first.
import heat.cmd.engine  # noqa: F401  isort: skip

from heat.engine import resources
from oslo_config import cfg

cfg.CONF([], project='heat', default_config_files=['heat.conf'])
resources.initialise()
server = resources.global_env().get_class('OS::Nova::Server')
print(server._scheduler_hints.__module__)
print(*(cls.__module__ for cls in server.__mro__))
