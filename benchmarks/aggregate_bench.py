# SPDX-License-Identifier: Apache-2.0
"""Nova's filters and hosts, for the benchmark of the aggregate filter."""

import functools
import logging
import os
import warnings
from collections.abc import Iterable
from typing import Any

from benchmarks import common

OURS = 'AggregateInstanceTypeFilter'
IN_TREE = 'AggregateInstanceExtraSpecsFilter'


@functools.cache
def configure() -> None:
    """Load Nova in this process and configure it, once."""
    warnings.simplefilter('ignore')
    from nova import config, objects

    config.parse_args(['nova-scheduler'], default_config_files=[])
    objects.register_all()
    # INFO is on, as it is by default; the lines go nowhere.
    logging.basicConfig(
        level=logging.INFO,
        handlers=[logging.StreamHandler(open(os.devnull, 'w'))],  # noqa: SIM115
        force=True,
    )


class Bench:
    """Hosts, and the filters."""

    def __init__(self) -> None:
        """Load the filters as nova-scheduler does."""
        configure()
        from nova.scheduler import filters

        from testing.nova import states

        self.states = states
        self._handler = filters.HostFilterHandler()
        names = ('nova.scheduler.filters', 'nova_filters')
        loaded = self._handler.get_matching_classes(
            [f'{name}.all_filters' for name in names]
        )
        classes = {cls.__name__: cls for cls in loaded}

        class HostPasses(filters.BaseHostFilter):  # type: ignore[misc]
            """Accept every host, one by one."""

            run_filter_once_per_request = True

            def host_passes(self, *_args: Any) -> bool:
                """Accept a host."""
                return True

        class FilterAll(filters.BaseHostFilter):  # type: ignore[misc]
            """Accept every host at once."""

            run_filter_once_per_request = True

            def filter_all(self, filter_obj_list: Any, spec_obj: Any) -> Any:
                """Accept all hosts."""
                return filter_obj_list

        self.in_tree = classes[IN_TREE]()
        self.ours = classes[OURS]()
        self.host_passes = HostPasses()
        self.filter_all = FilterAll()
        self._hosts: list[Any] = []

    def hosts(self, count: int) -> list[Any]:
        """Return so many HostStates; the same ones each time."""
        for number in range(len(self._hosts), count):
            self._hosts.append(self.states.host_state(f'host-{number}'))
        return self._hosts[:count]

    def run(self, host_filter: Any, hosts: list[Any], spec: Any) -> list[Any]:
        """Return the hosts that a filter leaves, the way Nova asks it."""
        left: list[Any] = self._handler.get_filtered_objects(
            [host_filter], hosts, spec
        )
        return left

    def time(self, what: str, hosts: list[Any], spec: Any) -> float:
        """Return the seconds that a filter takes for one request."""
        return common.seconds(
            lambda: self.run(getattr(self, what), hosts, spec)
        )


def new_texts(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return a dictionary of new strings, as a database returns them."""
    return {''.join([*key]): ''.join([*value]) for key, value in items}
