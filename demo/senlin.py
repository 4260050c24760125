# SPDX-License-Identifier: Apache-2.0

"""The life of two clusters in three regions.

One cluster uses this package's policies and profile, the other one, beside
it, what comes with Senlin. After each step the demo looks where the servers
really are.
"""

import pathlib
from typing import Any

import senlin.version
import yaml

from demo import story
from testing.senlin import engine

POLICY = """\
type: senlin_plugins.policy.region_placement
version: '1.0'
properties:
  regions:
    - {name: RegionOne, weight: 100}
    - {name: RegionTwo, weight: 250, cap: 4}
    - {name: RegionThree, weight: 150}
"""
#: The types of the policy and the profile of each cluster.
IN_TREE = 'senlin.policy.region_placement', 'os.nova.server'
OURS = 'senlin_plugins.policy.region_placement', 'senlin_plugins.nova.server'
#: What an operator does, the action, and its arguments.
STEPS: tuple[tuple[str, str, dict[str, int]], ...] = (
    ('scale out by 9', 'scale_out', {'count': 9}),
    ('scale in by 3', 'scale_in', {'count': 3}),
    ('scale out by 5', 'scale_out', {'count': 5}),
)


def run(log: pathlib.Path) -> str:
    """Return the table."""
    version = senlin.version.version_info.release_string()
    running = engine.boot(log)
    clusters = [Cluster(running, *types) for types in (IN_TREE, OURS)]
    rows = []
    for what, action, arguments in STEPS:
        for cluster in clusters:
            cluster.act(action, **arguments)
        servers = [story.counts(cluster.servers()) for cluster in clusters]
        rows.append((what, *servers))
    return (
        f'Senlin {version} (retired), for clouds that run it: servers in '
        'RegionOne, RegionTwo and RegionThree.\n\n'
        f'The regions are used with a profile of the type {OURS[1]} and this '
        f'policy:\n\n{POLICY}\n'
        + story.table(('', 'as Senlin does it', 'with the plug-ins'), rows)
    )


class Cluster:
    """A cluster, made through REST.

    :param policy: the type of the policy that places its nodes.
    :param profile: the type of their profile.
    """

    def __init__(
        self, running: engine.Engine, policy: str, profile: str
    ) -> None:
        self._senlin = running
        self._id = running.cluster(
            running.profile(profile, flavor='small', networks=[], context={})
        )
        regions = yaml.safe_load(POLICY)['properties']
        policy_id = running.policy(policy, regions)
        _succeed(running.attach(self._id, policy_id))

    def act(self, name: str, **arguments: int) -> None:
        """Run an action to its end."""
        _succeed(self._senlin.act(self._id, name, **arguments))

    def servers(self) -> dict[str, int]:
        """Return how many servers really are in each region."""
        return self._senlin.cloud.servers_of(self._id)


def _succeed(action: dict[str, Any]) -> None:
    """Raise an error if an action has failed."""
    if action['status'] != 'SUCCEEDED':
        raise RuntimeError(action['status_reason'])
