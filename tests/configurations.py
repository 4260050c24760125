# SPDX-License-Identifier: Apache-2.0

"""Options read from a file, as the services read them."""

import tempfile

from oslo_config import cfg

from os_placement_plugins import options


def load(opts: options.Options, text: str = '') -> cfg.ConfigOpts:
    """Return what a file with this text holds.

    :param opts: the options as ``list_opts()`` gives them.
    """
    conf = cfg.ConfigOpts()
    options.register(conf, opts)
    with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
        file.write(text)
        file.flush()
        conf(['--config-file', file.name], default_config_dirs=[])
    return conf
