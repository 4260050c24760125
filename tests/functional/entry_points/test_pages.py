# SPDX-License-Identifier: Apache-2.0

"""The configuration that the pages show, before what reads it."""

import functools
import json
import pathlib
import re
import sys
import tempfile
from collections.abc import Callable
from unittest import mock

import ddt

from nova_filters import conf
from testing import subprocesses
from tests import configurations, pages, signing, upgrade_checks
from tests.cloud import configuration, layout

#: The option modules of the service that reads a file, and of this package.
NAMESPACES = {
    'senlin.conf': ('senlin.conf', 'senlin_plugins'),
    'nova.conf': ('nova.conf', 'nova_filters'),
    'heat.conf': ('heat.common.config', 'heat_hints'),
}
COMMANDS = {
    'senlin.conf': 'senlin-plugins-status',
    'nova.conf': 'nova-filters-status',
    'heat.conf': 'heat-hints-status',
}
#: The page with the lines of each file.
INSTALL = 'doc/source/install.rst'

#: Where the environment has its programs.
FOLDER = pathlib.Path(sys.executable).parent
#: An option in the text of a page, with its section.
OPTION = re.compile(r'\[(\w+)\] (\w+)')

#: Registers all options of a service. Then it answers each file that its
#: standard input names with what oslo.config has against it.
SERVER = """
import contextlib, importlib.metadata, sys
from oslo_config import cfg
points = importlib.metadata.entry_points(group='oslo.config.opts')
options = [opt for name in sys.argv[1:] for opt in points[name].load()()]
for path in map(str.strip, sys.stdin):
    conf = cfg.ConfigOpts()
    for group, opts in options:
        for opt in opts:
            with contextlib.suppress(cfg.DuplicateOptError):
                conf.register_opt(opt, None if group == 'DEFAULT' else group)
    problem = ''
    try:
        # Nova demands others, such as auth_url.
        with contextlib.suppress(cfg.RequiredOptError):
            conf(['--config-file', path])
        sections = {}
        cfg.ConfigParser(path, sections).parse()
        for section, names in sections.items():
            for name in names:
                if section == 'DEFAULT':
                    conf[name]
                else:
                    conf[section][name]
    except Exception as exc:
        problem = repr(exc)
    print(problem, flush=True)
"""


@functools.cache
def server(file: str) -> subprocesses.Server:
    """Return the process with all options of a file."""
    command = [sys.executable, '-W', 'ignore', '-c', SERVER]
    return subprocesses.Server([*command, *NAMESPACES[file]], cwd=pages.ROOT)


@ddt.ddt
class PagesTest(pages.Walk, upgrade_checks.UpgradeCheckCase):
    suite = 'configuration'

    @ddt.data(*pages.select('configuration'))
    def test_the_page_is_true(self, page: str) -> None:
        self.walk(page)

    def test_the_prose_names_no_option_that_is_unknown(self) -> None:
        self.file = 'any.conf'
        named = {
            match.groups()
            for page in pages.pages()
            for words in pages.literals(page)
            if (match := OPTION.match(words))
        }
        for section, option in named:
            path = str(self.write(f'[{section}]\n{option} =\n'))
            answers = [server(file).ask(path) for file in NAMESPACES]
            unknown = [answer for answer in answers if 'NoSuch' in answer]
            self.assertLess(len(unknown), len(answers), unknown)

    def use(self, block: pages.Block) -> None:
        """Fail if the service refuses a configuration of the page."""
        file = block.marks['file']
        if file in NAMESPACES:
            self.assert_accepted(file, self.files[file])

    def assert_accepted(self, file: str, text: str) -> None:
        """Fail if oslo.config does not know an option, or refuses a value."""
        self.file = file
        problem = server(file).ask(str(self.write(text)))
        self.assertEqual('', problem, text)

    def assert_checked(self, file: str, text: str) -> None:
        """Fail unless the upgrade check accepts a file with a real key."""
        self.assert_accepted(file, text)
        self.command = COMMANDS[file]
        self.assert_clean(text)
        if signing.KEY in text:
            self.check_details(
                text.replace(signing.KEY, 'REPLACE-ME'),
                'Option values',
                'FAILURE',
                'fewer than 32 characters',
            )

    def type(self, command: pages.Command) -> str:
        """Run an upgrade check on the file that the page shows."""
        program, *words = command.words.split()
        if program == 'oslo-config-validator':
            words[words.index('/etc/nova/nova.conf')] = str(self.cloud_file)
            result = subprocesses.run(FOLDER / program, *words)
            self.code = result.returncode
            return result.stderr
        (file,) = (f for f, name in COMMANDS.items() if name == program)
        self.command, self.file = program, file
        # A page without a file speaks of a cloud that has the lines.
        text = self.files[file] or pages.files(INSTALL)[file]
        path = str(self.write(text))
        if '--config-file' in words:
            shown = {
                f'./{file}': path,
                'nova-lines.conf': path,
                '/etc/nova/nova.conf': str(self.cloud_file),
            }
            words = [shown.get(word, word) for word in words]
        else:
            words = ['--config-file', path, *words]
        answer = self.execute(*words)
        self.assertEqual('', answer.error)
        self.code = answer.code
        if not command.output and '--json' not in words:
            self.assertEqual(0, answer.code, answer.output)
        return answer.output

    cloud_file = pathlib.Path()

    def write_cloud_file(self, plugin: str) -> None:
        """Write the ``nova.conf`` of the loopback cloud.

        :param plugin: its lines for this package.
        """
        folder = tempfile.TemporaryDirectory(prefix='opp-cloud-')
        self.addCleanup(folder.cleanup)
        etc = pathlib.Path(folder.name)
        with mock.patch.object(layout, 'ETC', etc):
            configuration.write(
                'nova.conf',
                'nova.conf',
                environment=etc,
                login=configuration.login('nova'),
                plugin=plugin,
                port=layout.PORTS['RegionOne.nova'],
                region='RegionOne',
                unchecked=False,
            )
        self.cloud_file = etc / 'nova.conf'

    def check_two_files(self, run: Callable[[], str]) -> None:
        self.write_cloud_file('')
        self.assertIn('server_group_weight_multiplier is 10.', run())

    def check_validator(self, run: Callable[[], str]) -> None:
        lines = '[nova_filters]\nserver_group_multiplier = 10.0'
        self.write_cloud_file(lines)
        run()
        self.assertEqual(1, self.code)
        self.write_cloud_file(lines.replace('group_', 'group_weight_'))
        (command,) = self.block.commands
        printed = self.type(command)
        self.assertEqual(0, self.code, printed)

    def check_in_tree_filter(self, run: Callable[[], str]) -> None:
        run()
        self.command = COMMANDS['nova.conf']
        self.check_details(
            f'{self.block.text.rstrip()},AggregateInstanceExtraSpecsFilter',
            'AggregateInstanceTypeFilter',
            'WARNING',
            'AggregateInstanceExtraSpecsFilter is enabled, too.',
        )

    def check_placeholder(self, run: Callable[[], str]) -> None:
        run()
        for file, command in COMMANDS.items():
            self.file, self.command = file, command
            self.assert_checked(file, self.files[file])

    def assert_spreads(self, text: str, filter_state: str = 'Off.') -> None:
        """Fail unless a nova.conf switches on the weigher for groups.

        :param filter_state: the first words of the check of the filter.
        """
        self.assert_checked('nova.conf', text)
        checks = self.check(text).checks
        for name, words in (
            (
                'ServerGroupWeigher',
                'On: server_group_weight_multiplier is 10.',
            ),
            ('AggregateInstanceTypeFilter', filter_state),
        ):
            _, details = checks[name]
            self.assertTrue(details.startswith(words), details)

    def check_without_heat(self, run: Callable[[], str]) -> None:
        run()
        text = self.files['nova.conf']
        self.assert_spreads(text)
        text, _, _ = text.partition('[heat_hints]')
        lines = [
            line
            for line in text.splitlines(keepends=True)
            if 'stack_affinity_weight_multiplier' not in line
        ]
        self.assert_spreads(''.join(lines))

    def check_filter(self, run: Callable[[], str]) -> None:
        self.assert_spreads(self.files['nova.conf'] + run(), 'On.')

    def check_failure(self, run: Callable[[], str]) -> None:
        run()
        self.assertEqual(2, self.code)

    def check_exempt(self, run: Callable[[], str]) -> None:
        _, _, keys = run().partition('= ')
        default = configurations.load(conf.list_opts()).nova_filters
        wanted = [*default.exempt_metadata_keys, 'rack']
        self.assertEqual(wanted, keys.strip().split(','))

    def check_json(self, run: Callable[[], str]) -> None:
        printed = json.loads(run())
        self.assertEqual('Option values', printed['checks'][0]['check'])
        self.assertEqual(2, self.code)
