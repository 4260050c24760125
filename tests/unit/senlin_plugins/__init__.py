# SPDX-License-Identifier: Apache-2.0

import hypothesis

# A busy machine is no failure.
hypothesis.settings.register_profile(
    'patient',
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile('patient')
