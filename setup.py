import configparser
import os
import subprocess
import sys

import setuptools

FOLDER = os.path.dirname(os.path.abspath(__file__))

# An archive of the repository has neither of these, and pbr would give up.
if not (os.path.exists('.git') or os.path.exists('PKG-INFO')):
    config = configparser.ConfigParser()
    config.read('setup.cfg')
    version = config['metadata']['version']
    os.environ.setdefault('PBR_VERSION', f'{version}.dev0')

# pbr asks git for the version, and hides what git answers.
if os.path.exists('.git') and 'PBR_VERSION' not in os.environ:
    try:
        subprocess.run(
            ['git', 'rev-parse', 'HEAD'],  # noqa: S607
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError) as exc:
        answer = getattr(exc, 'stderr', None) or f'{exc}\n'
        sys.exit(
            f'os-placement-plugins has no version: git cannot read {FOLDER} '
            f'({answer.splitlines()[0]}). Install a wheel instead, or let '
            'git read this folder.'
        )

# pbr reads no license expression from setup.cfg.
setuptools.setup(
    setup_requires=['pbr>=7.0.0'],
    license_expression='Apache-2.0',
    pbr=True,
)
