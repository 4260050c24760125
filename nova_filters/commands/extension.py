# SPDX-License-Identifier: Apache-2.0

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
