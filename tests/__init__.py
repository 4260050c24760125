# SPDX-License-Identifier: Apache-2.0

import os

import hypothesis

#: Whether long random runs are wanted: ``make test-all``.
ALL = bool(os.environ.get('OPP_ALL'))

# The same examples in each run, and a busy machine is no failure.
hypothesis.settings.register_profile(
    'steady',
    max_examples=5_000 if ALL else 100,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile('steady')
