# SPDX-License-Identifier: Apache-2.0

"""The directory that heat-engine scans for resource plug-ins.

Heat loads its modules under other names, so they are small and have no state.
"""

import pathlib

#: What :mod:`heat_hints.hook` adds to ``[DEFAULT] plugin_dirs``.
DIRECTORY = str(pathlib.Path(__file__).parent)
