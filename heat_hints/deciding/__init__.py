# SPDX-License-Identifier: Apache-2.0

"""Decide about the hints, without Heat."""
