# SPDX-License-Identifier: Apache-2.0

"""Ask an upgrade check about random files, and the service itself.

Where the check has nothing to say, the real service has to start with the
file and to do its work. ``OPP_CONFIGURATIONS`` says how many files each
service gets.
"""

import dataclasses
import functools
import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence

from os_placement_plugins import options
from testing import subprocesses
from tests import processes, signing, upgrade_checks

#: How many files each service gets.
NUMBER = int(os.environ.get('OPP_CONFIGURATIONS', '30'))

#: What no option of any kind expects.
_VALUES = (
    '',
    'many',
    '-1',
    '7',
    '1e400',
    'nan',
    'true',
    'none',
    '*',
    '[',
    '~',
    ',',
    ',,a',
    'a b',
    '"quoted"',
    "'x",
    'gr\u00fc\u00df',
    '\u2028',
    '%s',
    '{0}',
    '[DEFAULT]',
    'x' * 3000,
    '/nowhere',
    '\x1b[31m',
    '0x10',
)
_REFERENCES = ('$foo', '${foo}', '$foo.bar', '$$', '$', '$enabled_filters')
_SECTIONS = ('DEFAULT', 'vgpu_nvidia-35', 'audit_middleware', 'acme', 'oslo_x')
#: What oslo.config cannot read: no text, no section, and no value.
_BROKEN = (
    b'\xff\xfe[x]',
    b'signing_key = s3cretpw\n',
    b'[heat_hints]\nsigning_key s3cretpw\n',
    b'[database\nconnection = s3cretpw\n',
)
#: Values by option.
Values = Mapping[str, Sequence[str]]

#: Options whose values stay where they are.
_SECRET = ('signing_key', 'connection')
#: Nothing of these is for anybody's eyes.
_SECRETS = (*upgrade_checks.PASSWORD, signing.KEY, signing.KEY[:10])


@dataclasses.dataclass
class Line:
    """A line of a configuration file."""

    section: str
    option: str
    value: str


def defaults(list_opts: options.Options) -> list[Line]:
    """Return a line for each option of a package, with its default."""
    lines = []
    for group, opts in list_opts:
        for opt in opts:
            value = '' if opt.default is None else str(opt.default)
            if isinstance(opt.default, list):
                value = ','.join(opt.default)
            if value:
                lines.append(Line(group.name, opt.name, value))
    return lines


class Draft:
    """A file that gets worse with each change.

    :param lines: a good file.
    :param values: other values that the service knows, by option.
    """

    def __init__(
        self, rng: random.Random, lines: Sequence[Line], values: Values
    ) -> None:
        self._rng = rng
        self._values = values
        self._lines = [dataclasses.replace(line) for line in lines]
        self._sections = [*_SECTIONS, *{line.section: 1 for line in lines}]

    def change(self) -> None:
        """Change one thing."""
        line = self._rng.choice(self._lines)
        change = self._rng.choice(
            (
                self._move,
                self._misspell_section,
                self._misspell_option,
                self._repeat,
                self._double_member,
                self._swap,
                self._break,
                self._refer,
                # What the service knows gets furthest.
                self._replace,
                self._replace,
                self._replace,
            )
        )
        change(line)

    def set(self, option: str, value: str) -> None:
        """Set an option."""
        for line in self._lines:
            if line.option == option:
                line.value = value

    def text(self) -> str:
        """Return the file."""
        text = ''
        for section in dict.fromkeys(line.section for line in self._lines):
            text += f'[{section}]\n'
            for line in self._lines:
                if line.section == section:
                    text += f'{line.option} = {line.value}\n'
        return text

    def _move(self, line: Line) -> None:
        line.section = self._rng.choice(self._sections)

    def _misspell_section(self, line: Line) -> None:
        line.section = self._without_a_letter(line.section)

    def _misspell_option(self, line: Line) -> None:
        line.option = self._without_a_letter(line.option)

    def _repeat(self, line: Line) -> None:
        self._lines.append(dataclasses.replace(line))

    def _double_member(self, line: Line) -> None:
        line.value += f',{self._rng.choice(line.value.split(","))}'

    def _swap(self, _: Line) -> None:
        first, second = self._open_line(), self._open_line()
        first.value, second.value = second.value, first.value

    def _break(self, line: Line) -> None:
        values: Sequence[str] = _VALUES
        if line.option == 'connection':
            values = upgrade_checks.WRONG_URLS
        line.value = self._rng.choice(values)

    def _refer(self, line: Line) -> None:
        reference = self._rng.choice((f'${line.option}', *_REFERENCES))
        line.value = self._rng.choice(
            (reference, f'{line.value},{reference}', f'{reference},a')
        )

    def _replace(self, _: Line) -> None:
        option = self._rng.choice(list(self._values))
        self.set(option, self._rng.choice(self._values[option]))

    def _open_line(self) -> Line:
        """Return a line whose value is no secret."""
        return self._rng.choice(
            [line for line in self._lines if line.option not in _SECRET]
        )

    def _without_a_letter(self, name: str) -> str:
        cut = self._rng.randrange(len(name))
        return name[:cut] + name[cut + 1 :]


def draw(seed: int, lines: Sequence[Line], values: Values) -> bytes:
    """Return a random file.

    Those with the first even seeds differ from the good file in one value
    that the service knows.
    """
    rng = random.Random(seed)
    pairs = [(name, value) for name in values for value in values[name]]
    if seed % 2 == 0 and seed // 2 < len(pairs):
        draft = Draft(rng, lines, values)
        draft.set(*pairs[seed // 2])
        return draft.text().encode()
    if rng.random() < 0.03:
        return rng.choice(_BROKEN)
    draft = Draft(rng, lines, values)
    for _ in range(rng.randint(0, 3)):
        draft.change()
    return draft.text().encode()


@functools.cache
def starter(service: str) -> subprocesses.Child:
    """Return the process that starts a service; it ends with this one."""
    return subprocesses.Child(
        f'the process that starts {service}',
        [
            sys.executable,
            '-W',
            'ignore',
            '-m',
            'tests.service_starts',
            service,
        ],
        cwd=processes.ROOT,
        stdin=subprocess.PIPE,
        stderr=None,
    )


class FuzzTests:
    """Mixed into the test case of a command."""

    #: The good file, and other values.
    lines: Sequence[Line] = ()
    values: Values = {}

    def start(self, path):
        """Start the real service, and have it do its work.

        :returns: nothing if it does, or else why not.
        """
        process = starter(self.file.removesuffix('.conf'))
        process.write_line(json.dumps(str(path)))
        return json.loads(process.read_line(f'what comes of {path}') or '""')

    def test_random_files(self):
        codes = set()
        for seed in range(NUMBER):
            with self.subTest(seed=seed):
                path = self.folder / self.file
                data = draw(seed, self.lines, self.values)
                path.write_bytes(data)
                answer = self.execute(
                    '--config-file', path, 'upgrade', 'check', '--json'
                )
                codes.add(answer.code)
                text = answer.output + answer.error
                self.assertIn(answer.code, (0, 1, 2, 255), data)
                self.assertNotIn('Traceback', text, data)
                for secret in _SECRETS:
                    self.assertNotIn(secret, text, data)
                if answer.code == 0:
                    self.assertEqual('', self.start(path), data)
                if answer.code < 255:
                    self.assertEqual('', answer.error)
                    self.assertTrue(answer.checks)
        # Files of all kinds were drawn.
        self.assertLessEqual({0, 1, 2}, codes)
