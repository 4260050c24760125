# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Run Python in a process of its own, for what one process cannot show."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run_python(program: str, *arguments: str) -> list[str]:
    """Run a program with this interpreter, in the checkout.

    :param program: Python source.
    :param arguments: what it finds in ``sys.argv[1:]``.
    :returns: the lines it printed.
    :raises AssertionError: when it failed, with what it said.
    """
    result = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if result.returncode:
        raise AssertionError(result.stderr)
    return result.stdout.splitlines()
