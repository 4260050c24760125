# SPDX-License-Identifier: Apache-2.0

import logging
import tempfile
import unittest

import ddt
from oslo_config import cfg

from heat_hints import conf as heat_hints_conf
from heat_hints import hints

KEY = 'a key that nobody else may see: 7'


def load(**options: str) -> cfg.ConfigOpts:
    """Return a configuration read from a file, as that of heat-engine."""
    conf = cfg.ConfigOpts()
    heat_hints_conf.register_opts(conf)
    with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
        file.write('[heat_hints]\n')
        file.writelines(f'{key} = {value}\n' for key, value in options.items())
        file.flush()
        conf(['--config-file', file.name], project='heat')
    return conf


@ddt.ddt
class TestOptions(unittest.TestCase):
    def test_the_defaults_are_those_of_the_design(self):
        group = load().heat_hints
        self.assertEqual(
            {
                'enabled': False,
                'hints': list(hints.NAMES),
                'resource_types': ['OS::Nova::Server', 'AWS::EC2::Instance'],
                'scope': 'all',
                'path_format': 'list',
                'user_hints': 'override',
                'on_error': 'ignore',
                'providers': [],
                'mapping_file': None,
                'cache_size': 4096,
                'signing_key': [],
            },
            dict(group),
        )

    def test_registering_twice_changes_nothing(self):
        conf = load()
        heat_hints_conf.register_opts(conf)
        self.assertFalse(conf.heat_hints.enabled)

    @ddt.data(
        ('scope', hints.SCOPES),
        ('path_format', hints.PATH_FORMATS),
        ('user_hints', hints.USER_MODES),
    )
    @ddt.unpack
    def test_the_choices_are_those_that_the_rules_know(self, name, choices):
        (option,) = (o for o in heat_hints_conf.OPTS if o.dest == name)
        self.assertEqual(list(choices), list(option.type.choices))

    @ddt.data(
        ('scope', 'some'),
        ('hints', 'heat_stack_nmae'),
        ('cache_size', '-1'),
        ('enabled', 'perhaps'),
    )
    @ddt.unpack
    def test_other_values_are_refused(self, name, value):
        conf = load(**{name: value})
        with self.assertRaises(ValueError):
            getattr(conf.heat_hints, name)

    def test_an_override_stays_in_its_configuration(self):
        conf, other = load(), load()
        conf.set_override('enabled', True, group='heat_hints')
        self.assertEqual(
            (True, False), (conf.heat_hints.enabled, other.heat_hints.enabled)
        )

    def test_every_option_is_listed(self):
        ((group, options),) = heat_hints_conf.list_opts()
        self.assertEqual('heat_hints', group.name)
        self.assertEqual(list(heat_hints_conf.OPTS), list(options))


@ddt.ddt
class TestResetWrongValues(unittest.TestCase):
    def dump(self, conf):
        """Return what oslo.service logs of a configuration."""
        with self.assertLogs(level='DEBUG') as logs:
            conf.log_opt_values(logging.getLogger(), logging.DEBUG)
        return '\n'.join(record.getMessage() for record in logs.records)

    def test_right_values_stay(self):
        conf = load(enabled='true', scope='opt_in', signing_key=KEY)
        before = dict(conf.heat_hints)
        self.assertEqual([], heat_hints_conf.reset_wrong_values(conf))
        self.assertEqual(before, dict(conf.heat_hints))

    @ddt.data(
        ('scope', 'some'),
        ('enabled', 'perhaps'),
        ('cache_size', '-1'),
        ('mapping_file', '$no_such_option'),
    )
    @ddt.unpack
    def test_a_wrong_value_switches_hints_off_and_can_be_dumped(
        self, name, value
    ):
        conf = load(**{'enabled': 'true', name: value})
        (reason,) = heat_hints_conf.reset_wrong_values(conf)
        self.assertTrue(reason.startswith(f'{name}: '), reason)
        self.assertFalse(conf.heat_hints.enabled)
        self.assertIn('heat_hints.scope', self.dump(conf))

    def test_a_key_that_cannot_be_read_is_not_told(self):
        conf = load(
            enabled='true', signing_key='$secret_of_this_cloud_0123456'
        )
        self.assertEqual([], heat_hints_conf.reset_wrong_values(conf))
        self.assertTrue(conf.heat_hints.enabled)
        # A list, but of no usable key: not the same as no key at all.
        self.assertEqual([''], conf.heat_hints.signing_key)
        self.assertNotIn('secret_of', self.dump(conf))

    def test_keys_are_masked_in_a_dump(self):
        conf = load(signing_key=f'{KEY}, {KEY}')
        self.assertEqual([KEY, KEY], conf.heat_hints.signing_key)
        dump = self.dump(conf)
        self.assertRegex(dump, r'heat_hints\.signing_key\s+= \*\*\*\*')
        self.assertNotIn(KEY, dump)
