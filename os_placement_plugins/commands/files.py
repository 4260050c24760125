# SPDX-License-Identifier: Apache-2.0

"""Read the files that a command line names."""

import contextlib
import pathlib
from collections.abc import Iterator

import yaml
from osc_lib import exceptions
from oslo_config import cfg

from os_placement_plugins import options
from os_placement_plugins.errors import one_line


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn what is wrong with a file into one line that names it.

    :raises CommandError: in place of what reading or parsing raises.
    """
    try:
        yield
    except OSError as exc:
        raise exceptions.CommandError(
            f'Cannot read {path!r}: {exc.strerror}'
        ) from exc
    except (ValueError, cfg.Error, yaml.YAMLError) as exc:
        raise exceptions.CommandError(
            f'Cannot use {path!r}: {one_line(exc)}'
        ) from exc


def read_text(path: str) -> str:
    """Return what a file holds.

    :raises CommandError: if it cannot be read.
    """
    with reading(path):
        return pathlib.Path(path).read_text('utf-8')


def read_configuration(path: str, opts: options.Options) -> cfg.ConfigOpts:
    """Return what a configuration file says.

    :raises CommandError: if the file cannot be read, or a value is wrong.
    """
    config = cfg.ConfigOpts()
    options.register(config, opts)
    with reading(path):
        # Opened first: oslo.config does not say why it cannot read a file.
        pathlib.Path(path).open('rb').close()
        config(args=[], default_config_files=[path], default_config_dirs=[])
        options.check(config, opts)
    return config
