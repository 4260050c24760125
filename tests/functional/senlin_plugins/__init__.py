# SPDX-License-Identifier: Apache-2.0

# Patches the process, as Senlin itself does, before any test is imported.
from testing.senlin import engine  # noqa: F401  isort: skip

from tests import order

load_tests = order.shuffled(__file__)
