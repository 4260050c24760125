import configparser
import os

import setuptools

# An archive of the repository has neither of these, and pbr would give up.
if not (os.path.exists('.git') or os.path.exists('PKG-INFO')):
    config = configparser.ConfigParser()
    config.read('setup.cfg')
    version = config['metadata']['version']
    os.environ.setdefault('PBR_VERSION', f'{version}.dev0')
# pbr reads no license expression from setup.cfg.
setuptools.setup(
    setup_requires=['pbr>=7.0.0'],
    license_expression='Apache-2.0',
    pbr=True,
)
