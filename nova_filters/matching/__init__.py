# SPDX-License-Identifier: Apache-2.0

"""Decide whether a host suits a flavor, and why not.

These modules do not import Nova, and do not access a database or a file.
"""
