# SPDX-License-Identifier: Apache-2.0

"""Answer what operators ask about clusters and their regions.

The modules are pure: they neither read a file or a cloud, nor print.
"""
