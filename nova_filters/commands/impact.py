# SPDX-License-Identifier: Apache-2.0

"""``openstack aggregate filter impact``."""

import argparse
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from osc_lib import exceptions

from nova_filters.advice import impact, inventory, mistakes
from nova_filters.commands import common, files

_COLUMNS = (
    'Object',
    'Name',
    'Host',
    'Before',
    'After',
    'Elsewhere Before',
    'Elsewhere After',
    'Reason',
)
#: The options that name a change.
_CHANGES = (
    'replace_in_tree',
    *('set_aggregate', 'unset_aggregate', 'after_aggregates'),
    *('set_flavor', 'unset_flavor', 'after_flavors'),
)


class ShowFilterImpact(common.FilterCommand):
    """Show what a change of flavors or aggregates would do, before it is made.

    There is a row for each flavor and host whose verdict changes, and for
    each running server that its own host would refuse, or that no other host
    would take any more. Nothing is changed.
    """

    reads_servers = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of the command."""
        super().add_arguments(parser)
        parser.add_argument(
            '--no-servers',
            action='store_true',
            help='do not look at running servers',
        )
        changes = parser.add_argument_group('changes')
        for noun in ('aggregate', 'flavor'):
            changes.add_argument(
                f'--set-{noun}',
                metavar=(f'<{noun}>', '<key=value>'),
                nargs=2,
                action='append',
                default=[],
                help=f'what if this {noun} had this property; quote ~ * !',
            )
            changes.add_argument(
                f'--unset-{noun}',
                metavar=(f'<{noun}>', '<key>'),
                nargs=2,
                action='append',
                default=[],
                help=f'what if this {noun} lost this property',
            )
            changes.add_argument(
                f'--after-{noun}s',
                metavar='<file>',
                action='append',
                default=[],
                help=f'what if the {noun}s were as in this file',
            )
        changes.add_argument(
            '--replace-in-tree',
            action='store_true',
            help='what if AggregateInstanceTypeFilter came in place of '
            'AggregateInstanceExtraSpecsFilter, which is enabled now',
        )

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the table."""
        if not any(getattr(parsed_args, name) for name in _CHANGES):
            raise exceptions.CommandError(
                'Name a change: --set-aggregate, --unset-aggregate, '
                '--set-flavor, --unset-flavor, --after-aggregates, '
                '--after-flavors or --replace-in-tree'
            )
        if parsed_args.no_servers and parsed_args.servers:
            raise exceptions.CommandError(
                '--no-servers and --servers exclude each other'
            )
        self._warn(parsed_args)
        source = self.source(parsed_args)
        flavors = source.flavors()
        aggregates = source.aggregates()
        others = source.hosts()
        judge = impact.judge_with(self.exempt(parsed_args))
        before = impact.Situation(
            {flavor.name: flavor.extra_specs for flavor in flavors},
            inventory.hosts_of(aggregates, others),
            impact.IN_TREE if parsed_args.replace_in_tree else judge,
        )
        after = impact.Situation(
            _changed_flavors(flavors, parsed_args),
            inventory.hosts_of(
                _changed_aggregates(aggregates, parsed_args), others
            ),
            judge,
        )
        servers = [] if parsed_args.no_servers else source.servers()
        effects = impact.flips(before, after)
        effects += impact.moves(before, after, servers)
        return _COLUMNS, map(dataclasses.astuple, effects)

    def _warn(self, parsed_args: argparse.Namespace) -> None:
        """Warn of what a shell made of an unquoted sentinel."""
        for _, text in parsed_args.set_aggregate + parsed_args.set_flavor:
            for problem in mistakes.expanded(text.partition('=')[2]):
                self.log.warning(
                    '%(problem)s; write it %(remedy)s',
                    {'problem': problem.text, 'remedy': problem.remedy},
                )


def _changed(
    noun: str, properties: impact.Properties, parsed_args: argparse.Namespace
) -> impact.Properties:
    """Return properties by name as the command line changes them."""
    options = vars(parsed_args)
    assign = []
    for name, text in options[f'set_{noun}']:
        key, equals, value = text.partition('=')
        if not key or not equals:
            raise exceptions.CommandError(
                f'{text!r} is no key=value; a shell changes an unquoted ~ * !'
            )
        assign.append((name, key, value))
    return impact.change(properties, assign, options[f'unset_{noun}'], noun)


def _changed_flavors(
    flavors: Sequence[inventory.Flavor], parsed_args: argparse.Namespace
) -> impact.Properties:
    """Return the flavors' extra specs after the change."""
    if parsed_args.after_flavors:
        flavors = files.read(parsed_args.after_flavors, inventory.read_flavors)
    now = {flavor.name: flavor.extra_specs for flavor in flavors}
    return _changed('flavor', now, parsed_args)


def _changed_aggregates(
    aggregates: Sequence[inventory.HostAggregate],
    parsed_args: argparse.Namespace,
) -> list[inventory.HostAggregate]:
    """Return the aggregates after the change."""
    if parsed_args.after_aggregates:
        aggregates = files.read(
            parsed_args.after_aggregates, inventory.read_aggregates
        )
    now = {aggregate.name: aggregate.metadata for aggregate in aggregates}
    metadata = _changed('aggregate', now, parsed_args)
    return [
        dataclasses.replace(aggregate, metadata=metadata[aggregate.name])
        for aggregate in aggregates
    ]
