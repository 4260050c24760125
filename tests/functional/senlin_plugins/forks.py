# SPDX-License-Identifier: Apache-2.0

"""Functions in processes of their own, forked from one that loaded Senlin.

Senlin reads its configuration once per process, and takes seconds to load.
"""

import json

from tests import processes

PROGRAM = """
import importlib, json, os, sys, tempfile, traceback
from eventlet import patcher

module, name, cases = sys.argv[1:]
function = getattr(importlib.import_module(module), name)
# The green one would start a hub, and the next fork would share it.
wait = patcher.original('os').waitpid
forks = []
for case in json.loads(cases):
    output = tempfile.TemporaryFile('w+')
    child = os.fork()
    if not child:
        os.dup2(output.fileno(), 1)
        code = 0
        try:
            function(*case)
        except Exception:
            # Senlin's excepthook would log it.
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        # The engine's green threads would go on.
        os._exit(code)
    forks.append((child, output))
for child, output in forks:
    if wait(child, 0)[1]:
        sys.exit(1)
    output.seek(0)
    print(json.dumps(output.read().splitlines()))
"""


def run(function, cases):
    """Call a function for each case, all at the same time.

    :returns: the lines that each call printed.
    """
    lines = processes.run_python(
        PROGRAM, function.__module__, function.__name__, json.dumps(cases)
    )
    return [json.loads(line) for line in lines]
