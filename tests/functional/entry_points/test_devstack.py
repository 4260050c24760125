# SPDX-License-Identifier: Apache-2.0

"""What the DevStack plug-in writes, before the services that read it.

DevStack's own functions are stand-ins here: they write lines into the file,
and a service counts as enabled if it is named.
"""

import ddt

from testing import subprocesses
from tests import processes, signing, upgrade_checks

FOLDER = processes.ROOT / 'devstack'

#: DevStack's functions, as far as the plug-in calls them.
STAND_INS = r"""
set -eu
echo_summary() { echo "$*"; }
is_service_enabled() { [[ " $ENABLED " == *" $1 "* ]]; }
setup_develop() { echo "installed $1"; }
iniget() { sed -n "s/^$3 = //p" "$1" | tail -n 1; }
add() { printf '[%s]\n%s = %s\n' "$2" "$3" "$4" >> "$1"; }
iniset() {
    if grep -q "^$3 = " "$1"; then
        sed -i "s#^$3 = .*#$3 = $4#" "$1"
    else
        add "$@"
    fi
}
iniset_multiline() {
    local file=$1 section=$2 option=$3 value
    shift 3
    grep -q "^$option = " "$file" && return
    for value; do add "$file" "$section" "$option" "$value"; done
}
DEST=/opt/stack
REGION_NAME=RegionOne
NOVA_CONF=$FILE
HEAT_CONF=$FILE
SENLIN_CONF=$FILE
source "$FOLDER/settings"
source "$FOLDER/plugin.sh" stack "$PHASE"
"""


@ddt.ddt
class DevstackTest(upgrade_checks.UpgradeCheckCase):
    def stacked(self, service, text='', phase='post-config', **variables):
        """Run a phase of the plug-in on a file; return its new text.

        :param variables: the variables that local.conf sets.
        """
        path = self.write(text)
        result = subprocesses.run(
            *('bash', '-c', STAND_INS),
            env={
                'PATH': '/usr/bin:/bin',
                'FOLDER': str(FOLDER),
                'FILE': str(path),
                'ENABLED': service,
                'PHASE': phase,
                'PLACEMENT_PLUGINS_SIGNING_KEY': signing.KEY,
                **variables,
            },
        )
        self.assertEqual((0, ''), (result.returncode, result.stderr))
        self.printed = result.stdout
        return path.read_text()

    @ddt.data(
        (
            'n-sch',
            'nova-filters-status',
            'nova.conf',
            {
                'ServerGroupWeigher': 'On: server_group_weight_multiplier ',
                'StackAffinityWeigher': 'On: stack_affinity_weight_multipl',
                'AggregateInstanceTypeFilter': 'Off.',
            },
        ),
        ('h-eng', 'heat-hints-status', 'heat.conf', {}),
    )
    @ddt.unpack
    def test_the_check_has_nothing_to_say_of_the_file(
        self, service, command, file, states
    ):
        self.command, self.file = command, file
        text = self.stacked(service)
        self.assertIn(f'signing_key = {signing.KEY}', text)
        self.assert_clean(text)
        checks = self.check(text).checks
        for name, words in states.items():
            self.assertIn(words, checks[name][1])
        # Stacking again changes nothing.
        self.assertEqual(text, self.stacked(service, text))

    def test_the_filter_replaces_the_one_of_nova(self):
        self.command, self.file = 'nova-filters-status', 'nova.conf'
        text = self.stacked(
            'n-sch',
            '[filter_scheduler]\nenabled_filters = ComputeFilter, '
            'AggregateInstanceExtraSpecsFilter,SameHostFilter\n',
            PLACEMENT_PLUGINS_FILTER='True',
            PLACEMENT_PLUGINS_WEIGHERS='False',
        )
        self.assertIn(
            'enabled_filters = ComputeFilter,SameHostFilter,'
            'AggregateInstanceTypeFilter\n',
            text,
        )
        self.assertNotIn('weight', text)
        self.assert_clean(text)

    def test_the_package_comes_before_the_file(self):
        self.command, self.file = 'senlin-plugins-status', 'senlin.conf'
        self.assertEqual('', self.stacked('sl-eng', phase='install'))
        self.assertIn(
            'installed /opt/stack/os-placement-plugins', self.printed
        )
        text = self.stacked('sl-eng')
        self.assert_details(self.check(text), 'Default region', 'SUCCESS')
