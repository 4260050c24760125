# SPDX-License-Identifier: Apache-2.0

"""Derive resource classes that send hints from the classes of Heat."""

import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from heat.engine import plugin_manager, resources
from heat.engine.resources import scheduler_hints
from oslo_config import cfg
from oslo_log import log as logging

from heat_hints import injector

LOG = logging.getLogger(__name__)

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
    """Return the overriding class for each configured resource type.

    :param caller: the name under which Heat loaded the calling module.
    :param tell: called with a text if some types cannot get hints. The text
        says why, and what to change. If ``tell`` returns, the types are left
        out.
    :raises ConfigFileValueError: if Heat does not know a type.
    """
    classes = _registered_classes(caller)
    in_force = {name: of_type[-1] for name, of_type in classes.items()}
    resource_types = dict.fromkeys(config.heat_hints.resource_types)
    unknown = [name for name in resource_types if name not in in_force]
    if unknown:
        raise cfg.ConfigFileValueError(
            '[heat_hints] Value for option resource_types is not valid: Heat '
            f'has no resource type {_quoted(unknown)}. Correct the name.'
        )
    bases = {
        name: in_force[name]
        for name in resource_types
        if callable(getattr(in_force[name], _METHOD, None))
    }
    without_hints = [name for name in resource_types if name not in bases]
    if without_hints:
        tell(
            f'heat_hints: resource type {_quoted(without_hints)} gets no '
            f'hints: its class has no method {_METHOD}, because it sends no '
            'scheduler hints or this version of Heat is not supported. '
            'Remove the type from [heat_hints] resource_types, or install a '
            'version of os-placement-plugins for this Heat, and restart '
            'heat-engine.'
        )
    if not bases:
        return {}
    covered: list[type[Any]] = []
    for name in bases:
        covered.extend(classes[name])
    derived = [
        name
        for name, cls in in_force.items()
        if name not in resource_types and issubclass(cls, tuple(covered))
    ]
    if derived:
        LOG.warning(
            'heat_hints: resource type %(types)s gets no hints, although its '
            'class derives from one that does. Add it to [heat_hints] '
            'resource_types, and restart heat-engine.',
            {'types': _quoted(sorted(derived))},
        )
    sender = injector.Injector(config)
    if config.stack_scheduler_hints:
        LOG.warning(
            'heat_hints: [DEFAULT] stack_scheduler_hints is on as well. Heat '
            'then sends the six hints, unsigned, for resources that '
            '[heat_hints] resource_types or scope leave out, such as '
            'volumes. If they need no hints, turn it off.'
        )
    LOG.info(
        'heat_hints: scheduler hints are sent for %(types)s.',
        {'types': ', '.join(bases)},
    )
    return {
        name: _subclass(name, base, sender) for name, base in bases.items()
    }


def _quoted(names: Iterable[str]) -> str:
    """Return names in quotes."""
    return ', '.join(f'"{name}"' for name in names)


def _subclass(
    name: str, base: type[Any], sender: injector.Injector
) -> type[Any]:
    """Return a subclass that sends the hints of this package."""
    stock = getattr(base, _METHOD)
    in_tree = stock is scheduler_hints.SchedulerHintsMixin._scheduler_hints

    def _scheduler_hints(self: Any, template_hints: Any) -> Any:
        return sender.for_resource(
            self, name, template_hints, stock, in_tree=in_tree
        )

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
