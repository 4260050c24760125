# SPDX-License-Identifier: Apache-2.0

"""The host weigher ``PreferenceWeigher``: preferences as points."""

import functools
from collections.abc import Sequence
from typing import Any

import nova.conf
from oslo_log import log as logging

from nova_filters.matching import preferences
from nova_filters.weighers import base

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF


class PreferenceWeigher(base.Weigher):
    """Prefer hosts as the filter chooses them, with points, not verdicts."""

    multiplier = 'preference_weight_multiplier'

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return the points of Nova's HostStates."""
        judge = preferences.Preferences(
            request.flavor.extra_specs,
            tuple(CONF.nova_filters.exempt_metadata_keys),
        )
        if judge.problems:
            LOG.warning(
                'Instance %(instance)s: these preferences do not count; '
                'correct the flavor: %(problems)s',
                {
                    'instance': request.instance_uuid,
                    'problems': '; '.join(judge.problems),
                },
            )
        score = functools.cache(judge.score)
        return [float(score(frozenset(h.aggregates or ()))) for h in hosts]
