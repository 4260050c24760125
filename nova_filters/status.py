# SPDX-License-Identifier: Apache-2.0

"""The command ``nova-filters-status upgrade check``.

It reads the ``nova.conf`` of a scheduler and loads filters and weighers as
nova-scheduler does when it starts, without starting it. What would keep the
scheduler from starting, or what it would log as an ERROR, is a failure.
"""

import logging
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, Final

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from nova_filters import conf

COMMAND: Final = 'nova-filters-status'

FILTER: Final = 'AggregateInstanceTypeFilter'
WEIGHER: Final = 'StackAffinityWeigher'
IN_TREE_FILTER: Final = 'AggregateInstanceExtraSpecsFilter'

#: What nova.conf names, of Nova and of this package.
NOVA_FILTERS: Final = 'nova.scheduler.filters.all_filters'
OUR_FILTERS: Final = 'nova_filters.all_filters'
NOVA_WEIGHERS: Final = 'nova.scheduler.weights.all_weighers'
OUR_WEIGHERS: Final = 'nova_filters.all_weighers'

#: What a flavor puts before a key; patterns are matched without it.
_SCOPE: Final = 'aggregate_instance_extra_specs:'

Result = upgradecheck.Result
SUCCESS, WARNING, FAILURE = upgradecheck.Code


class _Records(logging.Handler):
    """Keep what this package logs, instead of writing it anywhere."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text of one record."""
        self.messages.append(record.getMessage())


def _one_line(exc: BaseException) -> str:
    """Return the text of an exception without its line breaks."""
    text = ' '.join(str(exc).split()) or type(exc).__name__
    if isinstance(exc, cfg.ConfigFileParseError):
        # Without the line itself, which may hold a key or a password.
        return re.split(r""": ['"]""", text, maxsplit=1)[0]
    return text


def _is_ours(cls: type) -> bool:
    """Tell whether a class comes from this package."""
    return cls.__module__.split('.')[0] == __package__


class Checks(upgradecheck.UpgradeCommands):
    """What is checked, one method for each row of the table.

    :param config: Nova's configuration; it is read when a check runs.
    """

    display_title = 'nova_filters: Upgrade Check Results'

    def __init__(self, config: Any) -> None:
        self._config = config

    def check_configuration(self) -> Result:
        """Check that there is a nova.conf at all."""
        files = self._config.config_file
        if files or self._config.config_dir:
            return Result(SUCCESS)
        return Result(
            FAILURE,
            'No nova.conf was found, so the other checks look at the '
            'defaults. Run this command on a nova-scheduler host, or give '
            '--config-file.',
        )

    def check_filter(self) -> Result:
        """Check the lines of nova.conf that enable the filter."""
        available = self._config.filter_scheduler.available_filters
        enabled = self._config.filter_scheduler.enabled_filters
        try:
            classes = self._filter_classes()
        except Exception as exc:
            return Result(
                FAILURE,
                'nova-scheduler does not start: [filter_scheduler] '
                f'available_filters cannot be loaded: {_one_line(exc)}. '
                'Write one line for each name: "available_filters = '
                f'{NOVA_FILTERS}" and "available_filters = {OUR_FILTERS}".',
            )
        unknown = [name for name in enabled if name not in classes]
        if unknown:
            return Result(
                FAILURE,
                'nova-scheduler does not start: [filter_scheduler] '
                f'enabled_filters names {", ".join(unknown)}, which no line '
                'available_filters offers. '
                + self._filter_remedy(unknown, available),
            )
        if FILTER in enabled and not _is_ours(classes[FILTER]):
            return Result(
                FAILURE,
                f'{FILTER} is the class of {classes[FILTER].__module__}, '
                'because Nova takes the last class of a name. Put '
                f'"available_filters = {OUR_FILTERS}" after the other lines.',
            )
        if FILTER in enabled:
            return Result(SUCCESS)
        lines = f'To use it, add {FILTER} to enabled_filters'
        if FILTER in classes:
            return Result(
                WARNING,
                f'{FILTER} is available but not enabled, so it does nothing. '
                f'{lines} in [filter_scheduler] and restart nova-scheduler.',
            )
        details = (
            f'{FILTER} is not enabled. {lines} and write '
            f'"available_filters = {NOVA_FILTERS}" and "available_filters = '
            f'{OUR_FILTERS}" into [filter_scheduler], then restart '
            'nova-scheduler.'
        )
        # Whoever wants the weigher alone need not enable the filter.
        return Result(SUCCESS if self._weigher() else WARNING, details)

    @staticmethod
    def _filter_remedy(
        unknown: Sequence[str], available: Sequence[str]
    ) -> str:
        """Say what to change so that all enabled filters are there."""
        remedies = []
        others = [name for name in unknown if name != FILTER]
        if FILTER in unknown:
            remedies.append(
                f'Add the line "available_filters = {OUR_FILTERS}"'
            )
        if others and NOVA_FILTERS not in available:
            remedies.append(
                f'Add the line "available_filters = {NOVA_FILTERS}": it is '
                'the default only while there is no other line'
            )
        elif others:
            remedies.append(
                f'Correct or remove {", ".join(others)} in enabled_filters'
            )
        return '. '.join(remedies) + '. Then restart nova-scheduler.'

    def check_in_tree_filter(self) -> Result:
        """Check that Nova's own filter is not enabled beside this one."""
        enabled = self._config.filter_scheduler.enabled_filters
        if FILTER in enabled and IN_TREE_FILTER in enabled:
            return Result(
                WARNING,
                f'{IN_TREE_FILTER} is enabled as well. It takes "*", "~" and '
                '"!" for plain values and refuses the hosts that they are '
                f'meant to allow. Remove it from enabled_filters: {FILTER} '
                'does its work, too.',
            )
        return Result(SUCCESS)

    def check_exempt_keys(self) -> Result:
        """Check the patterns of ``exempt_metadata_keys``."""
        if FILTER not in self._config.filter_scheduler.enabled_filters:
            return Result(SUCCESS)
        problems = []
        for pattern in self._config.nova_filters.exempt_metadata_keys:
            if pattern.startswith(_SCOPE):
                problems.append(
                    f'"{pattern}" matches nothing: write it without the '
                    f'scope "{_SCOPE}"'
                )
            elif pattern and not pattern.strip('*'):
                problems.append(
                    f'"{pattern}" matches every key, so force_metadata_check '
                    'has no effect in any aggregate: name the keys that '
                    'Nova itself reads'
                )
            elif pattern.strip('\'"') != pattern:
                problems.append(
                    f'{pattern} has a quotation mark, which counts as a part '
                    'of the key: remove it'
                )
            elif pattern.count('[') != pattern.count(']'):
                problems.append(
                    f'"{pattern}" has a bracket without its pair, which '
                    'stands for itself: write [abc] for one of a, b and c'
                )
        if not problems:
            return Result(SUCCESS)
        return Result(
            WARNING,
            f'[nova_filters] exempt_metadata_keys: {"; ".join(problems)}.',
        )

    def check_weigher(self) -> Result:
        """Check the line of nova.conf that enables the weigher."""
        names = self._config.filter_scheduler.weight_classes
        try:
            classes = self._weigher_classes()
        except Exception as exc:
            return Result(
                FAILURE,
                'nova-scheduler does not start: [filter_scheduler] '
                f'weight_classes cannot be loaded: {_one_line(exc)}. Write '
                f'"weight_classes = {NOVA_WEIGHERS},{OUR_WEIGHERS}".',
            )
        if any(_is_ours(cls) for cls in classes):
            if any(not _is_ours(cls) for cls in classes):
                return Result(SUCCESS)
            return Result(
                WARNING,
                f'{WEIGHER} is the only weigher: RAM, disk, CPU and load of '
                'the hosts no longer count. Write "weight_classes = '
                f'{NOVA_WEIGHERS},{OUR_WEIGHERS}".',
            )
        details = (
            f'{WEIGHER} is not used. To use it, add {OUR_WEIGHERS} to '
            'weight_classes in [filter_scheduler], after '
            f'{", ".join(names)}, and restart nova-scheduler.'
        )
        if self._has_keys():
            return Result(
                WARNING,
                'signing_key is set in [heat_hints], but nothing reads it: '
                + details,
            )
        return Result(SUCCESS, details)

    def check_weigher_options(self) -> Result:
        """Make the weigher, and return what it has to say of its options."""
        cls = self._weigher()
        if cls is None:
            return Result(SUCCESS)
        records = _Records()
        logger = logging.getLogger(__package__)
        logger.addHandler(records)
        try:
            cls()
        finally:
            logger.removeHandler(records)
        if records.messages:
            return Result(FAILURE, ' '.join(records.messages))
        if self._has_keys():
            return Result(SUCCESS)
        return Result(
            SUCCESS,
            'There is no signing_key in [heat_hints], so the stack hints of '
            'a tenant are believed like those of Heat.',
        )

    def _has_keys(self) -> bool:
        """Tell whether the option signing_key is set to anything."""
        try:
            return any(self._config.heat_hints.signing_key)
        except (ValueError, cfg.Error):
            return True

    def _filter_classes(self) -> dict[str, type]:
        """Return the filters that nova-scheduler knows, by their names."""
        from nova.scheduler import filters

        names = self._config.filter_scheduler.available_filters
        found = filters.HostFilterHandler().get_matching_classes(names)
        return {cls.__name__: cls for cls in found}

    def _weigher_classes(self) -> list[type]:
        """Return the weighers that nova-scheduler uses."""
        from nova.scheduler import weights

        names = self._config.filter_scheduler.weight_classes
        return list(weights.HostWeightHandler().get_matching_classes(names))

    def _weigher(self) -> type | None:
        """Return the weigher of this package if nova-scheduler uses it."""
        try:
            classes = self._weigher_classes()
        except Exception:
            # The check of the weigher says so.
            return None
        return next((cls for cls in classes if _is_ours(cls)), None)

    _upgrade_checks = (
        ('Configuration file', check_configuration),
        ('Filter', check_filter),
        ('In-tree filter', check_in_tree_filter),
        ('Exempt metadata keys', check_exempt_keys),
        ('Weigher', check_weigher),
        ('Options of the weigher', check_weigher_options),
    )


def main(argv: list[str] | None = None) -> int:
    """Run the command.

    :param argv: the arguments; those of the process by default.
    :returns: 0 when nothing is to be done, 1 for a warning, 2 for a failure,
        255 when nothing could be checked.
    """
    # Nova would patch the process for eventlet otherwise.
    os.environ.setdefault('OS_NOVA_DISABLE_EVENTLET_PATCHING', 'true')
    # What Nova logs while it loads is not asked for here.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        import nova.conf as nova_conf

        conf.register_opts(nova_conf.CONF)
        return upgradecheck.main(
            nova_conf.CONF,
            'nova',
            Checks(nova_conf.CONF),
            sys.argv[1:] if argv is None else argv,
        )
    except ImportError as exc:
        problem = f'run it where nova-scheduler is installed: {exc}'
    except BrokenPipeError:
        # Nobody reads any more, as behind ``head``.
        return 255
    except (cfg.Error, OSError, ValueError) as exc:
        problem = f'the configuration cannot be read: {_one_line(exc)}'
    print(f'{COMMAND}: {problem}', file=sys.stderr)
    return 255


if __name__ == '__main__':
    sys.exit(main())
