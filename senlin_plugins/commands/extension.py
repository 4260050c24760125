# SPDX-License-Identifier: Apache-2.0

"""What the ``openstack`` shell reads of a plug-in, for this package.

The commands are the entry points ``openstack.senlin_plugins.v1`` of
setup.cfg. The API behind them is Senlin's, which the SDK knows: there is no
option to add. The shell imports this module whichever command it runs, so it
loads no library.
"""

import argparse
from typing import Any, Final

API_NAME: Final = 'senlin_plugins'
API_VERSION_OPTION: Final = 'os_senlin_plugins_api_version'
DEFAULT_API_VERSION: Final = '1'
API_VERSIONS: Final = ('1',)


def make_client(instance: Any) -> Any:
    """Return what the commands ask of the cloud.

    :param instance: the shell's client manager, authenticated.
    :returns: the SDK's connection.
    """
    return instance.sdk_connection


def build_option_parser(
    parser: argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    """Return the shell's parser as it is.

    :param parser: the shell's parser.
    """
    return parser
