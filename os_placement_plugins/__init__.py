# SPDX-License-Identifier: Apache-2.0

"""What more than one of the plug-in packages needs; it imports no service.

``heat_hints``, ``nova_filters`` and ``senlin_plugins`` may import this
package, and never each other.
"""
