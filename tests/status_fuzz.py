# SPDX-License-Identifier: Apache-2.0

"""Random configuration files, for an upgrade check and for its service.

If a value keeps the service from starting, or from a boot, the check fails.
"""

import functools
import random
import subprocess
import sys

from oslo_config import types

import tests
from testing import starts, subprocesses
from tests import processes, upgrade_checks

#: A part of each secret: no output contains it.
MARK = 'hunter2'
KEY = f'a key of 32 characters or more: {MARK}'
#: Values of a signing key.
KEYS = (KEY, f'{KEY},{MARK}', f'{KEY}${MARK}', MARK, f'"{MARK}', f'1\n{MARK}')
#: Values of any option.
ANY = (
    *('', '$foo', '${', '%', '10%', '%(foo)s', '"', "'x'", ',', '*', '\\'),
    *('ü☃', 'x' * 9999, '9' * 400, 'None', 'a=1', 'a;b', 'a\n b', 'a\nb'),
)
BOOLEANS = ('true', 'False', 'yes', 'off', '1', 'treu', 'yess', '2', 'enabled')
NUMBERS = ('0', '1', '2', '-1', '1.5', '1e3', '1e999', 'nan', 'inf', 'auto')

#: The values of an option, by section and name. Each value is a line.
Lines = dict[tuple[str, str], tuple[str, ...]]


def text_of(lines: Lines) -> str:
    """Return the text of a file."""
    text = ''
    for (section, name), values in lines.items():
        text += f'[{section}]\n'
        for value in values:
            text += f'{name} = {value}\n'
    return text


def values_of(kind) -> list[str]:
    """Return values for a type of options: usual ones, edges, wrong ones."""
    if isinstance(kind, types.Boolean):
        return [*BOOLEANS]
    if isinstance(kind, types.List):
        items = values_of(kind.item_type)
        return [*items, ','.join(items), f'{items[0]},{items[0]}']
    if isinstance(kind, types.Number):
        edges = [edge for edge in (kind.min, kind.max) if edge is not None]
        beside = [edge + step for edge in edges for step in (-1, 0, 1)]
        return [*NUMBERS, *map(str, beside)]
    choices = getattr(kind, 'choices', None) or ('a', 'host', 'a=1.0')
    return [*choices, next(iter(choices)).upper()]


@functools.cache
def launcher(program: str) -> subprocesses.Child:
    """Return the process that starts a service; it ends with this one."""
    return subprocesses.Child(
        'the process that starts a service',
        [sys.executable, '-W', 'ignore', '-c', program],
        cwd=processes.ROOT,
        stdin=subprocess.PIPE,
        stderr=None,
    )


class FuzzCase(upgrade_checks.UpgradeCheckCase):
    """A base for the files of one service."""

    #: How many files a long run tries.
    most_files = 100
    #: A program that calls :func:`starts.serve`.
    program = ''
    #: A file with which there is nothing to do, and the service works.
    base: Lines = {}
    #: Other people's modules and other files, in a folder that the command
    #: and the service import from; ``{folder}`` in a value is this folder.
    files: dict[str, str] = {}
    #: Changes that chance would not make, most of them with these files.
    more: tuple[Lines, ...] = ()
    #: The one of them that names something that never returns.
    sleeper: Lines = {}
    #: Words of what only a boot shows. The page says that the check does not.
    only_in_a_boot: tuple[str, ...] = ()

    def options(self):
        """Return the options that are changed, by section."""
        raise NotImplementedError

    def setUp(self):
        super().setUp()
        for name, text in self.files.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    def changes(self, seed: int) -> Lines:
        """Return what the file with a number changes."""
        rng = random.Random(seed)
        if not rng.randrange(3):
            return rng.choice(self.more)
        changes = {}
        for _ in range(rng.choice((1, 1, 2))):
            section, opts = rng.choice([*self.options().items()])
            opt = rng.choice(opts)
            pool = KEYS if opt.secret else (*values_of(opt.type) * 2, *ANY)
            key, values = (section, opt.name), (rng.choice(pool),)
            match rng.randrange(20):
                case 0:
                    wrong_names = opt.name[:-1], opt.name.upper()
                    key = section, rng.choice(wrong_names)
                case 1:
                    key = section.upper(), opt.name
                case 2:
                    values = rng.choice(pool), *values
            changes[key] = values
        return changes

    def write_changes(self, changes: Lines):
        text = text_of(self.base | changes)
        return self.write(text.replace('{folder}', str(self.folder)))

    def start(self, changes: Lines) -> int:
        """Return the exit code of the service with these changes."""
        process = launcher(self.program)
        process.write_line(str(self.write_changes(changes)))
        # The service has the first limit. The import comes before.
        limit = 2 * subprocesses.LIMIT
        return int(process.read_line('the end of a service', limit))

    def check_changes(self, changes: Lines) -> int:
        """Run the check; return its exit code."""
        limit = subprocesses.LIMIT
        if changes and changes == self.sleeper:
            limit = 1.0
        answer = self.execute(
            *('--config-file', self.write_changes(changes)),
            *('upgrade', 'check'),
            limit=limit,
        )
        printed = answer.output + answer.error
        self.assertIn(answer.code, (0, 1, 2, 255), printed)
        self.assertNotIn('Traceback', printed)
        self.assertNotIn(MARK, printed)
        return answer.code

    def reduce(self, changes: Lines, end: int) -> Lines:
        """Return those changes without which the service does not end so."""
        for key in changes:
            rest = {k: v for k, v in changes.items() if k != key}
            if rest and self.start(rest) == end:
                return self.reduce(rest, end)
        return changes

    def test_the_base_is_fine(self):
        self.assertEqual(0, self.check_changes({}))
        self.assertEqual(starts.UP, self.start({}))

    def test_no_value_that_stops_the_service_is_fine(self):
        for seed in range(self.most_files if tests.ALL else 6):
            changes = self.changes(seed)
            with self.subTest(seed=seed, changes=text_of(changes)):
                code = self.check_changes(changes)
                end = self.start(changes)
                if end == starts.UP:
                    continue
                log = (self.folder / 'service.log').read_text()[-500:]
                cause = text_of(self.reduce(changes, end))
                if end == starts.FAILED_IN_BOOT and any(
                    word in cause for word in self.only_in_a_boot
                ):
                    continue
                self.assertIn(code, (2, 255), f'{cause}: {log}')
