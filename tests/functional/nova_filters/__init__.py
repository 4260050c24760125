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

"""The filter and the weigher in a real scheduler.

Importing this package starts Nova's concurrency as the nova-scheduler
command does; the tests of a process share one cloud, because Nova's
databases are global.
"""

import functools
import logging

from demo.nova import engine

# What the tests look at they catch; the rest is not for the terminal.
logging.getLogger().addHandler(logging.NullHandler())


@functools.cache
def cloud() -> engine.Cloud:
    """Return the cloud of this process."""
    return engine.Cloud()
