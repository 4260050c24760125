# SPDX-License-Identifier: Apache-2.0

"""Read from Senlin's database which types the clusters use.

``senlin-plugins-status`` and ``senlin-plugins-convert`` use this module.
"""

import dataclasses
import importlib
from collections.abc import Iterable
from typing import Any, Final

# The words for what has a type.
#: The profile of a cluster.
PROFILE: Final = 'profile'
#: The profile of a node in a cluster.
NODE: Final = 'node'
#: A policy that is attached to a cluster.
POLICY: Final = 'policy'
#: The profile of a node without a cluster.
ALONE: Final = 'alone'

#: The query for the types that are used. Each row has the id and the name of a
#: cluster or node, one of the four words above, and the type.
STATEMENT: Final = f"""
SELECT cluster.id, cluster.name AS name, '{PROFILE}', profile.type
FROM cluster JOIN profile ON profile.id = cluster.profile_id
UNION SELECT cluster.id, cluster.name, '{NODE}', profile.type
FROM cluster
JOIN node ON node.cluster_id = cluster.id
JOIN profile ON profile.id = node.profile_id
UNION SELECT cluster.id, cluster.name, '{POLICY}', policy.type
FROM cluster_policy
JOIN cluster ON cluster.id = cluster_policy.cluster_id
JOIN policy ON policy.id = cluster_policy.policy_id
UNION SELECT node.id, node.name, '{ALONE}', profile.type
FROM node JOIN profile ON profile.id = node.profile_id
WHERE node.cluster_id = '' OR node.cluster_id IS NULL
ORDER BY name
"""  # noqa: S608  the text is built from constants only


@dataclasses.dataclass
class Use:
    """A cluster, or a node without a cluster, and the types that it uses.

    :param kind: ``cluster`` or ``node``.
    :param id: its id.
    :param name: its name.
    :param profile: the type of its profile, with the version.
    :param profiles: the types of its profile and of the profiles of its nodes.
    :param policies: the types of the policies that are attached to it.
    """

    kind: str
    id: str
    name: str
    profile: str = ''
    profiles: set[str] = dataclasses.field(default_factory=set)
    policies: set[str] = dataclasses.field(default_factory=set)

    @property
    def ours(self) -> str:
        """The types from this package that are used, as text."""
        return name_ours({*self.profiles, *self.policies})


def collect(rows: Iterable[Any]) -> list[Use]:
    """Return the clusters, and the nodes without a cluster.

    :param rows: the rows that the query :data:`STATEMENT` returns.
    """
    uses: dict[str, Use] = {}
    for id_, name, user, kind in rows:
        use = uses.setdefault(id_, Use('cluster', id_, name))
        if user == POLICY:
            use.policies.add(kind)
            continue
        use.profiles.add(kind)
        if user == ALONE:
            use.kind = 'node'
        if user != NODE:
            use.profile = kind
    return list(uses.values())


def name_ours(kinds: Iterable[str]) -> str:
    """Return the types that belong to this package, as text."""
    return ', '.join(sorted(k for k in kinds if 'senlin_plugins.' in k))


def load() -> None:
    """Import the modules of Senlin that register its database options.

    :raises ImportError: if Senlin is not installed here.
    """
    # The first import patches the process for eventlet, as in senlin-engine.
    importlib.import_module('senlin.cmd')
    importlib.import_module('senlin.conf')
    importlib.import_module('senlin.db.api')
    importlib.import_module('senlin.db.sqlalchemy.api')
