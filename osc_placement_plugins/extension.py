# SPDX-License-Identifier: Apache-2.0

"""The plug-in module that the ``openstack`` shell imports.

The commands are the entry points ``openstack.os_placement_plugins.v1`` of
setup.cfg. The commands ask the APIs of Senlin and Nova through the SDK,
so this module adds no client and no option to the shell.
"""

import argparse
from typing import Final

API_NAME: Final = 'os_placement_plugins'
API_VERSION_OPTION: Final = 'os_placement_plugins_api_version'
DEFAULT_API_VERSION: Final = '1'
API_VERSIONS: Final = ('1',)


def build_option_parser(
    parser: argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    """Return the shell's parser unchanged; the shell needs this function."""
    return parser
