# SPDX-License-Identifier: Apache-2.0

"""Measure this process: Python imports this module when a process starts.

Only ``make cover`` puts this folder, and coverage, on the path.
"""

import coverage

coverage.process_startup()
