# SPDX-License-Identifier: Apache-2.0

"""Compute the results of the commands about stack hints.

The modules are pure: they read no file and no cloud, and print nothing.
"""
