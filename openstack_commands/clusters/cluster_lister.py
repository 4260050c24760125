# SPDX-License-Identifier: Apache-2.0

"""The base class of the commands about the regions of a cluster."""

import argparse
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cliff import columns
from osc_lib import exceptions

from openstack_commands.base import lister
from openstack_commands.clusters import clusters
from os_placement_plugins.quoting import printable
from senlin_plugins.planning import (
    declaration,
    region_spec,
    region_state,
    requirements,
    values,
)
from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.region_spec import Spec
from senlin_plugins.planning.region_state import Code, State
from senlin_plugins.regions import health

Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]


class Cell(columns.FormattableColumn):  # type: ignore[misc]
    """A value for programs, and its text for people.

    :param value: the value; ``None`` is shown to people as a dash.
    :param text: the text; by default, the value as text.
    """

    def __init__(self, value: object, text: str | None = None) -> None:
        super().__init__(value)
        if value is None:
            self._text = '-'
        elif text is None:
            self._text = str(value)
        else:
            self._text = text

    def human_readable(self) -> str:
        """Return the text."""
        return self._text


class ClusterLister(lister.Lister):
    """A command that reads the regions of a policy and of a cluster."""

    INPUT_ERRORS = (values.WrongValue,)

    #: The end of the error message for a cluster without a policy.
    WITHOUT_POLICY = 'attach one, or enable it.'
    #: The SDK's connection; None before the login.
    connection: Any = None
    _told: frozenset[str] = frozenset()

    def add_default_region(self, parser: argparse.ArgumentParser) -> None:
        """Add the option ``--default-region``.

        The option is needed because Senlin's API does not show
        ``default_region_name``.
        """
        parser.add_argument(
            '--default-region',
            metavar='<name>',
            help="value of default_region_name in Senlin's configuration; "
            'the region of nodes without a recorded region, and of a profile '
            'that names a port or volume by its ID, but names no region',
        )

    def find_cluster(self, name: str) -> Any:
        """Log in and return a cluster."""
        self.connection = self.connection or self.log_in()
        return self.connection.clustering.find_cluster(
            name, ignore_missing=False
        )

    def warn(self, text: str, *words: object) -> None:
        """Warn of a problem that does not stop the command."""
        message = printable(text % words)
        # A command may read the cluster more than once, but shows each warning
        # only once.
        if message not in self._told:
            self._told |= {message}
            self.log.warning('%s', message)

    def tell_no_effect(self, text: str, *words: object) -> None:
        """Warn that plans of the policy have no effect on the cluster."""
        self.warn(text, *words)

    def find_policy(self, name: str) -> Spec:
        """Return the spec of a region placement policy."""
        policy = self.connection.clustering.find_policy(
            name, ignore_missing=False
        )
        spec = region_spec.read(policy.spec)
        if not spec.effective:
            self.tell_no_effect(
                "The policy is Senlin's own, whose plans have no effect. "
                'This is what %s would do.',
                region_spec.TYPES[0],
            )
        return spec

    def attached_policy(self, cluster: Any) -> Spec:
        """Return the spec of the policy that is enabled for a cluster.

        :raises CommandError: if no region placement policy is enabled.
        """
        enabled = {}
        for binding in self.connection.clustering.cluster_policies(cluster):
            if binding.is_enabled:
                kind = str(binding.policy_type).rpartition('-')[0]
                enabled[kind] = binding.policy_id
        for kind in region_spec.TYPES:
            if kind in enabled:
                return self.find_policy(enabled[kind])
        raise exceptions.CommandError(
            f"Cluster '{cluster.name}' has no region placement policy that is "
            f'enabled: {self.WITHOUT_POLICY}'
        )

    def in_force(
        self, policy: Spec, cluster: Any
    ) -> tuple[Sequence[Region], dict[str, State]]:
        """Return the regions of a policy, and the regions that do not work.

        :param cluster: the cluster, whose owner may have set other weights and
            caps; ``None`` if the command is not about a cluster.
        :returns: the regions; and region name -> state, for the regions that
            are silent, out, held or full.
        """
        if cluster is None or not policy.follows:
            return policy.regions, {}
        override = region_spec.override(policy.regions, cluster.metadata)
        if override.problem:
            self.warn(
                'The policy takes its own weights and caps: %s',
                override.problem,
            )
        states = region_state.read(cluster.data).in_force(
            override.declared, health.now()
        )
        return override.regions, states

    def advise(self, cluster: Any, states: Mapping[str, State]) -> list[str]:
        """Return sentences with the commands that declare regions out.

        The sentences are about regions that are held, and about silent regions
        if the cluster is in status ERROR.

        :param states: region name -> state, as :meth:`in_force` returns them.
        """
        advice = []
        for name, state in states.items():
            is_stuck = state.state == Code.HELD
            if state.state == Code.SILENT:
                is_stuck = cluster.status == 'ERROR'
            if is_stuck:
                command = declaration.declare_out(cluster, name)
                advice.append(f'If {name} is out, run: {command}')
        return advice

    def unreachable(
        self,
        policy: Spec,
        cluster: Any,
        names: Collection[str],
        growing: bool,
        default_region: str | None,
    ) -> set[str]:
        """Return the regions that a plan leaves alone.

        :param cluster: the cluster, whose profile needs services. If ``None``,
            the plan leaves alone only the regions that Keystone does not know.
        :param names: the regions in question.
        :param growing: whether the plan adds nodes.
        :param default_region: Senlin's ``default_region_name``, if known.
        """
        if policy.follows and not growing:
            # With version 1.1, nodes can leave a region even if the region
            # does not answer.
            return set()
        services, ties, fixed = self._needs(cluster, growing)
        faults = health.look(
            self.connection.session,
            self._known(names),
            names,
            services,
            self.connection.config.get_interface(),
        )
        why = {name: fault.why for name, fault in faults.items()}
        home = fixed or default_region
        if ties and not home:
            self.warn(
                'The profile names the id of %s, but no region: say with '
                '--default-region what default_region_name in senlin.conf is.',
                ties[0],
            )
        for name in requirements.excluded_by_ties(names, ties, home):
            why.setdefault(name, f'the profile names the id of {ties[0]}')
        for name, reason in sorted(why.items()):
            self.warn('The policy leaves %s out: %s.', name, reason)
        return set(why)

    def _known(self, names: Collection[str]) -> Collection[str]:
        """Return the regions that Keystone knows."""
        try:
            with lister.telling_in_one_line():
                return {r.id for r in self.connection.identity.regions()}
        except exceptions.CommandError as exc:
            self.warn(
                'The list of regions could not be read, so all regions of '
                'the policy count as usable: %s',
                exc,
            )
            return names

    def _needs(
        self, cluster: Any, growing: bool
    ) -> tuple[list[str], list[str], str | None]:
        """Return what the nodes of a cluster need, or nothing if unknown.

        See :func:`openstack_commands.clusters.clusters.needs`.
        """
        if cluster is not None:
            clustering = self.connection.clustering
            try:
                return clusters.needs(clustering, cluster, growing)
            except LookupError as exc:
                self.tell_no_effect(
                    'Profiles of type %s are not from this package: if they '
                    'create all nodes in one region, the plan has no effect.',
                    exc,
                )
        return [], [], None


def distribution_text(counts: Mapping[str, int]) -> str:
    """Return how many nodes are in each region, for people.

    :param counts: region name -> number of nodes.
    """
    return ', '.join(f'{name}={count}' for name, count in counts.items())


def distribution_cell(counts: Mapping[str, int]) -> Cell:
    """Return how many nodes are in each region, as a cell.

    :param counts: region name -> number of nodes.
    """
    return Cell(dict(counts), distribution_text(counts))
