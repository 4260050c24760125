# SPDX-License-Identifier: Apache-2.0

"""The files of the installation page, before what reads them."""

import sys
from pathlib import Path
from typing import Any

import jinja2
import yaml

from testing import subprocesses
from tests import console, signing, upgrade_checks

FILES = console.PAGES / 'examples' / 'deployment'
#: What stands in the files in place of a key.
PLACEHOLDER = 'REPLACE-ME'


def plain(file: str) -> str:
    """Return a file that services read as it is, with a key of its own."""
    return (FILES / file).read_text().replace(PLACEHOLDER, signing.KEY)


def chart(file: str, service: str) -> str:
    """Return what the chart of OpenStack-Helm writes.

    The rule stands in ``helm-toolkit/templates/utils/_to_oslo_conf.tpl``: a
    list becomes one line with commas, and a map of the type ``multistring``
    a line for each value.
    """
    sections = yaml.safe_load(plain(file))['conf'][service]

    def values(value: Any) -> list[Any]:
        if isinstance(value, dict) and value['type'] == 'multistring':
            return value['values']
        return [','.join(value) if isinstance(value, list) else value]

    return lines(sections, values)


def overrides(service: str) -> str:
    """Return what the role of OpenStack-Ansible merges into a file.

    Its ``config_template`` writes a line for each key of a map.
    """
    data = yaml.safe_load(plain('user_variables.yml'))
    sections = data[f'{service}_{service}_conf_overrides']
    if service == 'nova':
        # The role adds these to its own.
        sections['filter_scheduler']['enabled_filters'] = ','.join(
            ['ComputeFilter', *data['nova_scheduler_extra_filters']]
        )
    text = lines(sections, lambda v: v if isinstance(v, dict) else [v])
    return jinja2.Template(text).render(heat_hints_signing_key=signing.KEY)


def lines(sections: dict[str, dict[str, Any]], values: Any) -> str:
    """Return a configuration file, with each of an option's values."""
    text = ''
    for section, options in sections.items():
        text += f'[{section}]\n'
        for key, option in options.items():
            for value in values(option):
                text += f'{key} = {value}\n'
    return text


class FileCase(upgrade_checks.UpgradeCheckCase):
    #: The option modules of the service, and those of this package.
    namespaces: tuple[str, ...] = ()

    def assert_known(self, text: str) -> None:
        """Fail if oslo.config does not know an option."""
        done = subprocesses.run(
            'oslo-config-validator',
            [Path(sys.executable).with_name('oslo-config-validator')]
            + [f'--namespace={name}' for name in self.namespaces]
            + ['--input-file', self.write(text)],
        )
        self.assertEqual(0, done.returncode, done.stderr)


class SenlinTest(FileCase):
    command = 'senlin-plugins-status'
    file = 'senlin.conf'
    namespaces = ('senlin.conf', 'senlin_plugins')

    def test_the_check_has_nothing_to_say_of_the_lines(self):
        text = plain(self.file)
        self.assert_known(text)
        self.assert_clean(text)


class _Lines:
    """What a service reads, however it is deployed."""

    def test_the_check_has_nothing_to_say_of_the_lines(self):
        service = self.file.removesuffix('.conf')
        helm = chart(f'helm-{service}.yaml', service)
        for text in plain(self.file), helm, overrides(service):
            with self.subTest(text):
                self.assert_known(text)
                self.assert_clean(text)
                placeholder = text.replace(signing.KEY, PLACEHOLDER)
                self.assertIn(PLACEHOLDER, placeholder)
                self.check_details(
                    placeholder,
                    'Option values',
                    'FAILURE',
                    'fewer than 32 characters',
                )
                # Nova's own filters would be gone without the other line.
                lines = 2 * (service == 'nova')
                self.assertEqual(lines, text.count('\navailable_filters = '))


class NovaTest(_Lines, FileCase):
    command = 'nova-filters-status'
    file = 'nova.conf'
    namespaces = ('nova.conf', 'nova_filters')

    def test_nor_of_the_short_pages_and_of_the_filter_alone(self):
        for page in ('quickstart-nova.rst', 'soft-anti-affinity.rst'):
            (lines,) = console.blocks(page, 'ini')
            self.assert_clean(lines.text)
        text, weigher, _ = plain(self.file).partition('# Only for')
        self.assertTrue(weigher)
        self.assert_clean(text)

    def test_a_list_for_the_chart_would_hide_novas_filters(self):
        """What the comment in the file warns of."""
        text = chart('helm-nova.yaml', 'nova')
        first, *_, last = [
            line for line in text.splitlines() if 'available_filters' in line
        ]
        self.check_details(
            text.replace(f'{first}\n{last}', f'{first},{last.split()[-1]}'),
            'Filters and weighers',
            'FAILURE',
            'needs a line of its own',
        )


class HeatTest(_Lines, FileCase):
    command = 'heat-hints-status'
    file = 'heat.conf'
    namespaces = ('heat.common.config', 'heat_hints')


class KollaTest(FileCase):
    def test_each_image_gets_the_package(self):
        text = plain('template-overrides.j2')
        for image in ('nova', 'heat'):
            parent = jinja2.Template(
                f'{{{{ {image}_base_pip_packages_append }}}}'
            )
            self.assertEqual(
                "['os-placement-plugins']",
                jinja2.Template(text).render(parent_template=parent).strip(),
            )
