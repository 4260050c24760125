# SPDX-License-Identifier: Apache-2.0

"""Convert the output of the shell and the answers of APIs to rows.

The modules are pure: they read no file and no cloud.
"""
