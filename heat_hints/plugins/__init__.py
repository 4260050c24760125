# SPDX-License-Identifier: Apache-2.0

"""The directory that heat-engine scans for resource plug-ins.

Heat loads the modules in this directory under other names. Another import
would give second copies, so the modules are small and have no state.
"""

import pathlib

#: The directory that :mod:`heat_hints.hook` adds to ``[DEFAULT] plugin_dirs``.
DIRECTORY = str(pathlib.Path(__file__).parent)
