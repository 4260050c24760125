# SPDX-License-Identifier: Apache-2.0

"""What a change does to verdicts and to running servers."""

import dataclasses
import unittest
from typing import Any

import ddt

from nova_filters.matching import inputs
from openstack_commands.aggregates.advice import (
    explanation,
    impact,
    in_tree,
    inventory,
)

_SCOPE = inputs.SCOPE
_WINDOWS = {'os': 'windows'}
_FORCED = {**_WINDOWS, 'force_metadata_check': 'True'}


def _evaluation(
    metadata: dict[str, str], *members: str, h2: str = 'up', **flavors: Any
) -> explanation.Evaluation:
    """Return a evaluation with the hosts h1, h2 and h3, some in aggregate "a".

    :param h2: the state of this host; the others are up.
    :param flavors: their extra specs, by name.
    """
    stock = inventory.Stock(
        [inventory.Flavor(*flavor) for flavor in flavors.items()],
        [inventory.HostAggregate('a', metadata, members)],
        listed_hosts=[
            inventory.Host(name, state=h2 if name == 'h2' else 'up')
            for name in ('h1', 'h2', 'h3')
        ],
    )
    return explanation.Evaluation(stock)


def _server(host: str | None, extra_specs: dict[str, str]) -> inventory.Server:
    """Return a server that runs on a host."""
    flavor = inventory.Flavor('f', extra_specs)
    return inventory.Server('s', 'id', host, flavor)


class FlipTest(unittest.TestCase):
    def test_only_verdicts_that_change_are_told(self) -> None:
        before, after = (
            _evaluation(metadata, 'h1', plain={}, win={'os': 'windows'})
            for metadata in (_WINDOWS, _FORCED)
        )
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
        linux, names = {'os': 'linux'}, ('h1', 'h2', 'h3')
        before = _evaluation(linux, *names, f=_WINDOWS)
        for specs, metadata, words in (
            ({}, linux, "no longer: the flavor asks for 'os'"),
            ({'os': '*'}, linux, "the flavor asks for 'os': '*'"),
            (_WINDOWS, _FORCED, "aggregate 'a' demands '"),
            (_WINDOWS, {}, None),
        ):
            flips = [
                *impact.flips(before, _evaluation(metadata, *names, f=specs))
            ]
            self.assertEqual([names] * bool(words), [f.hosts for f in flips])
            for flip in flips:
                self.assertTrue(flip.reason.startswith(words), flip)
                self.assertIn("; before: 'os' does not match", flip.reason)
        (gone,) = impact.flips(
            _evaluation(linux, *names, f={'os': '!'}),
            _evaluation({}, *names, f={'os': '!'}),
        )
        self.assertTrue(gone.reason.startswith("no longer: aggregate 'a' has"))

    def test_all_that_has_changed_is_told_in_order(self) -> None:
        linux = {'os': 'linux', 'k': '1'}
        before = _evaluation(linux, 'h1', f=_WINDOWS)
        both = {'os': '<or> linux <or> bsd', f'{_SCOPE}os': 'linux'}
        (flip,) = impact.flips(before, _evaluation(linux, 'h1', f=both))
        self.assertEqual(
            "the flavor asks for 'os': '<or> linux <or> bsd'; the flavor asks "
            "for 'os': 'linux'; before: 'os' does not match 'windows'; "
            "aggregate 'a' has 'linux'",
            flip.reason,
        )
        strange = {'os': 'linux', f'{_SCOPE}os': 'windows'}
        before = _evaluation({}, 'h1', f=strange)
        flips = [*impact.flips(before, _evaluation({}, 'h1', f={}))]
        self.assertEqual(
            [
                "no longer: the flavor asks for 'os': 'linux'; no longer: the "
                "flavor asks for 'os': 'windows'; before: 'os' not in any "
                'aggregate'
            ],
            [flip.reason for flip in flips],
        )

    def test_what_many_aggregates_say_is_told_by_name(self) -> None:
        def evaluation(text: str, names: str) -> explanation.Evaluation:
            aggregates = [
                inventory.HostAggregate(name, {'os': 'x'}, ('h1',))
                for name in names
            ]
            flavor = inventory.Flavor('f', {'os': text})
            hosts = [inventory.Host('h1')]
            stock = inventory.Stock([flavor], aggregates, listed_hosts=hosts)
            return explanation.Evaluation(stock)

        for text, before, after, prefix in (
            ('*', '', 'gfedcba', ''),
            ('!', 'gfedcba', '', 'no longer: '),
        ):
            (flip,) = impact.flips(
                evaluation(text, before), evaluation(text, after)
            )
            sentences = [
                f"{prefix}aggregate '{n}' has 'os': 'x'" for n in 'abcdefg'
            ]
            self.assertEqual(sentences, flip.reason.split('; ')[:7])

    def test_flavors_that_come_and_go_are_told_with_their_hosts(self) -> None:
        before = _evaluation(_WINDOWS, 'h1', 'h2', old=_WINDOWS, same={})
        after = _evaluation(
            _WINDOWS, 'h1', 'h2', same={}, new={}, shut={'x': '1'}
        )
        self.assertEqual(
            [
                impact.Effect(
                    'flavor',
                    'old',
                    ('h1', 'h2'),
                    'pass',
                    '',
                    flavor='old',
                    effect='deleted',
                    reason='2 of 3 hosts pass',
                ),
                impact.Effect(
                    'flavor',
                    'new',
                    ('h1', 'h2', 'h3'),
                    '',
                    'pass',
                    flavor='new',
                    effect='new',
                    reason='3 of 3 hosts pass',
                ),
                impact.Effect(
                    'flavor',
                    'shut',
                    (),
                    '',
                    'pass',
                    flavor='shut',
                    effect='new',
                    reason='0 of 3 hosts pass',
                ),
            ],
            [*impact.flips(before, after)],
        )

    def test_hosts_with_the_same_reasons_are_one_flip(self) -> None:
        before = _evaluation(_WINDOWS, 'h1', 'h3', f={})
        after = _evaluation(_FORCED, 'h1', 'h3', f={})
        (flip,) = impact.flips(before, after)
        self.assertEqual(
            impact.Effect(
                'flavor',
                'f',
                ('h1', 'h3'),
                'pass',
                'refuse',
                flavor='f',
                effect='loses',
                reason="aggregate 'a' demands 'os'",
            ),
            flip,
        )
        (back,) = impact.flips(after, before)
        self.assertEqual(('gains', ('h1', 'h3')), (back.effect, back.hosts))

    def test_an_error_of_novas_own_filter_is_a_verdict(self) -> None:
        def evaluation(text: str) -> explanation.Evaluation:
            aggregate = inventory.HostAggregate('a', {'cpu': text}, ('h1',))
            flavor = inventory.Flavor('f', {'cpu': '>= 3'})
            stock = inventory.Stock([flavor], [aggregate])
            return explanation.Evaluation(stock, ask=in_tree.Request)

        for before, after, words, effect, reason in (
            (
                'x',
                '2',
                ('error', 'refuse'),
                'changes',
                "'cpu' does not match ",
            ),
            ('2', 'x', ('refuse', 'error'), 'changes', "'cpu' makes the in-t"),
            ('x', '3', ('error', 'pass'), 'gains', "aggregate 'a' has 'cpu':"),
            ('3', 'x', ('pass', 'error'), 'loses', "'cpu' makes the in-tree "),
        ):
            (flip,) = impact.flips(evaluation(before), evaluation(after))
            self.assertEqual(words, (flip.before, flip.after))
            self.assertEqual(effect, flip.effect)
            self.assertTrue(flip.reason.startswith(reason), flip.reason)


@ddt.ddt
class MoveTest(unittest.TestCase):
    #: What a server asks for, its host, the aggregate after the change; the
    #: verdicts, how many other hosts take it, the effect and the reason.
    MOVES = (
        (_WINDOWS, 'h1', (_FORCED, 'h1', 'h2'), None),
        (
            _WINDOWS,
            'h1',
            (_WINDOWS, 'h1'),
            ('pass', 'pass', 1, 0, impact.STRANDED, "h2: 'os' not in any ag"),
        ),
        # h3 is left of h2 and h3.
        (
            {},
            'h1',
            (_FORCED, 'h1', 'h2'),
            ('pass', 'refuse', 2, 1, impact.REFUSED, "aggregate 'a' demands"),
        ),
        # Without a host, no host refuses it.
        (
            _WINDOWS,
            '',
            ({'os': 'linux'}, 'h1', 'h2'),
            ('pass', 'pass', 2, 0, impact.STRANDED, "h1: 'os' does not match"),
        ),
        # That h3 refuses it is nothing new.
        (
            _WINDOWS,
            'h3',
            ({'os': 'linux'}, 'h1', 'h2'),
            ('refuse', 'refuse', 2, 0, impact.STRANDED, "h1: 'os' does not m"),
        ),
    )
    BEFORE, AFTER = (_WINDOWS, 'h1', 'h2'), (_WINDOWS, 'h1')

    @ddt.data(*MOVES)
    @ddt.unpack
    def test_a_server_is_stranded_or_refused(
        self, specs, host, aggregate, effect
    ) -> None:
        before, after = _evaluation(*self.BEFORE), _evaluation(*aggregate)
        effects = [*impact.moves(before, after, [_server(host, specs)])]
        self.assertEqual(
            [effect] if effect else [],
            [
                (*e[3:7], e.effect, e.reason[: len(effect[-1])])
                for e in effects
            ],
        )

    @ddt.data('down', 'disabled', 'unknown')
    def test_a_host_that_is_not_up_takes_no_server(self, state: str) -> None:
        # h2 is the only other host that takes it.
        before, after = (
            _evaluation(*self.BEFORE, h2=state),
            _evaluation(*self.AFTER),
        )
        servers = [_server('h1', _WINDOWS)]
        self.assertEqual([], [*impact.moves(before, after, servers)])

    @ddt.data(None, 'h9')
    def test_a_server_on_a_host_that_is_not_known_is_not_judged(
        self, host: str | None
    ) -> None:
        # On h1 it would be stranded, and on h3 not.
        before, after = _evaluation(*self.BEFORE), _evaluation(*self.AFTER)
        (move,) = impact.moves(before, after, [_server(host, _WINDOWS)])
        self.assertEqual((impact.UNKNOWN, 's'), (move.effect, move.name))
        # A server that the change does not reach is as before.
        servers = [_server(host, {})]
        self.assertEqual([], [*impact.moves(before, after, servers)])

    def test_a_server_whose_boot_has_failed_is_not_stranded(self) -> None:
        before, after = (
            _evaluation(*self.BEFORE),
            _evaluation({'os': 'x'}, 'h1', 'h2'),
        )
        shelved = _server('', _WINDOWS)
        (move,) = impact.moves(before, after, [shelved])
        self.assertEqual(impact.STRANDED, move.effect)
        failed = dataclasses.replace(shelved, failed=True)
        self.assertEqual([], [*impact.moves(before, after, [failed])])

    def test_servers_come_by_name(self) -> None:
        before, after = _evaluation(*self.BEFORE), _evaluation(*self.AFTER)
        flavor = inventory.Flavor('f', _WINDOWS)
        servers = [
            inventory.Server(name, number, 'h1', flavor)
            for name, number in (('b', '1'), ('a', '3'), ('a', '2'))
        ]
        effects = [*impact.moves(before, after, servers)]
        self.assertEqual(['2', '3', '1'], [effect.id for effect in effects])

    def test_a_server_whose_flavor_is_not_shown_is_not_judged(self) -> None:
        before, after = _evaluation(*self.BEFORE), _evaluation(*self.AFTER)
        server = inventory.Server('s', 'id', 'h1', None)
        self.assertEqual(
            [
                impact.Effect(
                    'server',
                    's',
                    ('h1',),
                    '',
                    '',
                    id='id',
                    effect='unknown',
                    reason='Nova does not show its flavor: its cell may be '
                    'down',
                )
            ],
            [*impact.moves(before, after, [server])],
        )

    @ddt.data(
        (None, (), 'Nova does not show its host'),
        ('h9', ('h9',), "its host 'h9' is not among the hosts"),
    )
    @ddt.unpack
    def test_why_a_server_is_not_judged_is_told(
        self, host: str | None, hosts: tuple[str, ...], reason: str
    ) -> None:
        before, after = _evaluation(*self.BEFORE), _evaluation(*self.AFTER)
        (move,) = impact.moves(before, after, [_server(host, _WINDOWS)])
        self.assertEqual((hosts, reason), (move.hosts, move.reason))
        self.assertEqual(('id', 'f'), (move.id, move.flavor))

    def test_effects_are_counted(self) -> None:
        before = _evaluation(*self.BEFORE, f=_WINDOWS, g={})
        after = _evaluation(_FORCED, 'h1', f=_WINDOWS, g={})
        servers = [_server('h1', _WINDOWS), _server('h1', {})]
        effects = [*impact.flips(before, after)]
        effects += impact.moves(before, after, servers)
        self.assertEqual(
            'Flavors by effect: loses 2. Servers by effect: refused 1, '
            'stranded 1.',
            impact.sentence(effects),
        )
        self.assertEqual(
            'Flavors by effect: none. Servers by effect: none.',
            impact.sentence([]),
        )
