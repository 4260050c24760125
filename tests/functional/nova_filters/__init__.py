# SPDX-License-Identifier: Apache-2.0

# Chooses Nova's concurrency, before any module here imports Nova.
from testing.nova import engine  # noqa: F401
