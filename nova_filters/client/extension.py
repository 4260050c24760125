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

"""What the ``openstack`` shell reads of a plug-in, for this package.

The commands are the entry points ``openstack.nova_filters.v1`` of setup.cfg.
There is no API behind them but Nova's, so this adds no client, no option and
no version to choose. The shell imports this module whichever command it
runs: it loads no library.
"""

import argparse
from typing import Final

API_NAME: Final = 'nova_filters'
API_VERSION_OPTION: Final = 'os_nova_filters_api_version'
DEFAULT_API_VERSION: Final = '1'
API_VERSIONS: Final = ('1',)


def build_option_parser(
    parser: argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    """Add no global option.

    :param parser: the shell's parser.
    :returns: the same one.
    """
    return parser
