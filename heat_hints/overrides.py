# SPDX-License-Identifier: Apache-2.0

"""Derive resource classes that send hints from those that Heat has."""

import pathlib
import sys
import types
from collections.abc import Iterator
from typing import Any

from heat.engine import plugin_manager, resources
from heat.engine.resources import scheduler_hints
from oslo_config import cfg
from oslo_log import log as logging

from heat_hints import injector

LOG = logging.getLogger(__name__)

_IN_TREE = resources.__name__
_PLUGINS = 'heat.engine.plugins'
_SEAM = '_scheduler_hints'


def build(config: cfg.ConfigOpts, caller: str) -> dict[str, type[Any]]:
    """Build the overriding classes that the configuration asks for.

    :param config: the engine's configuration.
    :param caller: the name under which Heat loaded the calling module.
    :returns: classes by resource type. A type that cannot get hints is left
        out, and an ERROR says what to change.
    :raises ValueError: when an option has a value that it may not have.
    """
    settings = injector.Settings.from_conf(config.heat_hints)
    bases, later = _known_classes(caller)
    chosen = {}
    unknown = []
    seamless = []
    for name in dict.fromkeys(settings.resource_types):
        base = bases.get(name)
        if base is None:
            unknown.append(name)
        elif not callable(getattr(base, _SEAM, None)):
            seamless.append(name)
        else:
            chosen[name] = base
        if name in later:
            LOG.error(
                'heat_hints: the plug-in %(module)s is loaded after this '
                'package and replaces resource type "%(type)s", which gets '
                'no hints. Remove the directory "%(folder)s" from '
                '[DEFAULT] plugin_dirs, where it is not needed, and restart '
                'heat-engine.',
                {
                    'module': later[name],
                    'type': name,
                    'folder': str(pathlib.Path(__file__).parent / 'plugins'),
                },
            )
    _tell_left_out(unknown, seamless)
    if not chosen:
        return {}
    sender = injector.Injector(config, settings)
    if config.stack_scheduler_hints:
        LOG.warning(
            'heat_hints: [DEFAULT] stack_scheduler_hints is on as well. It '
            'adds nothing but database queries: turn it off.'
        )
    LOG.info(
        'heat_hints: scheduler hints are sent for %(types)s.',
        {'types': ', '.join(chosen)},
    )
    return {name: _subclass(base, sender) for name, base in chosen.items()}


def _tell_left_out(unknown: list[str], seamless: list[str]) -> None:
    if unknown:
        LOG.error(
            'heat_hints: Heat has no resource type "%(types)s", so it gets '
            'no hints. Correct [heat_hints] resource_types and restart '
            'heat-engine.',
            {'types': '", "'.join(unknown)},
        )
    if seamless:
        LOG.error(
            'heat_hints: resource type "%(types)s" gets no hints: its class '
            'has no method %(seam)s, because it sends no scheduler hints or '
            'this version of Heat is not supported. Remove the type from '
            '[heat_hints] resource_types, or install a version of '
            'os-placement-plugins for this Heat, and restart heat-engine.',
            {'types': '", "'.join(seamless), 'seam': _SEAM},
        )


def _subclass(base: type[Any], sender: injector.Injector) -> type[Any]:
    stock = getattr(base, _SEAM)
    # Heat's own method would add the same hints at the cost of queries; one
    # that another plug-in put in its place has something to say.
    inherited = (
        stock
        if stock is not scheduler_hints.SchedulerHintsMixin._scheduler_hints
        else None
    )

    def _scheduler_hints(self: Any, given: Any) -> Any:
        return sender.for_resource(self, given, inherited)

    return type(
        base.__name__,
        (base,),
        {
            # What Heat's log shows when it replaces its own class.
            '__module__': __name__,
            '__doc__': base.__doc__,
            _SEAM: _scheduler_hints,
        },
    )


def _known_classes(
    caller: str,
) -> tuple[dict[str, type[Any]], dict[str, str]]:
    """Return the resource classes of Heat and of the other plug-ins.

    Heat registers module after module and keeps its registry to itself until
    all are read, so the modules are asked once more.

    :param caller: the name under which Heat loaded the calling module.
    :returns: classes by resource type; and, for the types of plug-ins that
        Heat registers after the caller, the plug-in's module.
    """
    mapping = plugin_manager.PluginMapping(['available_resource', 'resource'])
    found: dict[str, type[Any]] = {}
    later: dict[str, str] = {}
    passed = False
    for package in (_IN_TREE, _PLUGINS):
        for module in _modules(sys.modules.get(package)):
            if module.__name__ == caller:
                passed = True
                continue
            classes = mapping.load_from_module(module)
            found.update(classes)
            if passed:
                later.update(dict.fromkeys(classes, module.__name__))
    return found, later


def _modules(package: types.ModuleType | None) -> Iterator[types.ModuleType]:
    """Walk through a package as Heat loaded it.

    Heat does not put plug-in modules into ``sys.modules``; it makes them
    attributes of their package.
    """
    if package is None:
        return
    for value in list(vars(package).values()):
        if isinstance(value, types.ModuleType) and value.__name__.startswith(
            f'{package.__name__}.'
        ):
            yield value
            yield from _modules(value)
