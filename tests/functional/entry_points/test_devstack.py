# SPDX-License-Identifier: Apache-2.0

"""What the DevStack plug-in writes, before the services that read it.

DevStack's own functions are stand-ins here: they write lines into the file,
and a service counts as enabled if it is named.
"""

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


class DevstackCase(upgrade_checks.UpgradeCheckCase):
    def stacked(self, service, text='', phase='post-config', **variables):
        """Run a phase of the plug-in on a file; return its new text."""
        path = self.write(text)
        result = subprocesses.run(
            *('bash', '-c', STAND_INS),
            env={
                'PATH': '/usr/bin:/bin',
                'FOLDER': str(FOLDER),
                'FILE': str(path),
                'ENABLED': service,
                'PHASE': phase,
                **variables,
            },
        )
        self.assertEqual((0, ''), (result.returncode, result.stderr))
        self.printed = result.stdout
        return path.read_text()


class NovaTest(DevstackCase):
    command = 'nova-filters-status'
    file = 'nova.conf'

    def test_the_check_has_nothing_to_say_of_the_file(self):
        text = self.stacked(
            'n-sch',
            '[filter_scheduler]\nenabled_filters = ComputeFilter, '
            'AggregateInstanceExtraSpecsFilter,SameHostFilter\n',
            PLACEMENT_PLUGINS_SIGNING_KEY=signing.KEY,
        )
        self.assertIn(f'signing_key = {signing.KEY}', text)
        # The filters of DevStack stay, but for the one that is replaced.
        self.assertIn(
            'enabled_filters = ComputeFilter,SameHostFilter,'
            'AggregateInstanceTypeFilter\n',
            text,
        )
        self.assert_clean(text)
        # Stacking again changes nothing.
        self.assertEqual(text, self.stacked('n-sch', text))

    def test_the_filter_comes_alone_if_no_weigher_is_wanted(self):
        text = self.stacked(
            'n-sch',
            PLACEMENT_PLUGINS_WEIGHERS='False',
            PLACEMENT_PLUGINS_SIGNING_KEY=signing.KEY,
        )
        self.assertIn('AggregateInstanceTypeFilter\n', text)
        for option in ('weight_classes', 'multiplier', 'signing_key'):
            self.assertNotIn(option, text)
        self.assert_clean(text)

    def test_without_the_service_nothing_is_written(self):
        text = self.stacked('n-sch', PLACEMENT_PLUGINS_NOVA='False')
        self.assertEqual('', text)
        self.assertEqual('', self.stacked('n-cpu'))


class HeatTest(DevstackCase):
    command = 'heat-hints-status'
    file = 'heat.conf'

    def test_the_check_has_nothing_to_say_of_the_file(self):
        for key in ('', signing.KEY):
            text = self.stacked('h-eng', PLACEMENT_PLUGINS_SIGNING_KEY=key)
            self.assertEqual(bool(key), 'signing_key' in text)
            self.assert_clean(text)


class SenlinTest(DevstackCase):
    command = 'senlin-plugins-status'
    file = 'senlin.conf'

    def test_the_package_comes_before_the_file(self):
        self.assertEqual('', self.stacked('sl-eng', phase='install'))
        self.assertIn(
            'installed /opt/stack/os-placement-plugins', self.printed
        )
        text = self.stacked('sl-eng')
        self.assert_details(self.check(text), 'Default region', 'SUCCESS')
