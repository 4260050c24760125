# SPDX-License-Identifier: Apache-2.0

"""Code that several of the plug-in packages need.

This package imports no service. ``heat_hints``, ``nova_filters`` and
``senlin_plugins`` may import this package, but must not import each other.
"""
