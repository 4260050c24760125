# SPDX-License-Identifier: Apache-2.0

"""What each kind of action does while something is wrong with a region.

A cluster has a node in each of two regions, and the second region is in some
state. (If it is full, there are two more nodes, one of which was refused.)
Each cell says whether the action succeeds, how many nodes are in the first and
in the second region then, and, with a plus, how much is left behind.
"""

import collections

import ddt

from testing.senlin import driver
from tests.functional.senlin_plugins import base, failing_regions
from tests.functional.senlin_plugins.base import ONE, TWO

ENDS = {'SUCCEEDED': 'ok', 'FAILED': 'no'}
TABLE = """\
              silent   |out      |full     |back     |unknown  |declared
create        ok 2 1   |ok 2 1   |ok 3 2   |ok 2 1   |ok 2 1   |ok 2 1
delete        no 1 1   |ok 1 0 +1|ok 2 1   |ok 1 0   |ok 1 0 +1|ok 1 0 +1
check         no 1 1   |no 1 1   |no 2 2   |ok 1 1   |no 1 1   |no 1 1
recover       no 1 1   |ok 2 0 +1|ok 3 1 +1|ok 1 1   |ok 2 0 +1|ok 2 0 +1
recover_node  no 1 1   |ok 2 0 +1|ok 3 1 +1|ok 1 1   |ok 2 0 +1|ok 2 0 +1
scale_out     ok 3 1   |ok 3 1   |ok 4 2   |ok 2 2   |ok 3 1   |ok 3 1
scale_in      no 1 1   |ok 1 0 +1|ok 2 1   |ok 1 0   |ok 1 0 +1|ok 1 0 +1
resize        ok 4 1   |ok 4 1   |ok 3 2   |ok 3 2   |ok 4 1   |ok 4 1
add_nodes     ok 2 1   |ok 2 1   |ok 3 2   |ok 2 1   |ok 2 1   |ok 2 1
del_nodes     no 1 1   |no 1 1   |ok 2 1   |ok 1 0   |no 1 1   |ok 1 0
replace_nodes ok 2 1   |ok 2 1   |ok 3 1   |ok 2 0   |ok 2 1   |ok 2 0
remove        no 1 1   |no 1 1   |ok gone  |ok gone  |no 1 1   |no 1 1
"""


def read_row(line):
    """Return the cells of a line of the table; the first has no bar."""
    cells = [line[:14], *line[14:].split('|')]
    return [cell.strip() for cell in cells]


STATES, *ROWS = map(read_row, TABLE.splitlines())


@ddt.ddt
class Table(failing_regions.TestCase):
    @ddt.data(*STATES[1:])
    def test_each_kind_of_action(self, state):
        self.cluster_id, self.spare_id = self.built(
            lambda: (self.spread_out(2, (ONE,), (TWO,)), self.spare())
        )
        self.bring_about(state)
        begun = self.senlin.copy()
        outcomes = {}
        for kind, *_ in ROWS:
            self.senlin.restore(begun)
            action = self.start(kind)
            self.settle(self.cluster_id)
            outcomes[kind] = self.describe(action['id'])
        number = STATES.index(state)
        self.assertEqual({row[0]: row[number] for row in ROWS}, outcomes)

    def describe(self, action):
        """Return what has become of the cluster, in one line."""
        status = ENDS[self.senlin.action(action)['status']]
        if not self.senlin.call('GET', '/clusters')['clusters']:
            return f'{status} gone'
        nodes = self.senlin.nodes(self.cluster_id)
        count = collections.Counter(map(base.region_of, nodes))
        left = len(self.servers_left(self.cluster_id))
        more = f' +{left}' if left else ''
        return f'{status} {count[ONE]} {count[TWO]}{more}'

    def bring_about(self, state):
        """Let the second region be in a state."""
        if state == 'unknown':
            self.cloud.keystone_regions.discard(TWO)
            self.fall_silent(TWO, failing_regions.CALLS[1:])
            self.check(self.cluster_id)
        elif state == 'declared':
            self.declare(self.cluster_id, TWO)
        elif state == 'full':
            fault = driver.Fault(failing_regions.QUOTA)
            self.cloud.regions[TWO].failures['server_create'] = fault
            self.senlin.act(self.cluster_id, 'scale_out', count=2)
            self.settle(self.cluster_id)
        else:
            if state == 'silent':
                self.set_option('region_out_after', 9999)
            self.go_out(TWO, self.cluster_id)
            if state == 'back':
                self.cloud.heal()

    def start(self, kind):
        """Run an action of a kind and return it at its end."""
        cluster, spare = self.cluster_id, self.spare_id
        (second, *_) = self.ids(cluster, TWO)
        on_cluster = {
            'check': {},
            'recover': {'check': True},
            'scale_out': {'count': 2},
            'scale_in': {},
            'resize': {'adjustment_type': 'EXACT_CAPACITY', 'number': 5},
            'add_nodes': {'nodes': [spare]},
            'del_nodes': {'nodes': [second]},
            'replace_nodes': {'nodes': {second: spare}},
        }
        if kind in on_cluster:
            return self.senlin.act(cluster, kind, **on_cluster[kind])
        if kind == 'create':
            action, _ = self.senlin.start_node(cluster, self.senlin.profile())
            return self.senlin.wait(action)
        if kind == 'recover_node':
            return self.senlin.act_node(second, 'recover')
        path = (
            f'/nodes/{second}' if kind == 'delete' else f'/clusters/{cluster}'
        )
        return self.senlin.delete(path)
