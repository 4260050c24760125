# SPDX-License-Identifier: Apache-2.0

"""How the hints get into heat-engine.

Heat imports the entry points of ``heat.stack_lifecycle_plugins`` before it
scans ``plugin_dirs`` for resource types. So the import of this module, which
is all that Heat does with it at start, puts this package's ``plugins``
directory into that option; Heat then calls :func:`resource_mapping` through
the module in that directory. Nothing of Heat is patched.

Both happen while heat-engine starts. A wrong option ends heat-engine there.
Whatever else is wrong is an ERROR in the log that says what to change, and
the engine works as stock Heat.
"""

import pathlib
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging

import heat_hints
from heat_hints import conf
from os_placement_plugins import options

try:
    from heat.engine import lifecycle_plugin

    _Base: Any = lifecycle_plugin.LifecyclePlugin
    _base_error: Exception | None = None
except (ImportError, AttributeError) as exc:
    _Base, _base_error = object, exc

LOG = logging.getLogger(__name__)

#: The directory that Heat scans.
PLUGIN_DIR = str(pathlib.Path(heat_hints.__file__).parent / 'plugins')


class StackHintsHook(_Base):  # type: ignore[misc]
    """The entry point that makes Heat import this module.

    Heat makes one instance when the first stack is handled by its legacy
    engine, and calls it before and after each operation; there is nothing
    to do then. Under convergence Heat never calls lifecycle plug-ins.
    """


def add_plugin_dir(config: cfg.ConfigOpts) -> None:
    """Have Heat scan this package's plug-in directory, if enabled.

    :param config: Heat's configuration.
    """
    try:
        conf.register_opts(config)
        # A wrong value ends heat-engine in resource_mapping().
        wrong = options.find_wrong(config, conf.list_opts())
        if not wrong and not config.heat_hints.enabled:
            return
        if _base_error is not None:
            raise _base_error
        config.import_opt('plugin_dirs', 'heat.common.config')
        if PLUGIN_DIR not in config.plugin_dirs:
            # After the operator's own, so that their classes are known and
            # are extended, not replaced.
            config.set_override(
                'plugin_dirs', [*config.plugin_dirs, PLUGIN_DIR]
            )
    except Exception as exc:
        _log_disabled(exc)


def resource_mapping(caller: str) -> dict[str, type[Any]]:
    """Build the overriding class for each configured resource type.

    :param caller: the name under which Heat loaded the calling module.
    :returns: classes by resource type; nothing when disabled or broken.
    :raises ConfigFileValueError: if an option has a wrong value; Heat then
        does not start.
    """
    conf.register_opts(cfg.CONF)
    options.check(cfg.CONF, conf.list_opts())
    try:
        if not cfg.CONF.heat_hints.enabled:
            return {}
        # Imported late: whatever a Heat that is too new lacks, the engine
        # starts and the log says why there are no hints.
        from heat_hints import overrides

        return overrides.build(cfg.CONF, caller)
    except Exception as exc:
        _log_disabled(exc)
        return {}


def _log_disabled(exc: Exception) -> None:
    LOG.error(
        'heat_hints: stack scheduler hints are off, heat-engine works '
        'without them: %(type)s: %(error)s. Install a version of '
        'os-placement-plugins for this Heat, or set [heat_hints] enabled = '
        'false, and restart heat-engine.',
        {'type': type(exc).__name__, 'error': exc},
    )


add_plugin_dir(cfg.CONF)
if _base_error is not None:
    # Heat goes on without a lifecycle plug-in that cannot be imported.
    raise _base_error
