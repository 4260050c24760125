# SPDX-License-Identifier: Apache-2.0

"""Why a host is refused, in the metadata of its aggregates."""

from nova_filters.matching import inputs
from nova_filters.matching.judge import Judge
from nova_filters.matching.reason import Reason


def refusal(
    extra_specs: dict[str, str], *metadata: dict[str, str]
) -> Reason | None:
    """Return why a host in aggregates named a0, a1, … is refused."""
    aggregates = [
        inputs.Aggregate(f'a{n}', data) for n, data in enumerate(metadata)
    ]
    judge = Judge(inputs.read_flavor(extra_specs))
    return next(judge.reasons(aggregates), None)
