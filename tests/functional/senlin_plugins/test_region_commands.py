# SPDX-License-Identifier: Apache-2.0

"""The commands that show and change the regions of a running cluster."""

import json
import re
import shlex
from unittest import mock

from openstack_commands.clusters import clusters
from testing.senlin import driver
from tests import console
from tests.functional.senlin_plugins import failing_regions, gateway
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

TIME = r'2\d{3}-[-+:T\d]*'
#: The time on the page.
THEN = '2026-11-22T12:40:11+00:00'


class TestCase(gateway.ShellTestCase):
    """The commands that show and change the regions of a cluster."""

    def setUp(self):
        super().setUp()
        # Seconds between two looks, beside an engine that is quick.
        self.patch(clusters, 'PAUSE', 0.1)

    def metadata(self, cluster):
        """Return the metadata of a cluster."""
        shown = self.senlin.call('GET', f'/clusters/{cluster}')
        return shown['cluster']['metadata']

    def changes(self):
        """Return what was sent that changes something."""
        return [
            path
            for method, path in self.gateway.requests
            if method != 'GET' and '/identity' not in path
        ]


class SharesTest(TestCase, failing_regions.TestCase):
    """Weights and caps of one cluster."""

    def setUp(self):
        super().setUp()
        self.cluster_id = self.built(
            lambda: self.cluster(
                self.policy((ONE,), (TWO, 100, 5)), metadata={'owner': 'me'}
            )
        )

    def row(self, rows, name):
        """Return the row of a region."""
        (row,) = (row for row in rows if row['Region'] == name)
        return row

    def test_set_unset_and_drain_change_one_key(self):
        rows = self.run_region('set', self.cluster_id, TWO, '--weight', '300')
        self.assertEqual([ONE, TWO], [row['Region'] for row in rows])
        self.assertEqual(
            {'region_placement': '{"RegionTwo": {"weight": 300}}'}
            | {'owner': 'me'},
            self.metadata(self.cluster_id),
        )
        self.run_region('set', self.cluster_id, TWO, '--cap=-1')
        self.run_region('drain', self.cluster_id, ONE)
        self.assertEqual(
            {ONE: {'weight': 0, 'cap': 0}, TWO: {'weight': 300, 'cap': -1}},
            json.loads(self.metadata(self.cluster_id)['region_placement']),
        )
        self.run_region('unset', self.cluster_id, TWO)
        self.run_region('unset', self.cluster_id, ONE)
        self.assertEqual({'owner': 'me'}, self.metadata(self.cluster_id))
        del self.gateway.requests[:]
        self.run_region('unset', self.cluster_id, ONE)
        self.assertEqual([], self.changes())

    def test_a_region_is_declared_out_and_in(self):
        rows = self.run_region('set', self.cluster_id, TWO, '--out')
        self.assertEqual('out', self.row(rows, TWO)['State'])
        data = self.act(self.cluster_id, 'scale_out', count=2)
        self.assertEqual({ONE: 2}, data['creation']['regions'])
        self.run_region('set', self.cluster_id, TWO, '--cap', '3')
        rows = self.run_region('set', self.cluster_id, TWO, '--no-out')
        row = self.row(rows, TWO)
        self.assertEqual((None, 3), (row['State'], row['Cap']))

    def test_a_server_is_left_for_good(self):
        self.act(self.cluster_id, 'scale_out', count=4)
        self.go_out(TWO, self.cluster_id)
        self.act(self.cluster_id, 'recover')
        kept, gone = self.servers_left(self.cluster_id)
        self.assert_fails(
            'nonsense is not left', 'forget', self.cluster_id, 'nonsense'
        )
        rows = self.run_region('forget', self.cluster_id, kept.server)
        shown = {'Region': TWO, 'Node': kept.node, 'Server': kept.server}
        self.assertEqual([shown], rows)
        self.cloud.heal()
        self.act(self.cluster_id, 'check')
        self.assert_nothing_noted(self.cluster_id)
        servers = self.cloud.regions[TWO].servers
        self.assertEqual({kept.server}, {*servers}, gone)

    def test_what_makes_no_sense_is_refused_before_anything_is_sent(self):
        for words, *arguments in (
            ("'Nowhere' is not a region", 'unset', self.cluster_id, 'Nowhere'),
            ('does not read metadata', 'drain', self.spread((ONE,)), ONE),
            ("'x': it must be", 'set', self.cluster_id, ONE, '--weight', 'x'),
            ('Say --weight, --cap', 'set', self.cluster_id, ONE),
            ('attach one, or enable it', 'drain', self.cluster(), ONE),
        ):
            self.assert_fails(words, *arguments)
        for value, words in (
            ('{', 'is not JSON'),
            ('{"RegionOne": 5}', 'must map names of regions'),
        ):
            self.update(
                f'/clusters/{self.cluster_id}',
                metadata={'region_placement': value},
            )
            self.assert_fails(words, 'drain', self.cluster_id, ONE)
        self.assertEqual([], self.changes())

    def test_an_update_that_senlin_refuses_is_told(self):
        # Senlin updates no cluster in this state.
        self.cloud.regions[ONE].failures['server_create'] = 'no'
        broken = self.cluster(size=1, min_size=1)
        self.attach(broken, self.policy((ONE,)))
        self.assert_fails('error state', 'drain', broken, ONE)

    def test_list_shows_nodes_and_targets(self):
        profile = self.senlin.profile()
        cluster = self.cluster(profile=profile, size=1)
        self.attach(cluster, self.policy((TWO, 300, 2), (THREE, 100)))
        self.act(cluster, 'scale_out', count=3)
        self.cloud.keystone_regions.discard(THREE)
        rows = self.run_region('list', cluster)
        nothing = [None] * 4 + [[]]
        self.assertEqual(
            [
                [TWO, 300, 2, 'policy', 2, 2, None, *nothing],
                [THREE, 100, None, 'policy', 1, 2, 'out of reach', *nothing],
                [ONE, None, None, None, 1, 0, None, *nothing],
            ],
            [list(row.values()) for row in rows],
        )


class WidthTest(TestCase, failing_regions.TestCase):
    """Tables of regions whose names are as long as those of real clouds."""

    NAMES = ('eu-central-1-a', 'eu-central-1-b', 'us-east-1-main')

    def setUp(self):
        super().setUp()
        regions = {name: driver.Region(name) for name in self.NAMES}
        patch = mock.patch.dict(self.cloud.regions, regions)
        patch.start()
        self.addCleanup(patch.stop)
        self.cloud.keystone_regions |= set(regions)

    def test_the_tables_fit_in_80_columns(self):
        first, second, third = self.NAMES
        cluster = self.spread_out(6, (first,), (second,), (third,))
        for words in (
            ('drain', cluster, first),
            ('set', cluster, second, '--weight', '0', '--cap', '1000'),
            ('plan', '--cluster', cluster, '--count', '+6'),
            ('rebalance', cluster, '--dry-run', '--max-surge', '4'),
            ('list', cluster),
        ):
            if words[0] == 'list':
                self.cloud.keystone_regions.discard(third)
            result = self.shell(*words)
            self.assertEqual(0, result.status, result.error)
            lines = result.output.splitlines()
            self.assertLessEqual(max(map(len, lines)), 80)


class FailoverTest(TestCase, failing_regions.TestCase):
    """Version 1.1 of the policy, whose regions fail."""

    def test_the_plan_knows_what_the_cluster_knows(self):
        cluster = self.spread_out(4, (ONE,), (TWO,))
        self.run_region('set', cluster, TWO, '--weight', '300')
        self.assertEqual('', self.remarks)
        plan = ('--cluster', cluster, '--count', '+4')
        rows = self.run_region('plan', *plan)
        planned = {row['Region']: row['Change'] for row in rows}
        data = self.act(cluster, 'scale_out', count=4)
        self.assertEqual({TWO: 4}, data['creation']['regions'])
        self.assertEqual({ONE: 0, TWO: 4}, planned)
        self.go_out(TWO, cluster)
        first, second = self.run_region('plan', *plan)
        self.assertEqual((4, 0), (first['Change'], second['Change']))
        self.assertRegex(
            second['Why'], '^is silent since .*; gets no nodes mean'
        )
        self.update(
            f'/clusters/{cluster}', metadata={'region_placement': '[]'}
        )
        _, second = self.run_region('list', cluster)
        self.assertIn('takes its own weights', self.remarks)
        self.assertEqual((100, 'policy'), (second['Weight'], second['From']))

    def run_commands(self, text):
        """Run commands of a message, one after the other."""
        for command in text.split('; '):
            program, cluster, *words = shlex.split(command)
            self.assertEqual(('openstack', 'cluster'), (program, cluster))
            if words[0] == 'region':
                self.run_region(*words[1:])
            elif words[0] == 'delete':
                self.assert_done(self.senlin.delete(f'/clusters/{words[1]}'))
            else:
                self.assertEqual('resize', words[0])
                self.resize(words[1], *words[2:])

    def resize(self, cluster, *words):
        """Do what the command of python-senlinclient does."""
        options = dict(zip(words[::2], words[1::2], strict=True))
        inputs = {'min_size': int(options.pop('--min-size'))}
        if options:
            inputs['adjustment_type'] = 'EXACT_CAPACITY'
            inputs['number'] = int(options.pop('--capacity'))
        self.assertEqual({}, options)
        self.act(cluster, 'resize', **inputs)

    def hold_in_error(self):
        """Make a cluster in status ERROR, of which two regions are held.

        :returns: its id, and the reason of its last recovery.
        """
        cluster = self.spread_out(6, (ONE,), (TWO,), (THREE,))
        self.act(cluster, 'resize', min_size=6)
        for name in (ONE, TWO):
            self.fall_silent(name)
        for _ in range(3):
            action = self.senlin.act(cluster, 'recover', check=True)
            self.settle(cluster)
        self.assertEqual('ERROR', self.status(cluster))
        return cluster, self.senlin.action(action['id'])['data']['reason']

    def status(self, cluster):
        """Return the status of a cluster."""
        shown = self.senlin.call('GET', f'/clusters/{cluster}')
        return shown['cluster']['status']

    def test_the_commands_of_a_message_declare_a_region_out(self):
        cluster, reason = self.hold_in_error()
        listed = self.shell('list', cluster)
        reasons = ' '.join(listed.output.split())
        advice = re.search(f'If {ONE} is out, run: (.*? 6) ', reasons)
        commands = advice[1]
        self.assertIn(f'If it is out, run: {commands}.', reason)
        self.assertIn(f'region set --out {cluster} {TWO};', reason)
        planned = self.shell('plan', '--cluster', cluster, '--count', '+1')
        self.assertIn(commands, ' '.join(planned.output.split()))
        self.assert_fails('Run, in this order', 'drain', cluster, ONE)
        self.run_commands(commands)
        # The other one is no longer one of too many.
        self.act(cluster, 'recover')
        self.assert_nodes(cluster, **{THREE: 6})
        self.assertEqual('ACTIVE', self.status(cluster))

    def delete(self, cluster):
        """Delete a cluster, which fails; return the action."""
        action = self.senlin.delete(f'/clusters/{cluster}')
        self.assertEqual('FAILED', action['status'])
        return action

    def test_the_commands_of_a_message_delete_a_cluster(self):
        cluster, _ = self.hold_in_error()
        reason = self.delete(cluster)['data']['reason']
        self.run_commands(reason.partition('If it never will, run: ')[2])
        self.assertEqual(4, sum(self.cloud.servers_of(cluster).values()))

    def test_a_region_dies_while_a_cluster_is_deleted(self):
        cluster = self.spread_out(4, (ONE,), (TWO,))
        # Nobody looks any more: Senlin has detached the policy.
        self.cloud.regions[TWO].failures['server_delete'] = 'dead'
        self.delete(cluster)
        self.fall_silent(TWO)
        self.delete(cluster)
        first, second = self.ids(cluster, TWO)
        self.assert_fails('nonsense is not', 'forget', cluster, 'nonsense')
        (row,) = self.run_region('forget', cluster, first)
        self.assertEqual((TWO, first), (row['Region'], row['Node']))
        self.delete(cluster)
        self.assertEqual([second], self.ids(cluster, TWO))
        self.run_region('forget', cluster, self.held(cluster)[second])
        with self.assertLogs('senlin_plugins', 'INFO') as logs:
            self.assert_done(self.senlin.delete(f'/clusters/{cluster}'))
        (line,) = (line for line in logs.output if 'is forgotten' in line)
        self.assertIn(second, line)
        self.assertEqual(2, self.cloud.servers_of(cluster)[TWO])

    def test_a_drained_region_is_emptied(self):
        cluster = self.spread_out(4, (ONE,), (TWO,), (THREE,))
        self.run_region('drain', cluster, ONE)
        self.run_region('rebalance', cluster, '--yes', '--max-surge', '9')
        self.assert_nodes(cluster, **{TWO: 2, THREE: 2})

    def test_a_region_goes_and_comes_back_as_on_the_page(self):
        cluster = self.cluster(self.policy((ONE,), (TWO,)), name='web')
        self.act(cluster, 'scale_out', count=6)
        self.go_out(TWO, cluster)
        self.act(cluster, 'recover')
        _, second = self.run_region('list', cluster)
        self.assertEqual(
            ('out', 3, 'compute does not answer'),
            tuple(second[key] for key in ('State', 'Left', 'Why')),
        )
        self.assertEqual(3, len(second['Left Servers']))
        self.assert_fails(
            'Nothing can move until', 'rebalance', cluster, '--yes'
        )
        for example in console.examples('commands.rst'):
            words = shlex.split(example.command.replace('\\\n', ''))[1:]
            if words[:2] != ['cluster', 'region'] or 'web' not in words:
                continue
            result = self.shell(*words[2:])
            self.assertEqual(0, result.status, result.error)
            shown = f'{result.error}\n{result.output}'.strip()
            self.assertEqual(
                example.output, re.sub(TIME, THEN, shown), example.command
            )
            if words[2] == 'list':
                self.cloud.heal()
                self.act(cluster, 'check')
                self.settle(cluster)
        self.assert_nodes(cluster, **{ONE: 3, TWO: 3})
        self.assert_servers(cluster, **{ONE: 3, TWO: 3})
