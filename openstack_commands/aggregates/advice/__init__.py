# SPDX-License-Identifier: Apache-2.0

"""Answer what operators ask about flavors, aggregates and servers.

The modules are pure: they neither read a file or a cloud, nor print.
"""
