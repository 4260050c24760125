# SPDX-License-Identifier: Apache-2.0

"""The configuration that the pages show, before what reads it."""

import configparser
import fnmatch
import functools
import json
import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any

import ddt
import jinja2
import yaml
from packaging import requirements

from nova_filters import conf
from testing import subprocesses
from tests import configurations, pages, signing, upgrade_checks

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

#: An option in prose, with its section.
OPTION = re.compile(r'``\[(\w+)\] (\w+)')

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


def write_sections(sections: dict[str, dict[str, Any]], values: Any) -> str:
    """Return a configuration file, with each of an option's values."""
    text = ''
    for section, options in sections.items():
        text += f'[{section}]\n'
        for key, option in options.items():
            for value in values(option):
                text += f'{key} = {value}\n'
    return text


def chart_values(value: Any) -> list[Any]:
    """Return the values that the chart of OpenStack-Helm writes.

    The rule stands in ``helm-toolkit/templates/utils/_to_oslo_conf.tpl``: a
    list becomes one line with commas, and a map of the type ``multistring``
    a line for each value.
    """
    if isinstance(value, dict) and value['type'] == 'multistring':
        return list(value['values'])
    return [','.join(value) if isinstance(value, list) else value]


@ddt.ddt
class PagesTest(pages.Walk, upgrade_checks.UpgradeCheckCase):
    suite = 'configuration'

    @ddt.data(*pages.select('configuration'))
    def test_the_page_is_true(self, page: str) -> None:
        self.walk(page)

    def test_the_prose_names_no_option_that_is_unknown(self) -> None:
        self.file = 'any.conf'
        named = {*OPTION.findall(pages.all_prose())}
        self.assertGreater(len(named), 5)
        for section, option in named:
            path = str(self.write(f'[{section}]\n{option} =\n'))
            answers = [server(file).ask(path) for file in NAMESPACES]
            unknown = [answer for answer in answers if 'NoSuch' in answer]
            self.assertLess(len(unknown), len(answers), unknown)

    def test_a_weigher_is_off_when_it_is_rolled_back(self) -> None:
        told = set()
        for option, value in re.findall(
            r'Set ``(\w+_multiplier) = (\S+)`` and restart', pages.all_prose()
        ):
            told.add(option)
            self.command, self.file = COMMANDS['nova.conf'], 'nova.conf'
            answer = self.check(
                '[filter_scheduler]\n'
                'weight_classes = nova.scheduler.weights.all_weighers, '
                'nova_filters.all_weighers\n'
                f'[nova_filters]\n{option} = {value}\n'
            )
            self.assertIn(f'Off: {option} in', str(answer.checks))
            self.assertNotIn("'On:", str(answer.checks))
        self.assertEqual({'preference_weight_multiplier'}, told)

    def test_heat_sends_no_hints_when_they_are_rolled_back(self) -> None:
        (line,) = re.findall(
            r'Set ``(enabled = \w+)`` and restart', pages.prose('heat')
        )
        self.command, self.file = COMMANDS['heat.conf'], 'heat.conf'
        answer = self.check(f'[heat_hints]\n{line}\n')
        self.assertIn("'Off", str(answer.checks))

    def test_where_the_weighers_stand(self) -> None:
        weighers = [
            'nova.scheduler.weights.all_weighers',
            'nova_filters.all_weighers',
        ]
        (place,) = re.findall(
            'Put the weighers of this package at the (\\w+) of '
            '``weight_classes``',
            pages.prose('nova-spread'),
        )
        if place == 'beginning':
            weighers.reverse()
        self.assert_spreads(
            f'[filter_scheduler]\nweight_classes = {",".join(weighers)}\n'
            '[nova_filters]\nserver_group_weight_multiplier = 10\n'
        )

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
            self.file = 'nova.conf'
            path = self.write(self.files[self.file])
            return self.validate(path)
        (file,) = (f for f, name in COMMANDS.items() if name == program)
        self.command, self.file = program, file
        path = str(self.write(self.files[file]))
        if '--config-file' in words:
            words[words.index(f'./{file}')] = path
        else:
            words = ['--config-file', path, *words]
        answer = self.execute(*words)
        self.assertEqual('', answer.error)
        self.code = answer.code
        if not command.output and '--json' not in words:
            self.assertEqual(0, answer.code, answer.output)
        return answer.output

    def check_in_tree_filter(self, run: Callable[[], str]) -> None:
        run()
        self.command = COMMANDS['nova.conf']
        self.check_details(
            f'{self.block.text.rstrip()},AggregateInstanceExtraSpecsFilter',
            'Filter',
            'WARNING',
            'Remove it from enabled_filters.',
        )
        self.assert_says('Remove ``AggregateInstanceExtraSpecsFilter``,')

    def check_placeholder(self, run: Callable[[], str]) -> None:
        run()
        for file, command in COMMANDS.items():
            self.file, self.command = file, command
            self.assert_checked(file, self.files[file])
        self.assert_says('If the exit code is not 0, the output explains')

    def assert_spreads(self, text: str, filter_state: str = 'Off.') -> None:
        """Fail unless a nova.conf switches on the weigher for groups.

        :param filter_state: the first words of the check of the filter.
        """
        self.assert_checked('nova.conf', text)
        checks = self.check(text).checks
        for name, words in (
            ('Spread of groups', 'On: server_group_weight_multiplier is 10.'),
            ('Filter', filter_state),
        ):
            _, details = checks[name]
            self.assertTrue(details.startswith(words), details)

    def check_without_heat(self, run: Callable[[], str]) -> None:
        run()
        text = self.files['nova.conf']
        self.assert_spreads(text)
        self.assert_says(
            '``stack_affinity_weight_multiplier`` and the section'
        )
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
        self.assert_says('The check finds the mistake:')

    def check_validator(self, run: Callable[[], str]) -> None:
        run()
        path = self.write(f'{self.files["nova.conf"]}enabled_filterz = x\n')
        self.assertIn('filter_scheduler/enabled_filterz', self.validate(path))
        self.assert_says('Misspelled options.')

    def validate(self, path: Any) -> str:
        """Return what oslo-config-validator says of a file."""
        (command,) = self.block.commands
        _, *words = command.words.replace('./nova.conf', str(path)).split()
        folder = pathlib.Path(sys.executable).parent
        result = subprocesses.run(folder / 'oslo-config-validator', *words)
        return result.stdout + result.stderr

    def check_levels(self, run: Callable[[], str]) -> None:
        _, _, levels = run().partition('= ')
        first, second = levels.strip().split(',')
        self.assert_says(
            f'The weigher first chooses a {first}, and then a {second} in '
            'this rack.'
        )

    def check_exempt(self, run: Callable[[], str]) -> None:
        _, _, keys = run().partition('= ')
        default = configurations.load(conf.list_opts()).nova_filters
        wanted = [*default.exempt_metadata_keys, 'rack']
        self.assertEqual(wanted, keys.strip().split(','))

    def check_json(self, run: Callable[[], str]) -> None:
        printed = json.loads(run())
        self.assertEqual('Option values', printed['checks'][0]['check'])
        self.assertEqual(2, self.code)

    def check_kolla_additions(self, run: Callable[[], str]) -> None:
        parser = configparser.ConfigParser()
        parser.read_string(run())
        #: The folder of the wheel in each image. kolla-build archives the
        #: folder, with its own name, below "additions".
        self.folders = {}
        for name, section in parser.items():
            image, _, addition = name.partition('-additions-')
            if addition:
                self.assertEqual('local', section['type'])
                folder = pathlib.PurePath(section['location']).name
                self.folders[image] = f'/additions/{folder}'

    def check_kolla_images(self, run: Callable[[], str]) -> None:
        template = jinja2.Template(run())
        self.assertEqual({'nova-base', 'heat-base'}, {*self.folders})
        for image, folder in self.folders.items():
            # As at the end of Kolla's own templates.
            block = f'{image.replace("-", "_")}_footer'
            parent = jinja2.Template(f'{{% block {block} %}}{{% endblock %}}')
            text = template.render(parent_template=parent).strip()
            self.assertTrue(text.startswith('ADD additions-archive /\nRUN '))
            *_, wheel = text.split()
            self.assert_wheel(wheel, folder)

    def assert_wheel(self, path: str, folder: str) -> None:
        """Fail unless a path names the wheel in a folder of an image."""
        name = 'os_placement_plugins-0.1.0-py3-none-any.whl'
        self.assertTrue(fnmatch.fnmatch(f'{folder}/{name}', path), path)

    def check_wheel_in_context(self, run: Callable[[], str]) -> None:
        lines = run().replace('\\\n', '').splitlines()
        (copied,) = (line for line in lines if line.startswith('COPY'))
        _, wheel, folder = copied.split()
        # A path that leads out of the folder would be refused.
        self.assert_wheel(f'./{wheel}', '.')
        *_, installed = lines[-1].split()
        self.assert_wheel(installed, folder.rstrip('/'))

    def check_ansible(self, run: Callable[[], str]) -> None:
        self.variables = yaml.safe_load(run())
        for package in (
            *self.variables['nova_user_pip_packages'],
            *self.variables['heat_user_pip_packages'],
        ):
            requirement = requirements.Requirement(package)
            self.assertEqual('os-placement-plugins', requirement.name)
        self.assert_spreads(self.role_writes(self.variables, 'nova'))
        # What the role sets in a cloud of more than 30 hosts.
        self.check_details(
            self.role_writes(
                {**self.variables, 'nova_scheduler_host_subset_size': 10},
                'nova',
            ),
            'Spread of groups',
            'WARNING',
            'any of the 10 best hosts',
        )
        text = self.role_writes(self.variables, 'heat')
        self.assert_checked('heat.conf', text)

    def check_ansible_filter(self, run: Callable[[], str]) -> None:
        added = yaml.safe_load(run())
        overrides = added.pop('nova_nova_conf_overrides')
        self.variables.update(added)
        for section, options in overrides.items():
            sections = self.variables['nova_nova_conf_overrides']
            sections[section].update(options)
        self.assert_spreads(self.role_writes(self.variables, 'nova'), 'On.')

    def role_writes(self, variables: dict[str, Any], service: str) -> str:
        """Return the file that a role of OpenStack-Ansible writes."""
        sections: dict[str, dict[str, Any]] = {}
        if service == 'nova':
            filters = variables.get('nova_scheduler_extra_filters', [])
            sections['filter_scheduler'] = {
                'enabled_filters': ','.join(['ComputeFilter', *filters]),
                'host_subset_size': variables[
                    'nova_scheduler_host_subset_size'
                ],
            }
        overrides = variables[f'{service}_{service}_conf_overrides']
        for section, options in overrides.items():
            sections[section] = {**sections.get(section, {}), **options}
        # The role's config_template writes a line for each key of a map.
        text = write_sections(
            sections, lambda v: v if isinstance(v, dict) else [v]
        )
        return jinja2.Template(text).render(heat_hints_signing_key=signing.KEY)

    def check_nova_chart(self, run: Callable[[], str]) -> None:
        self.values = yaml.safe_load(run().replace('REPLACE-ME', signing.KEY))
        self.assert_spreads(self.chart(self.values, 'nova'))

    def check_nova_chart_filter(self, run: Callable[[], str]) -> None:
        added = yaml.safe_load(run())
        # Helm merges maps, and replaces everything else.
        for section, options in added['conf']['nova'].items():
            self.values['conf']['nova'][section].update(options)
        text = self.chart(self.values, 'nova')
        self.assert_spreads(text, 'On.')
        # From a plain list, the chart would write one line.
        first, *_, last = [
            line for line in text.splitlines() if 'available_filters' in line
        ]
        self.check_details(
            text.replace(f'{first}\n{last}', f'{first},{last.split()[-1]}'),
            'Filters and weighers',
            'FAILURE',
            'needs a line of its own',
        )

    def check_heat_chart(self, run: Callable[[], str]) -> None:
        values = yaml.safe_load(run().replace('REPLACE-ME', signing.KEY))
        self.assert_checked('heat.conf', self.chart(values, 'heat'))

    def chart(self, values: dict[str, Any], service: str) -> str:
        """Return what the chart writes for values."""
        return write_sections(values['conf'][service], chart_values)
