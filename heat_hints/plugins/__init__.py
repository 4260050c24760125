# SPDX-License-Identifier: Apache-2.0

"""The directory that heat-engine scans for resource plug-ins.

It is a package only so that it is part of the wheel. Heat loads its modules
by their files, under names of its own, and never as ``heat_hints.plugins``:
what is in here stays small and keeps nothing.
"""
