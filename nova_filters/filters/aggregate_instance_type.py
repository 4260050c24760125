# SPDX-License-Identifier: Apache-2.0

"""The host filter ``AggregateInstanceTypeFilter``."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import nova.conf
from nova.scheduler import filters

from nova_filters import plugin
from nova_filters.matching import inputs, report
from nova_filters.matching.matcher import Matcher
from os_placement_plugins import logger
from os_placement_plugins.text import quote

LOG = logger.get_logger(__name__)
CONF = nova.conf.CONF


def _is_rebuild(spec_obj: Any, hosts: Sequence[Any]) -> bool:
    """Tell whether the request is a rebuild, which stays on its host.

    Nova marks a rebuild with the hint ``_nova_check_type``. In older releases
    of Nova, a tenant can send this hint, and Nova stores the hint. But only
    Nova itself and administrators can force a host and a node. So a request
    counts as a rebuild only if the forced host is the only candidate.
    """
    hints = plugin.field(spec_obj, 'scheduler_hints') or {}
    if hints.get('_nova_check_type') != ['rebuild'] or len(hosts) != 1:
        return False
    forced = plugin.field(spec_obj, 'force_hosts') or ()
    names = [name.lower() for name in forced]
    nodes = plugin.field(spec_obj, 'force_nodes')
    (host,) = hosts
    return names == [host.host.lower()] and nodes == [host.nodename]


def _log_refused(
    matcher: Matcher, refused: Sequence[Any], spec_obj: Any
) -> None:
    """Log for each group of refused hosts why they are refused."""
    for aggregates, hosts in report.group_hosts(refused).items():
        names = [inputs.read_aggregate(each).name for each in aggregates]
        mismatches = matcher.explain_mismatches(aggregates)
        LOG.debug(
            'Instance %(instance)s: %(count)d host(s) in aggregates '
            '%(aggregates)s refused: %(reasons)s',
            {
                'instance': plugin.field(spec_obj, 'instance_uuid'),
                'count': len(hosts),
                'aggregates': sorted(names),
                'reasons': '; '.join(map(str, mismatches)),
            },
        )


def _log_no_host(
    matcher: Matcher, refused: Sequence[Any], spec_obj: Any
) -> None:
    """Log why no host passes."""
    reasons = report.list_reasons(matcher, refused)
    LOG.info(
        'Instance %(instance)s, flavor %(flavor)s: 0 of %(total)d hosts: '
        '%(reasons)s',
        {
            'instance': plugin.field(spec_obj, 'instance_uuid'),
            'flavor': quote(plugin.field(spec_obj.flavor, 'name')),
            'total': len(refused),
            'reasons': report.count_reasons(matcher, reasons),
        },
    )


# Nova has no type annotations, so mypy would report the base class.
class AggregateInstanceTypeFilter(
    plugin.Plugin,
    filters.BaseHostFilter,  # type: ignore[misc]
):
    """Match flavor extra specs and aggregate metadata, in both directions.

    Nova uses one object of this class for all requests. Since release 34,
    requests run in native threads. So ``self`` must not store data of a
    request.
    """

    # For a request for several servers, Nova then calls the filter only once:
    # neither the flavor nor the aggregates change within a request.
    run_filter_once_per_request = True
    # If False, Nova's base class trusts the rebuild hint, which a tenant can
    # forge. _is_rebuild() recognizes real rebuilds.
    RUN_ON_REBUILD = True

    def host_passes(self, host_state: Any, spec_obj: Any) -> bool:
        """Tell whether one host passes :meth:`filter_all`."""
        return bool(self.filter_all([host_state], spec_obj))

    def filter_all(
        self, filter_obj_list: Iterable[Any], spec_obj: Any
    ) -> list[Any]:
        """Return the hosts that pass; no host passes if an error occurs.

        :param filter_obj_list: Nova's HostStates.
        :param spec_obj: Nova's RequestSpec.
        :returns: the hosts that pass, in their old order; never raises.
        """
        hosts = list(filter_obj_list)
        try:
            if _is_rebuild(spec_obj, hosts):
                return hosts
            extra_specs = plugin.field(spec_obj.flavor, 'extra_specs')
            flavor = inputs.read_flavor(extra_specs)
            exempt = tuple(CONF.nova_filters.exempt_metadata_keys)
            matcher = Matcher(flavor, exempt)
            passed, refused = matcher.match_hosts(hosts)
            if LOG.isEnabledFor(logging.DEBUG):
                _log_refused(matcher, refused, spec_obj)
            if refused and not passed:
                _log_no_host(matcher, refused, spec_obj)
        except Exception:
            # A filter that raises ends the boot request with an error; a
            # filter that lets all hosts pass breaks the operator's rules.
            LOG.exception(
                'AggregateInstanceTypeFilter refuses every host: the request '
                'or its flavor could not be read.'
            )
            return []
        return passed
