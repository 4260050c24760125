# SPDX-License-Identifier: Apache-2.0

"""What the pages say of options and limits is what the code has."""

import configparser
import importlib
import json
import re
import tempfile
import textwrap
import unittest

import ddt
from oslo_config import cfg

from heat_hints import conf as heat_conf
from heat_hints import hints, providers, signature
from nova_filters import batch, matching, requirement, stack_hints
from nova_filters import conf as nova_conf
from senlin_plugins import conf as senlin_conf
from tests import processes

PAGES = processes.ROOT / 'doc' / 'source'
CONFS = {
    'senlin.rst': (senlin_conf,),
    'nova.rst': (nova_conf,),
    'heat.rst': (heat_conf,),
}
_INI = re.compile(
    r'(?:\.\. code-block:: ini|::)\n\n((?:[ ]+[^\n]*\n|\n)+)', re.M
)
MIB = 1024 * 1024


def page(name: str) -> str:
    """Return the text of a page, without line breaks within sentences."""
    return (PAGES / name).read_text('utf-8')


def flat(name: str) -> str:
    """Return the text of a page in one line."""
    return ' '.join(page(name).split())


def files_of(name: str) -> list[str]:
    """Return the examples of configuration files on a page."""
    blocks = [textwrap.dedent(b).strip() for b in _INI.findall(page(name))]
    return [
        b
        for b in blocks
        if re.match(r'(#[^\n]*\n)*\[\w+\]\n', b)
        and '[options.entry_points]' not in b
        # A key that is shortened.
        and '...' not in b
    ]


def parsed(text: str) -> configparser.ConfigParser:
    """Return an example as data; a repeated line counts once."""
    parser = configparser.ConfigParser(
        strict=False, interpolation=None, default_section='-'
    )
    parser.read_string(text)
    return parser


@ddt.ddt
class ExamplesTest(unittest.TestCase):
    @ddt.data(*CONFS)
    def test_the_values_of_the_examples_are_allowed(self, name):
        for text in files_of(name):
            config = cfg.ConfigOpts()
            groups = {}
            for module in CONFS[name]:
                module.register_opts(config)
                groups |= {g.name: opts for g, opts in module.list_opts()}
            with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
                file.write(text)
                file.flush()
                config(['--config-file', file.name], default_config_files=[])
            shown = parsed(text)
            for group in set(shown.sections()) & set(groups):
                known = {opt.name for opt in groups[group]}
                for option in shown[group]:
                    self.assertIn(option, known, text)
                    # Reading it raises when the value is not allowed.
                    getattr(config[group], option)

    def test_there_are_examples_on_each_page(self):
        for name in CONFS:
            self.assertTrue(files_of(name), name)


class OptionsTest(unittest.TestCase):
    def test_heat_lists_every_option_with_its_default(self):
        listed = re.findall(
            r'^``(\w+)`` \((.*?)\)\n    ', page('heat.rst'), re.M
        )
        self.assertEqual(
            [opt.name for opt in heat_conf.OPTS], [name for name, _ in listed]
        )
        shown = {
            'hints': 'all six',
            'providers': 'none',
            'mapping_file': 'none',
            'signing_key': 'none',
        }
        self.assertEqual(list(hints.NAMES), heat_conf.OPTS[1].default)
        for opt, (name, default) in zip(heat_conf.OPTS, listed, strict=True):
            value = opt.default
            if isinstance(value, bool):
                value = str(value).lower()
            elif isinstance(value, list):
                value = ','.join(value)
            self.assertEqual(shown.get(name, str(value)), default.strip('`'))

    def test_senlin_shows_every_option_with_its_default(self):
        (text,) = (f for f in files_of('senlin.rst') if '[DEFAULT]' in f)
        self.assertEqual(
            {
                opt.name: ','.join(opt.default)
                if isinstance(opt.default, list)
                else str(opt.default).lower()
                if isinstance(opt.default, bool)
                else opt.default
                for opt in senlin_conf.OPTS
            },
            dict(parsed(text)[senlin_conf.GROUP].items()),
        )

    def test_nova_lists_every_option_with_its_default(self):
        text = page('nova.rst')
        for group, opts in nova_conf.list_opts():
            for opt in opts:
                self.assertIn(f'``[{group.name}] {opt.name}``', text)
        listed = re.search(r'by default\s+(.*?)\. An empty list', text, re.S)
        self.assertEqual(
            nova_conf.DEFAULTS['exempt_metadata_keys'],
            re.findall(r'``(.+?)``', listed[1]),
        )
        table = re.findall(r'^``\[\w+\] (\w+)`` {2,}(\S+) ', text, re.M)
        size = nova_conf.DEFAULTS['stack_map_size']
        self.assertEqual(
            {
                'stack_affinity_weight_multiplier': str(
                    nova_conf.DEFAULTS['stack_affinity_weight_multiplier']
                ),
                'stack_map_size': f'{size:,}',
                'signing_key': 'none',
            },
            dict(table),
        )


class LimitsTest(unittest.TestCase):
    def test_those_of_the_filter(self):
        text = flat('nova.rst')
        for limit in (
            f'{batch.MEMORY_LIMIT // MIB} MiB for flavors',
            f'more than {batch.LARGEST // 1024} KiB is not kept',
            f'{requirement.PARSED} parsed values of up to '
            f'{requirement.LONGEST} characters',
            f'{matching.EXEMPTIONS:,} metadata keys of up to '
            f'{matching.LONGEST_KEY} characters',
            'at most **40 MiB**',
        ):
            self.assertIn(limit, text)
        words = re.search(r'The flag is on for (.*?), in any case', text)
        self.assertEqual(
            requirement._TRUE, {*re.findall(r'``(\w+)``', words[1])}
        )
        self.assertEqual(10, batch.EXPLAINED)
        self.assertIn('the ten largest sets are named', text)

    def test_those_of_the_keys(self):
        self.assertEqual(signature.MIN_KEY_LENGTH, stack_hints.MIN_KEY_LENGTH)
        length = signature.MIN_KEY_LENGTH
        self.assertIn(
            f'A key of less than {length} characters is not used',
            flat('nova.rst'),
        )
        self.assertIn(
            f'A key is at least {length} characters long', flat('heat.rst')
        )

    def test_those_of_the_mapping_file(self):
        self.assertEqual(MIB, providers.MAX_BYTES)
        self.assertIn('It may have 1 MiB', flat('heat.rst'))

    def test_the_weigher_reads_as_many_instances_as_the_page_says(self):
        # Its module needs Nova.
        source = (
            processes.ROOT / 'nova_filters/weighers/stack_affinity.py'
        ).read_text('utf-8')
        number = int(re.search(r'READ_AT_ONCE: Final = (\w+)', source)[1])
        self.assertIn(
            f'asks for {number:,} instances at most', flat('nova.rst')
        )


class WorkedExampleTest(unittest.TestCase):
    def test_heat_sends_the_hints_that_the_page_shows(self):
        text = page('heat.rst')
        shown = json.loads(
            re.search(r'code-block:: json\n\n((?:   .*\n)+)', text)[1]
        )
        (project,) = re.findall(r'The project is\s+``(\w+)``', text)
        (key,) = set(
            re.findall(r'^ +signing_key = (\w+)$', page('install.rst'), re.M)
        )
        path = (
            hints.PathStep(None, 'web'),
            hints.PathStep('database', shown[hints.STACK_NAME]),
        )
        sent = hints.own_hints(
            hints.Resource(
                type='OS::Nova::Server',
                name='server',
                uuid=shown[hints.RESOURCE_UUID],
                project_id=project,
                stack_id=shown[hints.STACK_ID],
                stack_name=shown[hints.STACK_NAME],
            ),
            hints.Lineage(shown[hints.ROOT_STACK_ID], path),
        )
        sent[hints.SIGNATURE] = signature.sign(key, project, sent)
        self.assertEqual(list(sent.items()), list(shown.items()))
        keys, _ = stack_hints.read_keys([key])
        for owner, root in ((project, shown[hints.ROOT_STACK_ID]), ('', None)):
            self.assertEqual(
                root, stack_hints.read(shown, owner, keys).root_stack_id
            )


@ddt.ddt
class HelpTest(unittest.TestCase):
    @ddt.data('senlin_plugins', 'nova_filters', 'heat_hints')
    def test_each_option_is_explained(self, package):
        module = importlib.import_module(f'{package}.conf')
        for group, opts in module.list_opts():
            self.assertTrue(group.title and group.help)
            for opt in opts:
                # A sentence, and what it may be set to.
                self.assertRegex(opt.help.strip(), r'^[A-Z][^.]+[.\n]', opt)
                choices = getattr(opt.type, 'choices', None)
                explained = (
                    'Possible values:' in opt.help
                    or isinstance(opt, cfg.BoolOpt)
                    or choices
                    and all(choices.values())
                )
                self.assertTrue(explained, opt.name)
                if isinstance(opt, cfg.IntOpt):
                    self.assertIsNotNone(opt.type.min, opt.name)
