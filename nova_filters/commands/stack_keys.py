# SPDX-License-Identifier: Apache-2.0

"""What the commands about stack hints share: Heat's keys, and a newer Nova."""

import argparse
from typing import Any, Final

from openstack import utils
from osc_lib import exceptions

from nova_filters import conf
from os_placement_plugins import signature
from os_placement_plugins.commands.files import (
    read_configuration,
    read_text,
    reading,
)

#: Since this microversion Nova shows the hints of a server.
HINTS_SHOWN: Final = '2.100'


def add_arguments(parser: argparse.ArgumentParser, long: str) -> None:
    """Add the arguments that name files with servers, and keys, and --long.

    :param long: the help of --long.
    """
    parser.add_argument(
        '--servers',
        metavar='<file>',
        action='append',
        default=[],
        help="offline input: responses from Nova's API, or the output of "
        '"server show" as JSON or YAML, with microversion '
        f'{HINTS_SHOWN} or newer; can be repeated',
    )
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument(
        '--config-file',
        metavar='<file>',
        help='check signatures with the signing_key in [heat_hints] of '
        'this nova.conf or heat.conf',
    )
    keys.add_argument(
        '--key-file',
        metavar='<file>',
        help='check signatures with the keys in this file, one on each line',
    )
    parser.add_argument('--long', action='store_true', help=long)


def read(parsed_args: argparse.Namespace) -> signature.Keys:
    """Return the keys of Heat; none if nobody asked for a check.

    :raises CommandError: when a file cannot be read or has no key.
    """
    path = parsed_args.config_file or parsed_args.key_file
    if not path:
        return signature.Keys()
    if parsed_args.config_file:
        config = read_configuration(
            path, [(conf.SIGNATURE_GROUP, conf.SIGNATURE_OPTS)]
        )
        given = config.heat_hints.signing_key
    else:
        lines = read_text(path).replace(',', '\n').splitlines()
        given = [line for line in lines if line.strip()]
    with reading(path):
        keys = signature.Keys(given)
    if not keys:
        raise exceptions.CommandError(f'No signing key is in {path!r}')
    return keys


def compute(connection: Any) -> Any:
    """Return the SDK's proxy of a Nova that shows hints.

    :raises CommandError: when this Nova is too old.
    """
    nova = connection.compute
    # The shell pins an old version unless told otherwise.
    nova.default_microversion = None
    if not utils.supports_microversion(nova, HINTS_SHOWN):
        raise exceptions.CommandError(
            'This Nova does not show the hints of servers; it takes API '
            f'microversion {HINTS_SHOWN}'
        )
    return nova
