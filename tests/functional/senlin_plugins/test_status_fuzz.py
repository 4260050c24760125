# SPDX-License-Identifier: Apache-2.0

"""``senlin-plugins-status upgrade check`` on random senlin.conf files."""

from senlin_plugins import conf
from tests import configuration_fuzz, upgrade_checks
from tests.configuration_fuzz import Line
from tests.functional.senlin_plugins import test_status


class SenlinPluginsStatusFuzz(
    configuration_fuzz.FuzzTests, upgrade_checks.UpgradeCheckCase
):
    command = 'senlin-plugins-status'
    file = 'senlin.conf'
    values = {
        'region_timeout': ('0', '5', 'x'),
        'default_region_name': ('RegionTwo', 'a,b'),
        'check_catalog': ('false', 'maybe'),
        'environment_dir': ('/', '/dev/null'),
    }

    def setUp(self):
        super().setUp()
        database = self.folder / 'senlin.sqlite'
        test_status.make_database(database, [])
        self.lines = (
            Line('DEFAULT', 'default_region_name', 'RegionOne'),
            Line('DEFAULT', 'environment_dir', '/nowhere'),
            *configuration_fuzz.defaults(conf.list_opts()),
            Line('database', 'connection', f'sqlite:///{database}'),
        )
