# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter impact``."""

import argparse
import collections
import dataclasses
import functools
from collections.abc import Iterable, Sequence

from osc_lib import exceptions

from openstack_commands.aggregates import common
from openstack_commands.aggregates.advice import (
    changes,
    impact,
    in_tree,
    inventory,
    mistakes,
    nova_records,
)
from openstack_commands.aggregates.advice.explanation import Evaluation
from openstack_commands.base import files, lister
from os_placement_plugins.quoting import listed

_COLUMNS = (
    'Object',
    'Name',
    'Hosts',
    'Before',
    'After',
    'Elsewhere Before',
    'Elsewhere After',
    'ID',
    'Flavor',
    'Effect',
    'Reason',
)
_TABLE = ('Object', 'Name', 'Hosts', 'Effect', 'Reason')
_SUMMARY = ('Object', 'Flavor', 'Effect', 'Number')
_QUOTED = 'set this property of the {}; quote ~ * !'
_UNSET = 'remove this property from the {}'
_ADDED = 'add this host to the {}'
_REMOVED = 'remove this host from the {}'
#: For each option: the noun and the verb of the change, the name of the
#: option's second value, and the help text.
_OPTIONS = {
    'set-aggregate': ('aggregate', 'set', '<key=value>', _QUOTED),
    'unset-aggregate': ('aggregate', 'unset', '<key>', _UNSET),
    'add-host': ('aggregate', 'add host', '<host>', _ADDED),
    'remove-host': ('aggregate', 'remove host', '<host>', _REMOVED),
    'set-flavor': ('flavor', 'set', '<key=value>', _QUOTED),
    'unset-flavor': ('flavor', 'unset', '<key>', _UNSET),
}
_NO_SERVERS = 'No --servers: running servers are not judged.'


class ShowFilterImpact(common.FilterCommand):
    """Show the effect of a change to flavors or aggregates in advance.

    The table has a row for each flavor and reason, with the hosts whose
    verdict would change. The table also has a row for each server that its
    own host would refuse, or that no other host would accept any more. The
    command does not change anything.
    """

    reads_servers = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            '--no-servers',
            action='store_true',
            help='do not judge running servers',
        )
        parser.add_argument(
            '--summary',
            action='store_true',
            help='count hosts and servers for each flavor and effect',
        )
        parser.add_argument(
            '--fail-on',
            choices=[impact.STRANDED],
            help='exit with 2 if a server would be stranded (other hosts '
            'accept it now, but none would after the change), and with 1 if '
            'a server has the effect "unknown"',
        )
        group = parser.add_argument_group(
            'changes',
            'The command shows the effects of these changes, but does not '
            'make the changes. Specify flavors and aggregates by name or ID.',
        )
        for option, (noun, verb, what, text) in _OPTIONS.items():
            group.add_argument(
                f'--{option}',
                metavar=(f'<{noun}>', what),
                nargs=2,
                # All options fill one list, because the order of changes on
                # the command line counts. Each value in the list comes with
                # the noun and the verb of its option.
                action='append',
                dest='changes',
                type=functools.partial(lambda *words: words, noun, verb),
                default=[],
                help=text.format(noun),
            )
        for noun in ('aggregate', 'flavor'):
            text = f'replace the {noun}s with those in this file'
            lister.add_repeatable(group, f'--after-{noun}s', '<file>', text)
        group.add_argument(
            '--replace-in-tree',
            action='store_true',
            help='replace AggregateInstanceExtraSpecsFilter, assumed to be '
            'enabled now, with AggregateInstanceTypeFilter',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> lister.Table:
        """Return the table."""
        _check(parsed_args)
        typed = [
            _read(noun, verb, name, text)
            for (noun, verb, name), (*_, text) in parsed_args.changes
        ]
        self._warn(typed)
        source = self.source(parsed_args)
        self.remarks = [common.OTHERS]
        now = self.stock(source, parsed_args, source.flavors())
        servers = None
        if not parsed_args.no_servers:
            servers = source.servers()
        if parsed_args.fail_on and not (
            now.listed_hosts is not None and servers is not None
        ):
            raise exceptions.CommandError(
                '--fail-on needs hosts and servers: give --hosts and '
                '--servers, and not --no-servers'
            )
        then = self._after(now, typed, parsed_args)
        moved = changes.zone_moves(now.hosts, then.hosts)
        # The change may add hosts. Both evaluations must judge the same hosts.
        now = dataclasses.replace(now, listed_hosts=[*then.hosts.values()])
        before, after = Evaluation(now), Evaluation(then)
        if parsed_args.replace_in_tree:
            before = Evaluation(now, ask=in_tree.Request)
        effects = [*impact.flips(before, after)]
        effects += impact.moves(before, after, servers or ())
        if parsed_args.fail_on:
            words = {effect.effect for effect in effects}
            unknown = impact.UNKNOWN in words
            self.find(impact.STRANDED in words, unknown=unknown)
        if servers is None:
            self.remarks.append(_NO_SERVERS)
        self.remarks.append(impact.sentence(effects))
        if moved:
            self.remarks.append(
                f'The availability zone of {listed(moved)} changes: '
                'Nova refuses this while servers run there.'
            )
        if typed:
            self.remarks += ['To make the change:', *(f'  {c}' for c in typed)]
        if parsed_args.summary:
            counts: collections.Counter[tuple[str, ...]]
            counts = collections.Counter()
            for effect in effects:
                number = len(effect.hosts) if effect.noun == 'flavor' else 1
                counts[effect.noun, effect.flavor, effect.effect] += number
            return _SUMMARY, [(*what, n) for what, n in counts.items()]
        self.table_columns = _TABLE
        return _COLUMNS, (
            (*e[:2], common.Names(e.hosts), *e[3:]) for e in effects
        )

    def _after(
        self,
        now: inventory.Stock,
        typed: Sequence[changes.ObjectChange],
        parsed_args: argparse.Namespace,
    ) -> inventory.Stock:
        """Return the flavors, aggregates and hosts after the change."""
        flavors, aggregates = now.flavors, now.aggregates
        if parsed_args.after_flavors:
            flavors = files.read(
                parsed_args.after_flavors, nova_records.read_flavors
            )
        if parsed_args.after_aggregates:
            aggregates = files.read(
                parsed_args.after_aggregates, nova_records.read_aggregates
            )
        then = changes.apply(typed, now.changed(flavors, aggregates))
        new = [name for name in then.hosts if name not in now.hosts]
        if now.listed_hosts is not None:
            common.check_hosts(now.hosts, new)
        elif new:
            self.remarks.append(
                'These hosts are in no aggregate now, or misspelled: '
                f'{listed(new)}.'
            )
        return then

    def _warn(self, typed: Iterable[changes.ObjectChange]) -> None:
        """Warn of a path that a shell has inserted for an unquoted ``~``."""
        for change in typed:
            for problem in mistakes.expanded(change.value):
                self.log.warning(
                    '%(problem)s; write it %(remedy)s',
                    {'problem': problem.text, 'remedy': problem.remedy},
                )


def _check(parsed_args: argparse.Namespace) -> None:
    """Refuse a command line that names no change, or contradicts itself."""
    if not (
        parsed_args.changes
        or parsed_args.after_aggregates
        or parsed_args.after_flavors
        or parsed_args.replace_in_tree
    ):
        raise exceptions.CommandError(
            'Name a change: --set-aggregate, --unset-aggregate, --add-host, '
            '--remove-host, --set-flavor, --unset-flavor, --after-aggregates, '
            '--after-flavors or --replace-in-tree'
        )
    if parsed_args.no_servers and parsed_args.servers:
        raise exceptions.CommandError(
            '--no-servers and --servers exclude each other'
        )


def _read(noun: str, verb: str, name: str, text: str) -> changes.ObjectChange:
    """Return the change that an option of the command line describes.

    :param text: the second value of the option: ``key=value``, a key or a
        host.
    """
    if verb != 'set':
        return changes.ObjectChange(noun, verb, name, text)
    key, equals, value = text.partition('=')
    if not key or not equals:
        raise exceptions.CommandError(
            f'{text!r} is not key=value; a shell changes an unquoted ~ * !'
        )
    return changes.ObjectChange(noun, verb, name, key, value)
