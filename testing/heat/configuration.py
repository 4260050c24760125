# SPDX-License-Identifier: Apache-2.0

"""The ``heat.conf`` of the embedded heat-engines."""

import pathlib
from collections.abc import Mapping

from testing.heat import loopback


def write(
    folder: pathlib.Path,
    cloud_url: str,
    settings: Mapping[str, Mapping[str, str]],
) -> pathlib.Path:
    """Write a ``heat.conf`` with further lines, by section and option."""
    sections = {
        'DEFAULT': {
            'transport_url': 'fake://',
            'deferred_auth_method': 'password',
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
    for section, options in settings.items():
        sections[section] = {**sections.get(section, {}), **options}
    path = folder / 'heat.conf'
    write_sections(path, sections)
    return path


def write_sections(
    path: pathlib.Path, sections: Mapping[str, Mapping[str, str]]
) -> None:
    """Write a file of sections with options."""
    lines = []
    for section, options in sections.items():
        lines.append(f'[{section}]')
        lines.extend(f'{key} = {value}' for key, value in options.items())
    path.write_text('\n'.join(lines) + '\n')
