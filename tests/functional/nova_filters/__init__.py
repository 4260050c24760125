# SPDX-License-Identifier: Apache-2.0

# Chooses Nova's concurrency, before any module here imports Nova.
from testing.nova import engine  # noqa: F401  isort: skip

from tests import order

load_tests = order.shuffled(__file__)
