# SPDX-License-Identifier: Apache-2.0

"""What follows from one view of the regions of a cluster."""

import json
import types
import unittest

from senlin_plugins.planning import region_state, region_view
from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.region_spec import METADATA_KEY, Override, Spec
from senlin_plugins.planning.region_state import Left, Notes, State
from senlin_plugins.planning.region_view import View

NOW = '2026-01-01T00:00:00+00:00'
LATER = '2026-01-01T00:01:00+00:00'
OUT = State('out', 'no answer', dead=True)
SPEC = Spec((Region('A'), Region('B'), Region('C')), follows=True)
LEFT = [Left('A', 'one', server='s1'), Left('B', 'two', server='s2')]


def node(name, region, status='ACTIVE'):
    """Return a node in a region; one without a region has no data."""
    data = {'placement': {'region_name': region}} if region else None
    return types.SimpleNamespace(id=name, status=status, data=data)


class RegionView(unittest.TestCase):
    def view(self, notes=None, **metadata):
        """Return a view of a cluster."""
        override = {METADATA_KEY: json.dumps(metadata.pop('regions', {}))}
        data = (notes or Notes()).write({})
        return region_view.read(SPEC, {**override, **metadata}, data, NOW)

    def test_all_is_read(self):
        view = self.view(
            Notes({'A': OUT}, {'B': LATER, 'C': NOW}, LEFT),
            regions={'C': {'out': True, 'weight': 5}},
            region_forget='s1 three',
        )
        self.assertEqual(5, view.override.regions[2].weight)
        codes = {name: state.state for name, state in view.states.items()}
        self.assertEqual({'A': 'out', 'B': 'full', 'C': 'out'}, codes)
        self.assertEqual([LEFT[1]], view.left)
        self.assertEqual({'A', 'B', 'C'}, view.names)

    def test_regions_that_are_given_up_take_no_nodes(self):
        view = self.view(regions={'A': {'out': True}, 'B': {'cap': 0}})
        self.assertEqual({'C'}, view.taking_nodes)
        self.assertEqual({'A', 'B', 'C'}, self.view().taking_nodes)

    def test_after_a_look_what_was_said_stays(self):
        before = self.view(
            Notes({'A': OUT}),
            regions={'C': {'out': True}},
            region_forget='s1',
        )
        self.assertEqual({'A', 'C'}, {*before.states})
        after = before.after(Notes(full={'B': LATER}, left=LEFT), LATER)
        self.assertEqual({'C'}, {*after.states})
        self.assertEqual([LEFT[1]], after.left)
        self.assertEqual({'A', 'C'}, {*before.states})

    def test_which_nodes_cannot_be_where_they_were(self):
        full = State('full', 'refused', due=LATER)
        silent = State('silent', 'no answer', dead=True)
        network = State('out', 'no answer', service='network')
        notes = Notes({'A': OUT, 'S': silent, 'N': network}, {'F': LATER})
        view = self.view(notes, regions={'C': {'cap': 0}})
        self.assertEqual(full, view.state_of(node('n', 'F')))
        nodes = [
            node(f'{status} in {region}', region, status)
            for region in ('A', 'B', 'C', 'F', 'N', 'S', None)
            for status in ('ACTIVE', 'ERROR')
        ]
        lost = ['ACTIVE in A', 'ERROR in A', 'ERROR in C', 'ERROR in F']
        lost.append('ERROR in N')
        self.assertEqual(lost, view.find_lost(nodes, 'ACTIVE'))
        unfit = {n.id for n in nodes if view.is_unfit(n)}
        both = {
            f'{status} in {region}'
            for region in 'ACFN'
            for status in ('ACTIVE', 'ERROR')
        }
        self.assertEqual(both, unfit)

    def test_version_1_0_knows_nothing(self):
        view = View(SPEC, Override(SPEC.regions))
        self.assertEqual({}, view.states)
        self.assertEqual([], view.left)
        self.assertIsNone(view.state_of(node('n', 'A')))
        self.assertEqual(Notes(left=[]), region_state.read({}))
