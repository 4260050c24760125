# SPDX-License-Identifier: Apache-2.0

"""What a change does to verdicts and to running servers."""

import unittest

import ddt

from nova_filters.advice import explanation, impact, inventory
from testing.nova import inventories

_FORCED = {'os': 'windows', 'force_metadata_check': 'True'}


def _situation(
    flavors: dict[str, dict[str, str]],
    aggregates: dict[str, tuple[dict[str, str], tuple[str, ...]]],
    kind: type[explanation.Panel] = explanation.Panel,
    **states: str,
) -> impact.Situation:
    """Return a situation with the hosts h1, h2 and h3, up by default."""
    hosts = {'h1': 'up', 'h2': 'up', 'h3': 'up'} | states
    stock = inventories.stock(
        [inventory.Flavor(*flavor) for flavor in flavors.items()],
        [
            inventory.HostAggregate(name, metadata, members)
            for name, (metadata, members) in aggregates.items()
        ],
        others=[inventory.Host(n, state=state) for n, state in hosts.items()],
    )
    return impact.Situation(stock, hosts, kind)


def _server(host: str | None, extra_specs: dict[str, str]) -> inventory.Server:
    """Return a server that runs on a host."""
    flavor = inventory.Flavor('f', extra_specs)
    return inventory.Server('s', 'id', host, flavor)


class FlipTest(unittest.TestCase):
    def test_only_verdicts_that_change_are_told(self) -> None:
        flavors = {'plain': {}, 'win': {'os': 'windows'}}
        before = _situation(flavors, {'a': ({'os': 'windows'}, ('h1',))})
        after = _situation(flavors, {'a': (_FORCED, ('h1',))})
        (flip,) = impact.flips(before, after)
        self.assertEqual(('plain', ('h1',)), (flip.name, flip.hosts))
        self.assertEqual(('pass', 'refuse'), (flip.before, flip.after))
        self.assertEqual("aggregate 'a' demands 'os'", flip.reason)
        (back,) = impact.flips(after, before)
        self.assertEqual(('refuse', 'pass'), (back.before, back.after))
        self.assertEqual(
            "aggregate 'a' has 'os': 'windows'; before: aggregate 'a' demands "
            "'os'",
            back.reason,
        )

    def test_what_lets_a_host_pass_is_told(self) -> None:
        wanted = {'f': {'os': 'windows'}}
        host = ({'os': 'linux'}, ('h1', 'h2', 'h3'))
        for flavors, aggregate, words in (
            ({'f': {}}, host, "no longer: the flavor asks for 'os'"),
            ({'f': {'os': '*'}}, host, "the flavor asks for 'os': '*'"),
            (wanted, (_FORCED, host[1]), "aggregate 'a' demands 'os': 'wind"),
        ):
            before = _situation(wanted, {'a': host})
            after = _situation(flavors, {'a': aggregate})
            (found,) = impact.flips(before, after)
            self.assertEqual(host[1], found.hosts)
            self.assertTrue(found.reason.startswith(words), found)
            self.assertIn("; before: 'os' does not match", found.reason)
        (gone,) = impact.flips(
            _situation({'f': {'os': '!'}}, {'a': host}),
            _situation({'f': {'os': '!'}}, {'a': ({}, host[1])}),
        )
        self.assertTrue(gone.reason.startswith("no longer: aggregate 'a' has"))

    def test_another_reason_is_no_flip(self) -> None:
        before = _situation({'f': {'k': '1'}}, {'a': ({}, ('h1',))})
        after = _situation({'f': {'k': '1'}}, {'a': ({'k': '2'}, ('h1',))})
        self.assertEqual([], [*impact.flips(before, after)])


@ddt.ddt
class MoveTest(unittest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.before = _situation({}, {'a': ({'os': 'windows'}, ('h1', 'h2'))})

    def test_a_server_that_may_still_move_is_not_told(self) -> None:
        after = _situation({}, {'a': (_FORCED, ('h1', 'h2'))})
        servers = [_server('h1', {'os': 'windows'})]
        self.assertEqual([], [*impact.moves(self.before, after, servers)])

    def test_a_server_that_nobody_else_takes_is_stranded(self) -> None:
        after = _situation({}, {'a': ({'os': 'windows'}, ('h1',))})
        servers = [_server('h1', {'os': 'windows'})]
        (move,) = impact.moves(self.before, after, servers)
        self.assertEqual(('pass', 'pass'), (move.before, move.after))
        self.assertEqual((1, 0), (move.elsewhere_before, move.elsewhere_after))
        self.assertEqual("h2: 'os' not in any aggregate", move.reason)
        self.assertEqual(impact.STRANDED, move.effect)

    def test_a_server_whose_own_host_refuses_it_is_misplaced(self) -> None:
        after = _situation({}, {'a': (_FORCED, ('h1', 'h2'))})
        (move,) = impact.moves(self.before, after, [_server('h1', {})])
        self.assertEqual(('pass', 'refuse'), (move.before, move.after))
        # h3 is left of h2 and h3
        self.assertEqual((2, 1), (move.elsewhere_before, move.elsewhere_after))
        self.assertEqual("aggregate 'a' demands 'os'", move.reason)

    def test_a_server_without_a_host_has_none_that_refuses_it(self) -> None:
        after = _situation({}, {'a': ({'os': 'linux'}, ('h1', 'h2'))})
        servers = [_server('', {'os': 'windows'})]
        (move,) = impact.moves(self.before, after, servers)
        self.assertEqual((2, 0), (move.elsewhere_before, move.elsewhere_after))
        self.assertEqual(('pass', 'pass'), (move.before, move.after))

    def test_a_server_on_a_wrong_host_can_be_stranded(self) -> None:
        after = _situation({}, {'a': ({'os': 'linux'}, ('h1', 'h2'))})
        servers = [_server('h3', {'os': 'windows'})]
        (move,) = impact.moves(self.before, after, servers)
        self.assertEqual(impact.STRANDED, move.effect)
        # That h3 refuses it is nothing new.
        self.assertTrue(move.reason.startswith("h1: 'os' does not match"))

    @ddt.data('down', 'disabled', 'unknown')
    def test_a_host_that_is_not_up_takes_no_server(self, state: str) -> None:
        # h2 is the only other host that takes it.
        before = _situation(
            {}, {'a': ({'os': 'windows'}, ('h1', 'h2'))}, h2=state
        )
        after = _situation({}, {'a': ({'os': 'windows'}, ('h1',))})
        servers = [_server('h1', {'os': 'windows'})]
        self.assertEqual([], [*impact.moves(before, after, servers)])

    @ddt.data(None, 'h9')
    def test_a_server_on_a_host_that_is_not_known_is_not_judged(
        self, host: str | None
    ) -> None:
        # On h1 it would be stranded, and on h3 not.
        after = _situation({}, {'a': ({'os': 'windows'}, ('h1',))})
        servers = [_server(host, {'os': 'windows'})]
        (move,) = impact.moves(self.before, after, servers)
        self.assertEqual((impact.UNKNOWN, 's'), (move.effect, move.name))
        # A server that the change does not reach is as before.
        servers = [_server(host, {})]
        self.assertEqual([], [*impact.moves(self.before, after, servers)])


class SentenceTest(unittest.TestCase):
    def test_effects_are_counted(self) -> None:
        self.assertEqual(
            'Flavors by effect: none. Servers by effect: none.',
            impact.sentence([]),
        )
        flavors = {'f': {'os': 'windows'}, 'g': {}}
        before = _situation(flavors, {'a': ({'os': 'windows'}, ('h1', 'h2'))})
        after = _situation(flavors, {'a': (_FORCED, ('h1',))})
        effects = [*impact.flips(before, after)]
        effects += impact.moves(
            before,
            after,
            [_server('h1', {'os': 'windows'}), _server('h1', {})],
        )
        self.assertEqual(
            'Flavors by effect: loses 2. Servers by effect: refused 1, '
            'stranded 1.',
            impact.sentence(effects),
        )
