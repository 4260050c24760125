# SPDX-License-Identifier: Apache-2.0

"""The shell examples of the documentation: quoted, and calling what there is.

That an example prints what stands below it is tested where its program is:
see ``RUN_BY``.
"""

import configparser
import contextlib
import io
import re
import shlex
import textwrap
import unittest
from collections.abc import Iterator

import ddt

from tests import console, processes
from tools import environments, run_tests

PAGES = sorted(
    [
        *processes.ROOT.glob('*.rst'),
        *processes.ROOT.glob('devstack/*.rst'),
        *processes.ROOT.glob('doc/source/*.rst'),
    ]
)

#: Who carries out the commands of a page, or asks the same by the API (the
#: clusters of senlin.rst). On other pages commands are not more than
#: installing and restarting.
RUN_BY = {
    'benchmarks.rst': 'tests/functional/entry_points/test_programs.py',
    'charts.rst': 'tests/functional/entry_points/test_programs.py',
    'commands.rst': 'tests/functional/client/test_documentation.py',
    'install.rst': 'tests/functional/entry_points/test_installation_page.py',
    'nova.rst': 'tests/functional/client/test_documentation.py',
    'senlin.rst': 'tests/functional/senlin_plugins/test_documentation.py',
    'tutorial.rst': 'tests/cloud/test_tutorial.py',
    'upgrade-checks.rst': 'tests/functional/nova_filters/test_status.py',
}

_BLOCK = re.compile(
    r'^( *)(?:\.\. code-block:: console|[^\n.][^\n]*::|::)\n\n'
    r'((?:\1 +[^\n]*\n|\n)+)',
    re.M,
)
_PROMPT = re.compile(r'^[$#] ', re.M)
#: Programs that can be meant by a literal in a paragraph.
_PROGRAMS = ('openstack ', 'make ', 'pip ', 'tox ', 'python -m ')


def joined(text: str) -> str:
    """Return commands with each on a line of its own, without prompts."""
    return re.sub(r'\\\n(> )?\s*', '', text)


def commands(text: str) -> Iterator[str]:
    """Yield the commands of a page.

    :param text: the page.
    :returns: those of its blocks, each in one line, and those that stand as
        a literal within a paragraph.
    """
    for _, block in _BLOCK.findall(text):
        block = textwrap.dedent(block).strip('\n')
        if _PROMPT.search(block):
            for line in joined(block).splitlines():
                if line.startswith(('$ ', '# ', '> ')):
                    yield line[2:].strip()
        elif block.startswith(('make ', 'pip ')):
            yield from joined(block).splitlines()
    for literal in re.findall(r'``([^`]+)``', text):
        literal = ' '.join(literal.split())
        if literal.startswith(_PROGRAMS):
            yield literal


ALL = [
    (page.relative_to(processes.ROOT).as_posix(), command)
    for page in PAGES
    for command in dict.fromkeys(commands(page.read_text('utf-8')))
]


def those_of(*programs: str) -> list[tuple[str, str, list[str]]]:
    """Return page, command and words of the commands that call a program."""
    found = []
    for page, command in ALL:
        # Not what only tells of a program: "make test ARGS=...".
        with contextlib.suppress(ValueError):
            words = shlex.split(command)
            if words and words[0].rpartition('/')[2] in programs:
                found.append((page, command, words))
    assert found, programs
    return found


@ddt.ddt
class QuotingTest(unittest.TestCase):
    @ddt.data(*ALL)
    @ddt.unpack
    def test_what_a_shell_would_change_is_quoted(self, page, command):
        self.assertEqual(
            set(),
            console.unquoted(command),
            f'{page}: a shell changes "{command}": quote it',
        )
        plain = re.sub(r"'[^']*'|\"[^\"]*\"", '', command)
        self.assertNotIn('<or>', plain, page)


@ddt.ddt
class ProgramsTest(unittest.TestCase):
    def test_every_page_with_commands_has_somebody_who_runs_them(self):
        pages = {
            page.rpartition('/')[2]
            for page, command in ALL
            if not command.startswith(_PROGRAMS[1:])
            and page.startswith('doc/source/')
        }
        # Told in paragraphs only, and at length on a page of its own.
        pages -= {'heat.rst', 'configuration.rst', 'cloud.rst'}
        # What to use instead of this package: commands of Placement's client.
        pages -= {'when-not-to-use.rst'}
        self.assertEqual(pages, set(RUN_BY))
        for path in RUN_BY.values():
            self.assertTrue((processes.ROOT / path).exists(), path)

    @ddt.data(*those_of('make'))
    @ddt.unpack
    def test_make_has_the_target(self, page, command, words):
        makefile = (processes.ROOT / 'Makefile').read_text('utf-8')
        targets = re.findall(r'^([a-z-]+):', makefile, re.M)
        self.assertIn(words[1], targets, page)
        for word in words[2:]:
            variable, _, value = word.partition('=')
            self.assertIn(f'$({variable})', makefile, command)
            if words[1] == 'test':
                with contextlib.redirect_stdout(io.StringIO()):
                    code = run_tests.main(['--list', *shlex.split(value)])
                self.assertEqual(0, code, command)

    @ddt.data(*those_of('tox'))
    @ddt.unpack
    def test_tox_has_the_environment(self, page, command, words):
        config = configparser.ConfigParser(interpolation=None)
        config.read(processes.ROOT / 'tox.ini')
        for name in words[2:]:
            self.assertIn(f'testenv:{name}', config, command)

    @ddt.data(*those_of('pip'))
    @ddt.unpack
    def test_pip_finds_the_extras(self, page, command, words):
        config = configparser.ConfigParser()
        config.read(processes.ROOT / 'setup.cfg')
        extras = config['options.extras_require']
        for word in words:
            project, _, wanted = word.rstrip(']').partition('[')
            if project in (config['metadata']['name'], '.') and wanted:
                self.assertLessEqual({*wanted.split(',')}, {*extras}, page)

    @ddt.data(*those_of('python', 'python3.11'))
    @ddt.unpack
    def test_python_has_the_module_and_the_environment(
        self, page, command, words
    ):
        self.assertEqual('-m', words[1], command)
        module = processes.ROOT / words[2].replace('.', '/')
        self.assertTrue(
            words[2] in ('venv', 'build')
            or module.with_suffix('.py').exists()
            or (module / '__main__.py').exists(),
            command,
        )
        environment = re.match(r'\.venv/([^/]+)/', words[0])
        if environment:
            self.assertIn(environment[1], environments.ENVIRONMENTS, command)

    @ddt.data(
        *those_of(
            'senlin-plugins-status', 'nova-filters-status', 'heat-hints-status'
        )
    )
    @ddt.unpack
    def test_the_command_is_installed(self, page, command, words):
        config = configparser.ConfigParser()
        config.read(processes.ROOT / 'setup.cfg')
        scripts = config['options.entry_points']['console_scripts']
        self.assertIn(f'\n{words[0]} = ', scripts)
        self.assertIn('upgrade check', command)
