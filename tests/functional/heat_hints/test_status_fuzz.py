# SPDX-License-Identifier: Apache-2.0

"""``heat-hints-status upgrade check`` on random heat.conf files."""

from heat_hints import conf
from tests import configuration_fuzz, signing, upgrade_checks
from tests.configuration_fuzz import Line

#: The options that the file does not set to something else.
SET = ('enabled', 'signing_key', 'providers', 'group_places')
LEFT = [opt for opt in conf.OPTS if opt.name not in SET]


class HeatHintsStatusFuzz(
    configuration_fuzz.FuzzTests, upgrade_checks.UpgradeCheckCase
):
    command = 'heat-hints-status'
    file = 'heat.conf'
    lines = (
        Line('heat_hints', 'enabled', 'true'),
        Line('heat_hints', 'signing_key', signing.KEY),
        *configuration_fuzz.defaults([(conf.GROUP, LEFT)]),
        Line('heat_hints', 'providers', 'group'),
        Line('heat_hints', 'group_places', 'r1,r2'),
        Line('DEFAULT', 'environment_dir', '/nowhere'),
        Line(
            'database',
            'connection',
            'mysql+pymysql://heat:s3cretpw@127.0.0.1:1/x',
        ),
    )
    values = {
        'scope': ('opt_in', 'opt_out', 'some'),
        'user_hints': ('override', 'keep'),
        'on_error': ('ignore', 'fail'),
        'providers': ('group,mapping_file', 'mapping_file', 'group,group'),
        'resource_types': (
            'OS::Nova::Severs',
            'OS::Cinder::Volume,OS::Nova::Server',
            'OS::Neutron::Port',
        ),
        'environment_dir': ('/', '/dev/null'),
    }
