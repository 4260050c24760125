# SPDX-License-Identifier: Apache-2.0

"""Nodes whose region is out: leave them, move them, clear up after them.

A policy of version 1.1 says in a node's data that its region is dead, and
where the node goes if it is recreated. It also keeps what is left behind.
"""

import types
from typing import Any

from oslo_log import log as logging
from senlin.common import consts
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.objects import node as node_objects
from senlin.profiles import base

from senlin_plugins.profiles.records import is_out, placement, recorded_region

LOG = logging.getLogger(__name__)

#: Seconds to wait until what is left behind is gone.
PATIENCE = 60


class Moving(base.Profile):  # type: ignore[misc]  # untyped base
    """Mix-in for a profile whose nodes can change their region."""

    #: What a node is made of, and the service that creates and deletes it.
    CREATES = ''
    CLIENT = ''

    def do_check(self, obj: Any) -> Any:
        """Check a node, unless its region is known to be out."""
        self._refuse_if_out(obj, 'checking')
        return super().do_check(obj)

    def do_delete(self, obj: Any, **params: Any) -> Any:
        """Delete what a node is made of, or leave it in a dead region.

        :param obj: the node.
        :param params: the parameters of Senlin's own method.
        :returns: true.
        :raises: ``EResourceDeletion`` if that failed.
        """
        if not is_out(obj):
            return super().do_delete(obj, **params)
        LOG.warning(
            '%(kind)s %(id)s of node %(node)s is left behind in region '
            "'%(region)s', which is out. It goes when the region is back.",
            {
                'kind': self.CREATES,
                'id': obj.physical_id,
                'node': obj.id,
                'region': recorded_region(obj),
            },
        )
        return True

    def do_recover(self, obj: Any, **options: Any) -> Any:
        """Recover a node, in another region if a policy has said so.

        :param obj: the node.
        :param options: ``operation`` and its parameters.
        :returns: the id of what it is made of now, and whether that worked.
        :raises: ``EResourceOperation`` if it did not.
        """
        target = placement(obj).get('move_to')
        operation = options.get('operation') or consts.RECOVER_RECREATE
        if target and operation.upper() == consts.RECOVER_RECREATE:
            return self._move(obj, target), True
        self._refuse_if_out(obj, 'recovering')
        return super().do_recover(obj, **options)

    def _move(self, obj: Any, region: str) -> str:
        """Create a node anew in another region; the policy knows the old."""
        LOG.info(
            "Node %(node)s moves from region '%(old)s' to '%(new)s'.",
            {'node': obj.id, 'old': recorded_region(obj), 'new': region},
        )
        data = {k: v for k, v in obj.data.items() if k != 'internal_ports'}
        kept = {k: v for k, v in placement(obj).items() if k == 'refused'}
        data['placement'] = {**kept, 'region_name': region}
        # In one step: an engine that is killed leaves a node without a
        # server in its new region. In memory the old id stays, by which
        # Senlin sees that the node was recreated.
        node_objects.Node.update(
            senlin_context.get_admin_context(),
            obj.id,
            {'data': data, 'physical_id': None},
        )
        obj.data = data
        try:
            return str(self.do_create(obj))
        except exc.EResourceCreation as ex:
            raise exc.EResourceOperation(
                op='recovering',
                type='node',
                id=obj.id,
                message=str(ex),
                resource_id=ex.resource_id,
            ) from ex

    def _refuse_if_out(self, obj: Any, what: str) -> None:
        """Fail at once where nobody would answer."""
        if is_out(obj):
            known = placement(obj)
            raise exc.EResourceOperation(
                op=what,
                type=self.CREATES,
                id=obj.physical_id,
                message=f"region '{known['region_name']}' is out: "
                f'{known["out"]}',
                resource_id=obj.physical_id,
            )

    def discard(self, owner: Any, left: Any) -> None:
        """Delete what a node has left behind.

        :param owner: the cluster, whose user and project delete it.
        :param left: what it is, a ``Left``.
        :raises: ``InternalError`` if it is not gone.
        """
        ghost = types.SimpleNamespace(
            id=left.node,
            user=owner.user,
            project=owner.project,
            data={'placement': {'region_name': left.region}},
        )
        made = left.server or self.find_lost(ghost, left.name)
        if made:
            client = getattr(self, self.CLIENT)(ghost)
            getattr(client, f'{self.CREATES}_delete')(made, True)
            getattr(client, f'wait_for_{self.CREATES}_delete')(made, PATIENCE)
        for port in left.ports:
            if port.get('remove'):
                floating = port.get('floating') or {}
                if floating.get('remove'):
                    self.network(ghost).floatingip_delete(floating['id'])
                self.network(ghost).port_delete(port['id'])

    def find_lost(self, obj: Any, name: str) -> str | None:
        """Return the id of what was made for a node that knows none.

        :param obj: the node.
        :param name: its name.
        """
        return None
