# SPDX-License-Identifier: Apache-2.0

"""The tutorial, typed from its first command to its last."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from tests import console
from tests.cloud import base, layout

PAGE = 'tutorial.rst'

#: What the reader makes, boots and stops the cloud with. These tests run on
#: a cloud that is up, so whoever runs them has typed it, or a tool for them.
ABOUT_THE_CLOUD = [
    'make env ENV=functional-2026.2,cloud',
    '.tox/cloud/bin/python -m tests.cloud install',
    '.tox/cloud/bin/python -m tests.cloud up',
    '.tox/cloud/bin/python -m tests.cloud down',
]

#: How long the shell may take for all commands, in seconds.
PATIENCE = 3600

#: What Senlin's client says when ``--wait`` is over before the action is.
GIVES_UP = 'not achived within polling period'

#: How a command is typed. It reads nothing of what is typed next. Where
#: ``--wait`` gives up, the action is waited for, as the page tells the reader.
TYPED = f"""\
{{ %(command)s
}} < /dev/null > %(file)s.printed 2>&1
status=$?
echo $status > %(file)s.status
if grep -q '{GIVES_UP}' %(file)s.printed; then
  action=$(grep -o 'action: .*' %(file)s.printed | cut -c 9-)
  until openstack cluster action show $action -f value -c status \\
    | grep -Ev 'INIT|READY|RUNNING|WAITING'; do :; done
elif [ $status != %(wanted)s ]; then
  exit
fi
"""


class TestTutorial(base.CloudTest):
    """The page in a copy of this checkout and in a bash.

    Every command is typed as it stands there, and must succeed, unless the
    page shows its error. What the page shows of its output must be printed:
    word by word, save that three dots stand for anything (names that chance
    chooses) and that white space does not count.
    """

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='opp-tutorial-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.copy = self.folder / 'copy'
        # What make and the services have written stays here.
        hidden = shutil.ignore_patterns('.[!g]*', 'build', '*.egg-info')
        shutil.copytree(layout.ROOT, self.copy, ignore=hidden)
        # As if the cloud had been booted there.
        (self.copy / '.tox').mkdir()
        (self.copy / '.tox' / 'cloud').symlink_to(layout.ENVIRONMENT)
        (self.copy / '.cloud').symlink_to(layout.FOLDER)

    def test_every_command_does_what_the_page_says(self):
        self.save_files()
        examples = console.examples(PAGE)
        self.assertEqual(
            ABOUT_THE_CLOUD,
            [example.command for example in (*examples[:3], examples[-1])],
        )
        typed = examples[3:-1]
        self.type(typed)
        for number, example in enumerate(typed):
            text = self.folder / f'{number}.printed'
            self.assertTrue(text.exists(), f'not typed: {example.command}')
            printed = text.read_text('utf-8')
            status = int((self.folder / f'{number}.status').read_text())
            transcript = f'$ {example.command}\n{printed}'
            if GIVES_UP not in printed:
                self.assertEqual(wanted_status(example), status, transcript)
            if example.output and not console.agrees(example.output, printed):
                self.fail(f'{transcript}\nThe page shows:\n{example.output}')

    def save_files(self) -> None:
        """Save the files that the page shows under the names it gives."""
        for block in console.blocks(PAGE, 'yaml'):
            (self.copy / block.caption).write_text(block.text, 'utf-8')

    def type(self, examples: list[console.Example]) -> None:
        """Type commands in one shell, up to the first that goes wrong.

        :param examples: the commands; a command finds what those before it
            have set.
        :raises AssertionError: when the shell does not end in time. The shell
            and all that it has started are killed.
        """
        ours = re.compile('PYTHON|VIRTUAL_ENV|OS_')
        variables = {
            name: value
            for name, value in os.environ.items()
            if not ours.match(name)
        }
        shell = subprocess.Popen(
            # It looks into its history as a reader's does, so that "!" is
            # replaced where it would be replaced for them.
            ['bash', '--noprofile', '--norc', '-o', 'history', '-H'],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.copy,
            # A proxy of the caller's does not lead to the loopback address.
            env=variables | {'no_proxy': layout.ADDRESS},
            text=True,
            start_new_session=True,
        )
        script = ''.join(
            TYPED
            % {
                'command': example.command,
                'file': self.folder / str(number),
                'wanted': wanted_status(example),
            }
            for number, example in enumerate(examples)
        )
        try:
            shell.communicate(script, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.communicate()
            self.fail(
                f'The shell has not ended after {PATIENCE} s. It was at:\n'
                f'{self.last_command(examples)}'
            )

    def last_command(self, examples: list[console.Example]) -> str:
        """Return the command that the shell was at, with its output."""
        texts = self.folder.glob('*.printed')
        last = max(texts, key=lambda text: int(text.stem))
        command = examples[int(last.stem)].command
        return f'$ {command}\n{last.read_text("utf-8")}'


def wanted_status(example: console.Example) -> int:
    """Return how a command ends."""
    return 1 if example.output.startswith('Error ') else 0
