# SPDX-License-Identifier: Apache-2.0

"""Handle the nodes of a region that fails.

If a region placement policy of version 1.1 is enabled for the cluster of a
node, the row of the cluster contains the state of the region. Without such a
policy, the profiles of this package do what Senlin's own profiles do.
"""

import contextlib
import types
from http import HTTPStatus
from typing import Any, NamedTuple

from oslo_log import log as logging
from senlin.common import consts
from senlin.common import exception as exc
from senlin.profiles import base

from os_placement_plugins.quoting import quote
from senlin_plugins.cluster import (
    cluster_row,
    holders,
    left_behind,
    node_records,
    region_watcher,
)
from senlin_plugins.cluster.cluster_row import Row
from senlin_plugins.cluster.holders import Resource
from senlin_plugins.cluster.region_watcher import RegionWatcher
from senlin_plugins.planning import declaration
from senlin_plugins.planning.region_state import Left, Notes, State
from senlin_plugins.planning.region_view import View
from senlin_plugins.planning.snapshot import recorded_region
from senlin_plugins.profiles import creation

LOG = logging.getLogger(__name__)

#: Option of a recovery: replace the node even if the node is healthy.
REPLACE = 'replace'


class Watched(NamedTuple):
    """A cluster whose regions a policy of version 1.1 watches.

    :param policy: the policy of version 1.1.
    :param cluster: the row of the cluster.
    :param view: the current states of the regions.
    """

    policy: RegionWatcher
    cluster: Row
    view: View


def _find_watched(node: Any) -> Watched | None:
    """Return a node's cluster, if a policy watches the cluster's regions."""
    policy_and_cluster = region_watcher.find(node)
    if not policy_and_cluster:
        return None
    policy, cluster = policy_and_cluster
    view = policy.current(cluster, recorded_region(node))
    return Watched(policy, cluster, view)


def _forbids_recovery(state: State, recreate: bool) -> bool:
    """Tell whether the state of a region prevents a recovery there."""
    if recreate:
        return not state.moves
    return state.dead


class Failover(base.Profile):  # type: ignore[misc]  # untyped base
    """Mix-in for a profile whose nodes can change their region."""

    #: The kind of a node's resource: 'server' or 'stack'.
    CREATES = ''
    #: The service that creates such resources.
    CLIENT = ''

    def do_check(self, obj: Any) -> Any:
        """Check a node; raise an error if the region does not answer."""
        watched = _find_watched(obj)
        state = watched and watched.view.state_of(obj)
        if state and state.dead:
            raise self._refusal('checking', obj, state)
        return super().do_check(obj)

    def do_healthcheck(self, obj: Any, health_check_type: str) -> bool:
        """Tell whether a node is healthy, for Senlin's health manager.

        :param health_check_type: the kind of poll.
        :returns: false if the region is out; true if the region is silent,
            because the health of the node is then unknown.
        """
        policy_and_cluster = region_watcher.find(obj)
        state = None
        if policy_and_cluster:
            policy, cluster = policy_and_cluster
            state = policy.watch(cluster).state_of(obj)
        if state and state.dead:
            return not state.is_dead
        return bool(super().do_healthcheck(obj, health_check_type))

    def do_delete(self, obj: Any, **params: Any) -> Any:
        """Delete a node's server or stack, unless the region is out.

        :param params: the parameters of Senlin's own method.
        :returns: true.
        :raises: ``EResourceDeletion`` if the deletion failed.
        """
        watched = _find_watched(obj)
        state = watched and watched.view.state_of(obj)
        if watched and state and state.is_dead:
            self._leave(obj, watched.cluster)
            return True
        if not watched and left_behind.is_forgotten(obj):
            return True
        try:
            made = self._find_what_is_made(obj)
        except exc.InternalError as ex:
            # Without a region, the record of _leave() could never be removed.
            if watched and recorded_region(obj):
                self._leave(obj, watched.cluster)
                return True
            kind = self.CREATES
            LOG.warning(
                'Nobody can tell whether node %s has a %s: %s If you '
                'later find a %s with the cluster_node_id of this node, '
                'delete the %s.',
                obj.id,
                kind,
                ex,
                kind,
                kind,
            )
            made = []
        deleted = self._delete(obj, made, **params)
        if obj.status == consts.NS_RECOVERING:
            # Senlin now creates a new server or stack. If the engine is killed
            # meanwhile, the next action searches for the new server or stack
            # only if the node's row has no id.
            with contextlib.suppress(exc.ResourceNotFound):
                node_records.update(obj, physical_id=None)
        return deleted

    def _find_what_is_made(self, obj: Any) -> list[str]:
        """Return the ids of the node's servers or stacks.

        :raises: ``InternalError`` if the region does not answer.
        """
        if obj.physical_id:
            return [obj.physical_id]
        return self.find_made(obj)

    def _delete(self, obj: Any, made: list[str], **params: Any) -> Any:
        """Delete those servers or stacks that no other node holds."""
        try:
            mine = [id_ for id_ in made if not self._let_go(obj, id_)]
            # super().do_delete() deletes mine[0], and all ports of the node.
            for id_ in mine[1:]:
                self._delete_thing(obj, id_)
        except exc.InternalError as ex:
            raise exc.EResourceDeletion(
                type=self.CREATES, id=made[0], message=str(ex)
            ) from ex
        if made and not mine:
            return True
        obj.physical_id = None
        if mine:
            obj.physical_id = mine[0]
        return super().do_delete(obj, **params)

    def _let_go(self, obj: Any, id_: str) -> bool:
        """Remove a server or stack from a node if another node holds it.

        :returns: whether another node holds the server or stack.
        """
        if not holders.release(obj, self.identify(obj, id_)):
            return False
        LOG.warning(
            '%s %s of node %s stays, because another node has it.',
            self.CREATES,
            id_,
            obj.id,
        )
        return True

    def _delete_thing(self, obj: Any, id_: str) -> None:
        """Begin to delete a server or a stack."""
        client = getattr(self, self.CLIENT)(obj)
        getattr(client, f'{self.CREATES}_delete')(id_, True)

    def do_recover(self, obj: Any, **options: Any) -> Any:
        """Recover a node, in another region if necessary.

        :param options: ``operation`` and its parameters.
        :returns: the id of the server or stack that the node has now, and
            whether the recovery worked.
        :raises: ``EResourceOperation`` if the recovery failed. The error has
            the id of the old server or stack, if it may still exist.
        """
        watched = _find_watched(obj)
        state = watched and watched.view.state_of(obj)
        replace = options.pop(REPLACE, False)
        operation = options.get('operation') or consts.RECOVER_RECREATE
        recreate = operation.upper() == consts.RECOVER_RECREATE
        try:
            if state and _forbids_recovery(state, recreate):
                raise self._refusal('recovering', obj, state)
            if watched and recreate:
                dead = bool(state and state.is_dead)
                if not dead and not replace and self._is_well(obj):
                    return obj.physical_id, True
                if watched.view.is_unfit(obj):
                    return self._move(obj, watched), True
            # Senlin's stack profile needs 'operation', and Senlin's server
            # profile needs 'operation_params'.
            options['operation'] = operation
            options['operation_params'] = options.get('operation_params') or {}
            return super().do_recover(obj, **options)
        except exc.EResourceOperation as ex:
            # If the error has no id, Senlin removes the id in the node's row.
            if not ex.resource_id and self._may_be_there(obj):
                ex.resource_id = obj.physical_id
            if watched and not state:
                self._advise(obj, watched.cluster, ex)
            raise

    def _advise(self, obj: Any, cluster: Row, error: Any) -> None:
        """Log what to do if a region answers checks but recoveries fail."""
        region = recorded_region(obj)
        if region:
            LOG.warning(
                "Node %s could not be recovered in region '%s', although the "
                'region answers: %s If all nodes there fail, run: %s',
                obj.id,
                region,
                quote(error),
                declaration.declare_out(cluster, region),
            )

    def do_cluster_delete(self, obj: Any) -> None:
        """Delete the servers that the nodes of a cluster have left behind.

        :param obj: the cluster, which has no nodes any more.
        :raises: ``EResourceDeletion`` if a server still exists. The cluster
            must then stay, because only the cluster's row lists the server.
        """
        left_behind.log_forgotten(obj)
        left = left_behind.listed(obj)
        rest = left_behind.clear(obj, left) if left else []
        if rest:
            raise exc.EResourceDeletion(
                type='cluster',
                id=obj.id,
                message=left_behind.describe(obj, rest),
            )

    def _is_well(self, obj: Any) -> bool:
        """Tell whether the server or stack of a node works."""
        try:
            return bool(obj.physical_id and super().do_check(obj))
        except exc.EServerNotFound:
            return False

    def _leave(self, obj: Any, cluster: Any) -> None:
        """Record the server or stack that a node leaves behind."""
        update = cluster_row.update_notes(
            cluster,
            lambda notes, now: notes.leave(
                node_records.what_it_leaves(obj, now)
            ),
        )
        left = node_records.what_it_leaves(obj, update.now)
        LOG.warning(
            "%s %s of node %s is left behind in region '%s'. It is deleted "
            'when the region works again.',
            self.CREATES,
            left.server,
            left.name,
            left.region,
        )

    def _move(self, obj: Any, watched: Watched) -> str:
        """Recreate a node in another region; record the server left behind."""
        old_region = recorded_region(obj)

        def take(notes: Notes, now: str, region: str) -> Notes:
            left = node_records.what_it_leaves(obj, now)
            node_records.move(obj, region)
            return notes.leave(left)

        decision = watched.policy.settle(
            watched.cluster, watched.view, obj, take
        )
        if decision.refusal:
            raise exc.EResourceOperation(
                op='recovering',
                type='node',
                id=obj.id,
                message=decision.refusal,
            )
        LOG.info(
            "Node %s moves from region '%s' to '%s'.",
            obj.id,
            old_region,
            decision.placements[0],
        )
        try:
            return str(self.do_create(obj))
        except exc.EResourceCreation as ex:
            # The old server or stack no longer belongs to the node.
            obj.physical_id = ex.resource_id
            raise exc.EResourceOperation(
                op='recovering',
                type='node',
                id=obj.id,
                message=str(ex),
            ) from ex

    def _refusal(self, what: str, obj: Any, state: State) -> Any:
        """Return an error for an operation in a region that does not work."""
        return exc.EResourceOperation(
            op=what,
            type=self.CREATES,
            id=obj.physical_id,
            message=f'region {recorded_region(obj)} {state.describe()}.',
            resource_id=obj.physical_id,
        )

    def discard(self, owner: Any, left: Left) -> bool:
        """Delete a server or stack left behind, unless a node holds it.

        :param owner: the cluster, whose user and project make the calls.
        :param left: the note about the server or stack.
        :returns: whether the server or stack is gone, or held by a node.
        :raises: ``InternalError`` if the region does not answer.
        """
        ghost = types.SimpleNamespace(
            id=left.node,
            user=owner.user,
            project=owner.project,
            data={'placement': {'region_name': left.region}},
        )
        made = [left.server] if left.server else self.find_made(ghost)
        free = []
        for id_ in made:
            if not holders.is_held(self.identify(ghost, id_)):
                free.append(id_)
        client = getattr(self, self.CLIENT)(ghost)
        for id_ in free:
            self._delete_thing(ghost, id_)
        if any(self._is_there(client, id_) for id_ in free):
            return False
        if free != made:
            return True
        for port in left.ports:
            creation.delete_port(self.network(ghost), port)
        return True

    def _may_be_there(self, obj: Any) -> bool:
        """Tell whether the node's server or stack may still exist."""
        client = getattr(self, self.CLIENT)(obj)
        try:
            return bool(obj.physical_id) and self._is_there(
                client, obj.physical_id
            )
        except exc.InternalError:
            return True

    def _is_there(self, client: Any, made: str) -> bool:
        """Tell whether a server or stack still exists."""
        try:
            thing = getattr(client, f'{self.CREATES}_get')(made)
        except exc.InternalError as ex:
            if ex.code == HTTPStatus.NOT_FOUND:
                return False
            raise
        # Heat also returns stacks that are deleted.
        return bool(thing.status != 'DELETE_COMPLETE')

    def identify(self, obj: Any, id_: str) -> Resource:
        """Return a server or a stack with its id and its names.

        :param obj: a node in the region of the server or stack.
        :param id_: the id of the server or stack.
        :raises: ``InternalError`` if the region does not answer.
        """
        raise NotImplementedError

    def find_made(self, obj: Any) -> list[str]:
        """Search the region of a node for the node's servers or stacks.

        :raises: ``InternalError`` if the region does not answer.
        """
        raise NotImplementedError
