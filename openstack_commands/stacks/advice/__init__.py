# SPDX-License-Identifier: Apache-2.0

"""Answer what operators ask about the hints of stacks.

The modules are pure: they neither read a file or a cloud, nor print.
"""
