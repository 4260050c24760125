# SPDX-License-Identifier: Apache-2.0

"""The filters and weighers that nova-scheduler would load."""

from collections.abc import Iterable
from typing import Any, Final

from oslo_config import cfg

from os_placement_plugins.errors import one_line

#: The start of each message that says that nova-scheduler does not start.
STOPPED: Final = 'nova-scheduler does not start: [filter_scheduler] '


def load(config: cfg.ConfigOpts, option: str) -> tuple[list[type], str]:
    """Return the classes that an option names.

    :param option: ``available_filters`` or ``weight_classes``.
    :returns: the classes and an empty text. If the classes cannot be loaded,
        an empty list and the problem.
    """
    from nova.scheduler import filters, weights

    handler = weights.HostWeightHandler()
    if option == 'available_filters':
        handler = filters.HostFilterHandler()
    try:
        names = config.filter_scheduler[option]
        classes = handler.get_matching_classes(names)
        _refuse_others(classes)
    except Exception as exc:
        return [], f'{STOPPED}{option} cannot be loaded: {cause(exc)}.'
    return classes, ''


def is_ours(cls: type) -> bool:
    """Tell whether a class comes from this package."""
    return cls.__module__.split('.')[0] == __package__


def cause(exc: Exception) -> str:
    """Return why a class cannot be loaded, in one line.

    If a module lacks the class, the error of oslo.utils has a traceback in its
    text. The error in ``__context__`` has a short text.
    """
    context = exc.__context__
    if isinstance(context, AttributeError):
        return one_line(context)
    return one_line(exc)


def lacking(classes: Iterable[type], method: str) -> list[str]:
    """Return the names of the classes that lack a method."""
    return [cls.__name__ for cls in classes if not hasattr(cls, method)]


def _refuse_others(classes: Iterable[Any]) -> None:
    """Check that each entry is a class, as nova-scheduler needs it.

    :raises TypeError: if an entry is not a class.
    """
    names = [repr(cls) for cls in classes if not isinstance(cls, type)]
    if names:
        raise TypeError(f'no class: {", ".join(names)}')
