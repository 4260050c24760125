# SPDX-License-Identifier: Apache-2.0

"""Decide whether a host suits a flavor, and why not. Pure."""
