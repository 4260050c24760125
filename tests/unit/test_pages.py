# SPDX-License-Identifier: Apache-2.0

"""Each block of a page runs, or the page says why not."""

import collections
import itertools
import pathlib
import re
from collections.abc import Iterator

import docutils.nodes

from tests import pages, promises

_NAME = re.compile(r'[A-Za-z_][\w-]{3,}')
_SERVICE = re.compile('(?:nova|heat|senlin)-[a-z-]+')
#: What the pages name, and nothing here uses: names of other projects, options
#: of other commands, examples, and words of messages and values.
FOREIGN = """
    accel AggregateMultiTenancyIsolation AggregateTypeAffinityFilter
    BlazarFilter FailureDomainFilter PCIWeigher blazar_filter blazarnova
    enable_isolated_aggregate_filtering
    failure_domain_filter heat_helm_values kolla nova_blazar_enabled
    nova_helm_values nova_scheduler_filters openstack_deploy user_secrets
    user_variables
    --availability-zone --check-capacity --config-dir --min-size --no-deps
    log_config_append
    CUSTOM_LICENSED hw_rng hw_video no-such-key vmware
    filter_one pci_passthrough run_filter_for_index
    ACTION Encountered safe max_connections
"""
#: Which command stands above which one.
ORDER = (
    ('upgrade check', 'systemctl restart'),
    # Heat signs the hints that Nova then trusts.
    ('restart heat-engine', 'restart nova-scheduler'),
    ('make env', 'tests.cloud '),
    ('tests.cloud install', 'tests.cloud up'),
)
#: Which step of a paragraph comes before which one.
STEPS = (
    ('upgrade check', 'restart'),
    # Without the package, a service cannot load what its file names.
    ('restart', 'uninstall'),
)
#: The tests that try each attack on the page ``SECURITY``.
ATTACKS = {
    'a rebuild hint from a tenant, to get past the filter': [
        'functional.nova_filters.test_scheduler.MoveTest.'
        'test_only_a_rebuild_on_its_own_host_is_believed',
    ],
    'hints without a signature, with a wrong one, or with one of another '
    'project': [
        'functional.nova_filters.test_weigher.StackTest.'
        'test_hints_that_heat_has_not_signed_count_nowhere',
    ],
    'any text as extra spec, metadata or hint': [
        'unit.nova_filters.matching.test_matcher.SiftTest.'
        'test_anything_has_one_verdict',
    ],
    'forged and copied hints in templates': [
        'functional.heat_hints.test_stacks.TestStacks.'
        'test_each_request_says_what_heat_says_of_its_resource',
        'cloud.test_heat.TestHints.test_servers_carry_their_place',
    ],
    'hints of a template or provider that forge an identifier of the stack': [
        'unit.heat_hints.test_hints.TestAnything.'
        'test_no_reserved_name_is_left',
    ],
    'reading the key in a log that shows all options': [
        'functional.heat_hints.test_stacks.TestStacks.'
        'test_no_key_is_in_the_log_with_all_its_dumps_of_options',
    ],
    'webhook values that are not numbers, and requests to delete nodes that '
    'are not in the cluster': [
        'functional.senlin_plugins.test_bad_input.Webhooks.'
        'test_what_makes_no_sense_changes_nothing',
    ],
    'reading a password or a key in the output of an upgrade check': [
        'functional.nova_filters.test_status.NovaFiltersStatusTest.'
        'test_a_password_in_another_option_is_not_told',
    ],
    'reading the password in the text of an exception in the log': [
        'unit.test_log_lines.LoggerTest.'
        'test_the_exception_is_not_appended_to_a_line',
    ],
    'reading the password of a database in the output of a command': [
        'functional.senlin_plugins.test_commands.ConvertTest.'
        'test_no_password_is_told',
    ],
    'control characters, and texts of any length, in messages': [
        'unit.os_placement_plugins.test_text.TextTest.'
        'test_an_exception_is_one_printable_line_of_some_length',
    ],
}
#: What the other names come from.
SOURCES = """
    senlin_plugins nova_filters heat_hints os_placement_plugins
    osc_placement_plugins demo testing tests tools benchmarks
"""


def sources() -> Iterator[pathlib.Path]:
    """Yield the files that the pages speak of."""
    for folder in SOURCES.split():
        yield from (pages.ROOT / folder).rglob('*.py')
    for name in 'Makefile', 'tox.ini', 'setup.cfg', 'devstack/plugin.sh':
        yield pages.ROOT / name


def read_lists(text: str) -> Iterator[str]:
    """Yield each numbered list of a text, as one line."""
    for node in pages.parse(text).findall(docutils.nodes.enumerated_list):
        items = node.findall(docutils.nodes.paragraph)
        yield ' '.join(' '.join(item.rawsource.split()) for item in items)


class PagesTest(pages.PageTestCase):
    def test_each_block_runs_or_says_why_not(self) -> None:
        self.assertEqual([], [*pages.problems()])

    def test_each_name_is_known(self) -> None:
        known = FOREIGN
        for page in pages.pages():
            known += ''.join(block.text for block in pages.read(page))
            known += f' {page} '
        for path in sources():
            known += path.read_text('utf-8')
        words = {*_NAME.findall(known)}
        for page in pages.pages():
            text = (pages.ROOT / page).read_text('utf-8')
            literals = ' '.join(re.findall('``(.+?)``', text, re.S))
            self.assertEqual(set(), {*_NAME.findall(literals)} - words, page)

    def test_what_is_appended_stands_in_the_block(self) -> None:
        for page in 'quickstart-stack', 'roll-out', 'preferences':
            (name,) = re.findall('append ``(.+?)`` to', pages.prose(page))
            blocks = pages.read(f'doc/source/{page}.rst')
            self.assertIn(name, ' '.join(block.text for block in blocks))

    def test_a_multiplier_has_one_value_on_all_pages(self) -> None:
        shown = collections.defaultdict(set)
        for page in pages.pages():
            for block in pages.read(page):
                for name, value in re.findall(
                    r'(\w+_multiplier) = (\S+)', block.text
                ):
                    shown[name].add(float(value))
        for name, value in (
            ('stack_affinity_weight_multiplier', -10),
            ('server_group_weight_multiplier', 10),
            ('preference_weight_multiplier', 10),
        ):
            # 0 switches it off.
            self.assertEqual({value}, shown[name] - {0}, name)

    def test_the_order_of_commands(self) -> None:
        for page in pages.pages():
            for block in pages.read(page):
                for first, second in ORDER:
                    _, _, after = block.text.partition(second)
                    self.assertNotIn(first, after, str(block))
        self.assert_page_says(
            'quickstart-stack',
            'Restart heat-engine first, and nova-scheduler after it:',
        )
        self.assert_page_says(
            'upgrade-checks', 'Before you restart a service, run its upgrade'
        )

    def test_the_order_of_steps(self) -> None:
        for page in pages.pages():
            text = (pages.ROOT / page).read_text('utf-8')
            lists = read_lists(text)
            for paragraph in itertools.chain(pages.paragraphs(text), lists):
                # This is no step.
                steps = re.sub('efore (you|the) restart', '', paragraph)
                for first, second in STEPS:
                    _, _, after = steps.lower().partition(second)
                    self.assertNotIn(first, after, paragraph)

    def test_the_order_of_a_roll_out(self) -> None:
        text = (pages.PAGES / 'roll-out.rst').read_text('utf-8')
        forward, *_, back = read_lists(text)
        for steps, order in (
            (forward, ('Install', 'heat.conf', 'nova.conf', 'three')),
            (back, ('nova.conf', 'heat.conf', 'ninstall')),
        ):
            self.assertEqual(sorted(order, key=steps.index), [*order])
        for says in (
            'Change Heat before Nova.',
            'heat-engine before nova-sched',
        ):
            self.assert_page_says('roll-out', says)

    def test_a_package_has_the_same_services_on_all_pages(self) -> None:
        told = []
        for page in 'README.rst', 'doc/source/install.rst':
            text = (pages.ROOT / page).read_text('utf-8')
            for row in pages.parse(text).findall(docutils.nodes.row):
                package, services, *_ = (cell.astext() for cell in row)
                if package.startswith(('nova_', 'heat_', 'senlin_')):
                    told.append((package, *_SERVICE.findall(services)))
        self.assertEqual(3, len({*told}), told)
        services = {name for row in told for name in row[1:]}
        for page in pages.pages():
            text = (pages.ROOT / page).read_text('utf-8')
            restarted = ' '.join(re.findall('restart (.+)', text))
            self.assertLessEqual({*_SERVICE.findall(restarted)}, services)

    def test_the_releases_are_those_of_the_support_matrix(self) -> None:
        for service in 'Nova', 'Heat':
            (releases,) = re.findall(
                rf'^{service}\n(\d+ to \d+)$', pages.prose('support'), re.M
            )
            for page in 'install', 'quickstart-nova', 'roll-out':
                told = re.findall(
                    rf'{service} (\d+ to \d+)', pages.prose(page)
                )
                self.assertLessEqual({*told}, {releases}, page)
        setup = (pages.ROOT / 'setup.cfg').read_text('utf-8')
        bounds = re.findall(r'(nova|heat)>=(\d+)\.0\.0,<(\d+)$', setup, re.M)
        self.assertEqual(2, len(bounds))
        required = (pages.ROOT / 'requirements.txt').read_text('utf-8')
        self.assertNotRegex(required, r'(?m)^(nova|openstack-heat)\b')
        self.assert_page_says(
            'roll-out',
            'the bounds are in the extras of the wheel, such as ``nova``, and '
            '``--no-deps`` ignores them.',
        )
        for name, oldest, above in bounds:
            self.assert_page_says(
                'roll-out', f'{name.title()} {oldest} to {int(above) - 1}'
            )

    def test_each_test_of_an_attack_exists(self) -> None:
        text = (pages.ROOT / 'SECURITY.rst').read_text('utf-8')
        *_, table = pages.parse(text).findall(docutils.nodes.tbody)
        told = {}
        for row in table.findall(docutils.nodes.row):
            _, attack, files = (cell.astext() for cell in row)
            told[' '.join(attack.split())] = ''.join(files.split()).split(',')
        found = {}
        for attack, names in ATTACKS.items():
            found[attack] = []
            for name in names:
                self.assertTrue(promises.exists(name), name)
                module, _, _ = name.rsplit('.', 2)
                file = f'tests/{module.replace(".", "/")}.py'
                found[attack].append(file)
        self.assertEqual(found, told)

    def test_the_order_of_plug_ins_for_devstack(self) -> None:
        readme = (pages.ROOT / 'devstack/README.rst').read_text('utf-8')
        (heat_is,) = re.findall("Heat's plug-in (\\w+) this plug-in", readme)
        ours_is = {'before': 'after', 'after': 'before'}[heat_is]
        self.assert_page_says(
            'install',
            f'If you use Heat, they must come {ours_is} the line '
            '``enable_plugin heat``:',
        )

    def test_each_row_of_a_table_has_all_its_cells(self) -> None:
        for page in ['SECURITY.rst', *pages.pages()]:
            text = (pages.ROOT / page).read_text('utf-8')
            for row in pages.parse(text).findall(docutils.nodes.row):
                cells = [cell.astext() for cell in row]
                # A second line in the first column begins a row.
                self.assertNotIn('', cells, page)
