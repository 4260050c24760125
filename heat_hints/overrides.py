# SPDX-License-Identifier: Apache-2.0

"""Derive resource classes that send hints from the classes of Heat."""

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from heat.engine import plugin_manager, resources
from heat.engine.resources import scheduler_hints
from oslo_config import cfg

from heat_hints import hints, injector
from os_placement_plugins import logger

LOG = logger.get_logger(__name__)

#: The packages with the resource types of Heat itself and of plug-ins.
_PLUGINS = 'heat.engine.plugins'
_PACKAGES = (resources.__name__, _PLUGINS)
#: The functions that return the resource types of a plug-in. If a plug-in has
#: both functions, Heat calls only the first one.
_FUNCTIONS = ('available_resource_mapping', 'resource_mapping')
#: The method that Heat asks for the hints of a resource.
_METHOD = '_scheduler_hints'


def build(
    config: cfg.ConfigOpts, caller: str, tell: Callable[[str], None]
) -> dict[str, type[Any]]:
    """Return the overriding class for each resource type that gets hints.

    These are the types in :data:`hints.RESOURCE_TYPES`, and the types of other
    plug-ins whose classes derive from the classes of these types.

    :param caller: the name under which Heat loaded the calling module.
    :param tell: called with a text for each type in
        :data:`hints.RESOURCE_TYPES` that cannot get hints. The text says why,
        and what to change. If ``tell`` returns, the type is left out.
    :raises ConfigFileValueError: if the option ``providers`` is wrong.
    """
    classes = _registered_classes(caller)
    server_classes: list[type[Any]] = []
    for name in hints.RESOURCE_TYPES:
        server_classes.extend(classes.get(name, ()))
    bases = {}
    for name, of_type in classes.items():
        cls = of_type[-1]
        sends_hints = callable(getattr(cls, _METHOD, None))
        if sends_hints and issubclass(cls, tuple(server_classes)):
            bases[name] = cls
    for name in hints.RESOURCE_TYPES:
        if name not in bases:
            tell(
                f'heat_hints: resource type "{name}" gets no hints: Heat has '
                f'no such type, or its class has no method {_METHOD}. Install '
                'a version of os-placement-plugins for this Heat, or look for '
                'the type in [DEFAULT] plugin_dirs, and restart heat-engine.'
            )
    if not bases:
        return {}
    sender = injector.Injector(config)
    LOG.info(
        'heat_hints: scheduler hints are sent for %(types)s.',
        {'types': ', '.join(bases)},
    )
    return {
        name: _subclass(name, base, sender) for name, base in bases.items()
    }


def _subclass(
    name: str, base: type[Any], sender: injector.Injector
) -> type[Any]:
    """Return a subclass that sends the hints of this package."""
    plugin_method = getattr(base, _METHOD)
    if plugin_method is scheduler_hints.SchedulerHintsMixin._scheduler_hints:
        plugin_method = None

    def _scheduler_hints(self: Any, template_hints: Any) -> Any:
        return sender.for_resource(self, name, template_hints, plugin_method)

    return type(
        base.__name__,
        (base,),
        {
            # Heat logs this name when the class replaces Heat's own class.
            '__module__': __name__,
            '__doc__': base.__doc__,
            _METHOD: _scheduler_hints,
        },
    )


def _registered_classes(caller: str) -> dict[str, list[type[Any]]]:
    """Return all classes of each resource type; Heat uses the last class.

    A plug-in cannot read Heat's registry until all types are registered. So
    this function itself asks each plug-in for its types, as Heat does.

    :param caller: the name of the module to leave out.
    """
    mapping = plugin_manager.PluginMapping(
        [name.removesuffix('_mapping') for name in _FUNCTIONS]
    )
    classes: dict[str, list[type[Any]]] = {}
    packages = [sys.modules[name] for name in _PACKAGES if name in sys.modules]
    for package in packages:
        for module in _modules(package):
            if module.__name__ == caller:
                continue
            for name, cls in mapping.load_from_module(module).items():
                classes.setdefault(name, []).append(cls)
    return classes


def _modules(package: types.ModuleType) -> Iterator[types.ModuleType]:
    """Yield all modules of a package that Heat has loaded."""
    # Heat does not put plug-in modules into sys.modules; it makes them
    # attributes of their package.
    for value in list(vars(package).values()):
        if isinstance(value, types.ModuleType) and value.__name__.startswith(
            f'{package.__name__}.'
        ):
            yield value
            yield from _modules(value)
