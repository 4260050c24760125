# SPDX-License-Identifier: Apache-2.0

"""The directory that heat-engine scans for resource plug-ins.

Heat loads the modules in this directory under names of its own. If Python also
imports a module under its usual name, there are two copies of the module. So
the modules in this directory must have no state.
"""

import pathlib

#: The directory that :mod:`heat_hints.hook` adds to ``[DEFAULT] plugin_dirs``.
DIRECTORY = str(pathlib.Path(__file__).parent)
