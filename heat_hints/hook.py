# SPDX-License-Identifier: Apache-2.0

"""How the hints get into heat-engine.

Heat imports the entry points of ``heat.stack_lifecycle_plugins`` before it
scans ``[DEFAULT] plugin_dirs`` for resource types. When Heat imports this
module, :func:`add_plugin_dir` adds the directory ``plugins`` of this package
to that option, and changes nothing else. Heat then scans the directory, and
the module in there calls :func:`resource_mapping`. Nothing is patched.

A wrong option ends heat-engine at its start. If anything else is wrong, an
ERROR in the log says what to change, and the engine works as stock Heat.
"""

from typing import Any

from oslo_config import cfg
from oslo_log import log as logging

from heat_hints import conf, plugins
from os_placement_plugins import options

LOG = logging.getLogger(__name__)


def add_plugin_dir(config: cfg.ConfigOpts) -> None:
    """Have Heat scan this package's directory, after the operator's own.

    So the classes of other plug-ins are known, and are extended instead of
    replaced.

    :param config: Heat's configuration.
    """
    config.import_opt('plugin_dirs', 'heat.common.config')
    if plugins.DIRECTORY not in config.plugin_dirs:
        config.set_override(
            'plugin_dirs', [*config.plugin_dirs, plugins.DIRECTORY]
        )


def resource_mapping(caller: str) -> dict[str, type[Any]]:
    """Return the overriding class for each configured resource type.

    :param caller: the name under which Heat loaded the calling module.
    :returns: classes by resource type; none if hints are disabled, or if
        this Heat lacks something.
    :raises ConfigFileValueError: if an option has a wrong value; Heat then
        does not start.
    """
    options.check(cfg.CONF, conf.list_opts())
    if not cfg.CONF.heat_hints.enabled:
        return {}
    try:
        # Imported late: this module works with every Heat.
        from heat_hints import overrides

        return overrides.build(cfg.CONF, caller)
    except cfg.ConfigFileValueError:
        raise
    except Exception as exc:
        _log_disabled(exc)
        return {}


def _log_disabled(exc: Exception) -> None:
    """Tell the operator of a Heat that this package does not know."""
    LOG.error(
        'heat_hints: stack scheduler hints are off, heat-engine works '
        'without them: %(type)s: %(error)s. Install a version of '
        'os-placement-plugins for this Heat, or set [heat_hints] enabled = '
        'false, and restart heat-engine.',
        {'type': type(exc).__name__, 'error': exc},
    )


options.register(cfg.CONF, conf.list_opts())
try:
    from heat.engine.lifecycle_plugin import LifecyclePlugin

    add_plugin_dir(cfg.CONF)
except Exception as error:
    if cfg.CONF.heat_hints.enabled:
        _log_disabled(error)
    # Heat works without a lifecycle plug-in that cannot be imported.
    raise


class StackHintsHook(LifecyclePlugin):  # type: ignore[misc]
    """The entry point that makes Heat import this module.

    Heat's legacy engine makes one and calls it before and after each
    operation on a stack; there is nothing to do then. Heat's engine of today
    never calls lifecycle plug-ins.
    """
