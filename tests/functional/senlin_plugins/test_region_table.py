# SPDX-License-Identifier: Apache-2.0

"""What each kind of action does while something is wrong with a region.

A cluster has a node in each of two regions, and the second region is in some
state. (If it is full, there are two more nodes, one of which was refused.)
Each cell says how the action ends, how many nodes are in the first and in the
second region then, and, with a plus, how much is left behind.
"""

import collections

import ddt

from testing.senlin import driver
from tests.functional.senlin_plugins import base, test_failover
from tests.functional.senlin_plugins.base import ONE, TWO

STATES = ('silent', 'out', 'full', 'back', 'unknown', 'declared')
ENDS = {'SUCCEEDED': 'done', 'FAILED': 'failed'}
#: Kind of action -> what it comes to in each of the states.
TABLE = {
    'create': (
        *('done 2 1', 'done 2 1', 'done 3 2'),
        *('done 2 1', 'done 2 1', 'done 2 1'),
    ),
    'delete': (
        *('failed 1 1', 'done 1 0 +1', 'done 2 1'),
        *('done 1 0', 'done 1 0 +1', 'done 1 0 +1'),
    ),
    'check': (
        *('failed 1 1', 'failed 1 1', 'failed 2 2'),
        *('done 1 1', 'failed 1 1', 'failed 1 1'),
    ),
    'recover': (
        *('failed 1 1', 'done 2 0 +1', 'done 3 1 +1'),
        *('done 1 1', 'done 2 0 +1', 'done 2 0 +1'),
    ),
    'recover_node': (
        *('failed 1 1', 'done 2 0 +1', 'done 3 1 +1'),
        *('done 1 1', 'done 2 0 +1', 'done 2 0 +1'),
    ),
    'scale_out': (
        *('done 3 1', 'done 3 1', 'done 4 2'),
        *('done 2 2', 'done 3 1', 'done 3 1'),
    ),
    'scale_in': (
        *('failed 1 1', 'done 1 0 +1', 'done 2 1'),
        *('done 1 0', 'done 1 0 +1', 'done 1 0 +1'),
    ),
    'resize': (
        *('done 4 1', 'done 4 1', 'done 3 2'),
        *('done 3 2', 'done 4 1', 'done 4 1'),
    ),
    'add': (
        *('done 2 1', 'done 2 1', 'done 3 2'),
        *('done 2 1', 'done 2 1', 'done 2 1'),
    ),
    'del': (
        *('failed 1 1', 'failed 1 1', 'done 2 1'),
        *('done 1 0', 'failed 1 1', 'done 1 0'),
    ),
    'replace': (
        *('done 2 1', 'done 2 1', 'done 3 1'),
        *('done 2 0', 'done 2 1', 'done 2 0'),
    ),
    'update': (
        *('done 1 1', 'done 1 1', 'done 2 2'),
        *('done 1 1', 'done 1 1', 'done 1 1'),
    ),
    'attach': (
        *('done 1 1', 'done 1 1', 'done 2 2'),
        *('done 1 1', 'done 1 1', 'done 1 1'),
    ),
    'detach': (
        *('done 1 1', 'done 1 1', 'done 2 2'),
        *('done 1 1', 'done 1 1', 'done 1 1'),
    ),
    'remove': (
        *('failed 1 1', 'failed 1 1', 'done gone'),
        *('done gone', 'failed 1 1', 'failed 1 1'),
    ),
}


@ddt.ddt
class Table(test_failover.TestCase):
    @ddt.data(*STATES)
    def test_each_kind_of_action(self, state):
        found = {}
        for kind in KINDS:
            cluster = self.spread_out(2, (ONE,), (TWO,))
            spare = self.spare()
            self.bring_about(state, cluster)
            action = getattr(self, f'do_{kind}')(cluster, spare)
            self.settle(cluster)
            found[kind] = self.describe(cluster, action['id'])
            self.cloud.known.add(TWO)
            self.come_back(TWO)
        wanted = {k: row[STATES.index(state)] for k, row in TABLE.items()}
        self.assertEqual(wanted, found)

    def describe(self, cluster, action):
        """Return what has become of a cluster, in one line."""
        status = ENDS[self.senlin.action(action)['status']]
        clusters = self.senlin.call('GET', '/clusters')['clusters']
        if cluster not in {shown['id'] for shown in clusters}:
            return f'{status} gone'
        nodes = self.senlin.nodes(cluster)
        count = collections.Counter(map(base.region_of, nodes))
        left = len(self.known(cluster)[1])
        more = f' +{left}' if left else ''
        return f'{status} {count[ONE]} {count[TWO]}{more}'

    def spare(self):
        """Return a node of no cluster, in the first region."""
        profile = self.senlin.profile()
        body = {'node': {'name': 'spare', 'profile_id': profile}}
        answer = self.senlin.call('POST', '/nodes', body)
        self.assert_done(self.senlin.wait(answer['started']))
        return answer['node']['id']

    def bring_about(self, state, cluster):
        """Let the second region be in a state."""
        if state == 'unknown':
            self.cloud.known.discard(TWO)
            self.fall_silent(TWO, test_failover.CALLS[1:])
            self.check(cluster)
        elif state == 'declared':
            self.update(
                f'/clusters/{cluster}',
                metadata={'region_placement': f'{{"{TWO}": {{"out": true}}}}'},
            )
        elif state == 'full':
            fault = driver.Fault(test_failover.QUOTA)
            self.cloud.regions[TWO].failures['server_create'] = fault
            self.senlin.act(cluster, 'scale_out', count=2)
            self.settle(cluster)
        else:
            if state == 'silent':
                self.set_option('region_out_after', 9999)
            self.go_out(TWO, cluster)
            if state == 'back':
                self.come_back(TWO)

    def second(self, cluster):
        """Return the id of a node in the second region."""
        nodes = self.senlin.nodes(cluster)
        return next(n['id'] for n in nodes if base.region_of(n) == TWO)

    def do_create(self, cluster, spare):
        shown = self.senlin.call('GET', f'/clusters/{cluster}')['cluster']
        action, _ = self.senlin.start_node(cluster, shown['profile_id'])
        return self.senlin.wait(action)

    def do_delete(self, cluster, spare):
        return self.senlin.delete(f'/nodes/{self.second(cluster)}')

    def do_check(self, cluster, spare):
        return self.senlin.act(cluster, 'check')

    def do_recover(self, cluster, spare):
        return self.senlin.act(cluster, 'recover', check=True)

    def do_recover_node(self, cluster, spare):
        return self.senlin.act_node(self.second(cluster), 'recover')

    def do_scale_out(self, cluster, spare):
        return self.senlin.act(cluster, 'scale_out', count=2)

    def do_scale_in(self, cluster, spare):
        return self.senlin.act(cluster, 'scale_in')

    def do_resize(self, cluster, spare):
        how = {'adjustment_type': 'EXACT_CAPACITY', 'number': 5}
        return self.senlin.act(cluster, 'resize', **how)

    def do_add(self, cluster, spare):
        return self.senlin.act(cluster, 'add_nodes', nodes=[spare])

    def do_del(self, cluster, spare):
        nodes = [self.second(cluster)]
        return self.senlin.act(cluster, 'del_nodes', nodes=nodes)

    def do_replace(self, cluster, spare):
        nodes = {self.second(cluster): spare}
        return self.senlin.act(cluster, 'replace_nodes', nodes=nodes)

    def do_update(self, cluster, spare):
        path = f'/nodes/{self.second(cluster)}'
        answer = self.senlin.call('PATCH', path, {'node': {'name': 'other'}})
        return self.senlin.wait(answer['started'])

    def do_attach(self, cluster, spare):
        policy = self.senlin.policy(base.DELETION_POLICY, {})
        return self.senlin.attach(cluster, policy)

    def do_detach(self, cluster, spare):
        path = f'/clusters/{cluster}/policies'
        (binding,) = self.senlin.call('GET', path)['cluster_policies']
        policy = binding['policy_id']
        return self.senlin.act(cluster, 'policy_detach', policy_id=policy)

    def do_remove(self, cluster, spare):
        return self.senlin.delete(f'/clusters/{cluster}')


KINDS = [name[3:] for name in vars(Table) if name.startswith('do_')]
