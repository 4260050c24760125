# SPDX-License-Identifier: Apache-2.0

"""The ``heat.conf`` of the embedded heat-engines."""

import pathlib
from collections.abc import Mapping

from testing.heat import loopback


def write(
    folder: pathlib.Path,
    cloud_url: str,
    settings: Mapping[str, Mapping[str, str]],
    log: pathlib.Path | None = None,
) -> pathlib.Path:
    """Write a ``heat.conf``.

    :param cloud_url: where the loopback cloud answers.
    :param settings: further lines, by section and option.
    :param log: a file for the log, or ``None``.
    """
    sections: dict[str, dict[str, str]] = {
        'DEFAULT': {
            'transport_url': 'fake://',
            'deferred_auth_method': 'password',
            'num_engine_workers': '1',
            'auth_encryption_key': 'demo' * 8,
            'region_name_for_services': loopback.REGION,
            'environment_dir': str(folder / 'environment.d'),
            'template_dir': str(folder / 'templates'),
            'error_wait_time': '1',
        },
        'clients_keystone': {'auth_uri': f'{cloud_url}/identity/v3'},
        'keystone_authtoken': {'www_authenticate_uri': cloud_url},
        'oslo_policy': {'policy_file': str(folder / 'policy.yaml')},
    }
    if log is not None:
        sections['DEFAULT']['log_file'] = str(log)
    for section, options in settings.items():
        sections.setdefault(section, {}).update(options)
    lines = []
    for section, options in sections.items():
        lines.append(f'[{section}]')
        lines.extend(f'{key} = {value}' for key, value in options.items())
    path = folder / 'heat.conf'
    path.write_text('\n'.join(lines) + '\n')
    return path
