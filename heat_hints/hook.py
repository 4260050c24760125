# SPDX-License-Identifier: Apache-2.0

"""Add the hints to the requests of heat-engine.

Heat imports the entry points of ``heat.stack_lifecycle_plugins`` before it
scans ``[DEFAULT] plugin_dirs`` for resource types. When Heat imports this
module, :func:`add_plugin_dir` adds the directory ``plugins`` of this package
to ``plugin_dirs``. Heat then scans the directory, and the module in this
directory calls :func:`resource_mapping`. No class or function of Heat or of
another plug-in is changed.

If an option is wrong, heat-engine does not start. If anything else is wrong,
an ERROR in the log says what to change, and heat-engine works as without this
package. But with ``on_error = fail``, heat-engine then does not start.
"""

from typing import Any

from oslo_config import cfg

from heat_hints import conf, plugins
from os_placement_plugins import logger, options
from os_placement_plugins.errors import named_line, one_line

LOG = logger.get_logger(__name__)


def add_plugin_dir(config: cfg.ConfigOpts) -> None:
    """Make Heat scan the directory ``plugins`` of this package last.

    This package then derives its classes from the classes of all other
    plug-ins, and replaces no other plug-in.
    """
    config.import_opt('plugin_dirs', 'heat.common.config')
    directories = [d for d in config.plugin_dirs if d != plugins.DIRECTORY]
    directories.append(plugins.DIRECTORY)
    config.set_override('plugin_dirs', directories)


class StartError(Exception):
    """heat-engine must not start, because ``on_error`` is ``fail``."""


def tell(problem: str) -> None:
    """Log an ERROR, or raise a :class:`StartError`, as ``on_error`` says."""
    if cfg.CONF.heat_hints.on_error == 'fail':
        raise StartError(
            f'{problem} [heat_hints] on_error is "fail", so heat-engine does '
            'not start without these hints.'
        )
    LOG.error('%s', problem)


def resource_mapping(caller: str) -> dict[str, type[Any]]:
    """Return the overriding class for each resource type that gets hints.

    :param caller: the name under which Heat loaded the calling module.
    :returns: no classes if hints are disabled, or if this package does not
        support this version of Heat.
    :raises ConfigFileValueError: if an option has a wrong value; Heat then
        does not start.
    :raises StartError: if ``on_error`` is ``fail`` and a type gets no hints.
    """
    options.check(cfg.CONF, conf.list_opts())
    if not cfg.CONF.heat_hints.enabled:
        return {}
    try:
        # Import here, so that an error of the import is reported below. The
        # import may fail if this package does not support this Heat.
        from heat_hints import overrides

        return overrides.build(cfg.CONF, caller, tell)
    except (cfg.ConfigFileValueError, StartError):
        raise
    except Exception as exc:
        problem = _disabled(exc)
    # In the block, Heat would log the traceback of the exception as well.
    tell(problem)
    return {}


def _disabled(exc: Exception) -> str:
    """Return a text that says that no hints are sent because of an error."""
    return (
        f'heat_hints: stack scheduler hints are off: {named_line(exc)}. '
        'Install a version of os-placement-plugins for this Heat, or set '
        '[heat_hints] enabled = false, and restart heat-engine.'
    )


options.register(cfg.CONF, conf.list_opts())
try:
    from heat.engine.lifecycle_plugin import LifecyclePlugin

    add_plugin_dir(cfg.CONF)
except Exception as error:
    # If the import of a lifecycle plug-in raises an error, Heat skips the
    # plug-in and starts. Only SystemExit stops heat-engine.
    try:
        options.check(cfg.CONF, conf.list_opts())
        if cfg.CONF.heat_hints.enabled:
            tell(_disabled(error))
    except (cfg.ConfigFileValueError, StartError) as stop:
        LOG.critical('%s', one_line(stop))
        raise SystemExit(str(stop)) from None
    raise


class StackHintsHook(LifecyclePlugin):  # type: ignore[misc]
    """The entry point, whose only purpose is that Heat imports this module."""
