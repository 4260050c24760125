# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The host filter ``AggregateInstanceTypeFilter``: binds the evaluator."""

import collections
from collections.abc import Iterable
from typing import Any

import nova.conf
from nova.scheduler import filters
from oslo_log import log as logging

from nova_filters import batch, conf, matching

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF
conf.register_opts(CONF)

#: How many different reasons the INFO line lists, the commonest first.
_LISTED = 10


def _is_rebuild(spec_obj: Any) -> bool:
    """Tell whether the request is a rebuild, whatever its hints hold."""
    # Nova's own request_is_rebuild() raises when the hints are None.
    hints = getattr(spec_obj, 'scheduler_hints', None) or {}
    return bool(hints.get('_nova_check_type') == ['rebuild'])


def _extra_specs(spec_obj: Any) -> dict[str, str]:
    """Return the extra specs of the request's flavor, {} if there are none."""
    flavor = spec_obj.flavor
    if 'extra_specs' not in flavor:
        return {}
    return dict(flavor.extra_specs or {})


class AggregateInstanceTypeFilter(filters.BaseHostFilter):
    """Match flavor extra specs and aggregate metadata, in both directions.

    Nova keeps one object for all requests and, since release 34, serves them
    in native threads: nothing of a request is kept on ``self``.
    """

    # Neither the flavor nor the aggregates change within a request.
    run_filter_once_per_request = True
    # A rebuild stays on its host with its flavor.
    RUN_ON_REBUILD = False

    def host_passes(self, host_state: Any, spec_obj: Any) -> bool:
        """Decide for one host.

        :param host_state: Nova's HostState.
        :param spec_obj: Nova's RequestSpec.
        :returns: whether the host passes; never raises.
        """
        return bool(self._sift([host_state], spec_obj))

    def filter_all(
        self, filter_obj_list: Iterable[Any], spec_obj: Any
    ) -> list[Any]:
        """Return the hosts that pass; refuse all if something is wrong.

        :param filter_obj_list: Nova's HostStates.
        :param spec_obj: Nova's RequestSpec.
        :returns: those that pass, in the order they came; never raises.
        """
        hosts = list(filter_obj_list)
        if _is_rebuild(spec_obj):
            return hosts
        return self._sift(hosts, spec_obj)

    def _sift(self, hosts: list[Any], spec_obj: Any) -> list[Any]:
        """Return the hosts that pass, and log why the others do not."""
        try:
            flavor = matching.read_flavor(_extra_specs(spec_obj))
            exempt = tuple(CONF.nova_filters.exempt_metadata_keys)
            sifted = batch.Batch(flavor, exempt).sift(hosts)
            self._report(flavor, exempt, sifted, len(hosts), spec_obj)
        except Exception:
            # A filter that raises ends the whole boot request with an error;
            # one that lets unjudged hosts pass breaks the operator's promise.
            LOG.exception(
                'AggregateInstanceTypeFilter could not judge a request and '
                'refuses every host. Please report this as a defect.'
            )
            return []
        return sifted.passed

    @staticmethod
    def _report(
        flavor: tuple[matching.FlavorSpec, ...],
        exempt: tuple[str, ...],
        sifted: batch.Sifted[Any],
        total: int,
        spec_obj: Any,
    ) -> None:
        """Log what is malformed, and why hosts were refused."""
        request = {'instance': getattr(spec_obj, 'instance_uuid', None)}
        if sifted.problems:
            LOG.warning(
                'Instance %(instance)s: nothing can meet these values; '
                'correct the flavor or the aggregates: %(problems)s',
                request | {'problems': '; '.join(sifted.problems[:_LISTED])},
            )
        if LOG.isEnabledFor(logging.DEBUG):
            for hosts, verdict in batch.explain(
                batch.by_aggregates(sifted.refused), flavor, exempt
            ):
                LOG.debug(
                    'Instance %(instance)s: %(count)d host(s) in aggregates '
                    '%(aggregates)s refused: %(reason)s',
                    request
                    | {
                        'count': len(hosts),
                        'aggregates': batch.names(hosts[0]),
                        'reason': verdict,
                    },
                )
        if sifted.passed or not total:
            return
        counts: collections.Counter[str] = collections.Counter()
        for hosts, verdict in batch.explain(sifted.refused, flavor, exempt):
            counts[verdict.summary()] += len(hosts)
        LOG.info(
            'Instance %(instance)s: 0 of %(total)d hosts: %(reasons)s',
            request
            | {
                'total': total,
                'reasons': ', '.join(
                    f'{count} {text}'
                    for text, count in counts.most_common(_LISTED)
                ),
            },
        )
