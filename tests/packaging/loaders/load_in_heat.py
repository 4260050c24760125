# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
