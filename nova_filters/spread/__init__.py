# SPDX-License-Identifier: Apache-2.0

"""Decide where the next server of a stack or of a server group goes."""
