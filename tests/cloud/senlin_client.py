# SPDX-License-Identifier: Apache-2.0

"""Senlin as a user knows it, by its REST API."""

import time

from openstack import connection

#: How long an action may take, in seconds. Senlin 16.0.0 can leave an action
#: running for ever on MariaDB; the tests say so instead of waiting with it.
PATIENCE = 100.0


class ActionHangs(AssertionError):
    """An action has not ended in time."""


class Senlin:
    """The clustering service of one user.

    :param user: the user's connection.
    """

    def __init__(self, user: connection.Connection) -> None:
        self._api = user.clustering

    def get(self, path: str) -> dict:
        """Return what is found under a path.

        :param path: behind ``/v1``.
        """
        return self._answer(self._api.get(path))

    def create(self, kind: str, **values: object) -> dict:
        """Make a profile, a policy, a cluster, a node or a receiver.

        :param kind: what, in the singular.
        :param values: its attributes.
        :returns: it, with the id of the action that makes it, if there is
            one, under ``action``.
        """
        response = self._api.post(f'/{plural(kind)}', json={kind: values})
        made = self._answer(response)[kind]
        return {**made, 'action': action_of(response)}

    def act(self, path: str, name: str, **values: object) -> str:
        """Ask for an action on a cluster or a node.

        :param path: which one.
        :param name: the action, for example ``scale_out``.
        :param values: what it needs.
        :returns: the id of the action.
        """
        response = self._api.post(f'{path}/actions', json={name: values})
        return self._answer(response)['action']

    def try_to_act(self, path: str, name: str, **values: object) -> int:
        """Ask for an action and return the status of the answer."""
        response = self._api.post(f'{path}/actions', json={name: values})
        return response.status_code

    def delete(self, path: str, force: bool = False) -> str:
        """Delete something.

        :param path: what.
        :param force: whether it may be in the middle of something.
        :returns: the id of the action; empty if there is none.
        """
        body = {'json': {'force': True}} if force else {}
        response = self._api.delete(path, **body)
        if response.status_code >= 400:
            raise AssertionError(f'{response.status_code}: {response.text}')
        return action_of(response)

    def nodes(self, cluster: str) -> list[dict]:
        """Return the nodes of a cluster, with their data."""
        listed = self.get(f'/nodes?cluster_id={cluster}')['nodes']
        return [self.get(f'/nodes/{one["id"]}')['node'] for one in listed]

    def wait(self, action: str, timeout: float = PATIENCE) -> dict:
        """Wait for an action to end.

        :param action: its id.
        :param timeout: seconds.
        :returns: the action.
        :raises ActionHangs: when it does not end in time.
        """
        deadline = time.monotonic() + timeout
        while True:
            found = self.get(f'/actions/{action}')['action']
            if found['status'] in ('SUCCEEDED', 'FAILED', 'CANCELLED'):
                return found
            if time.monotonic() > deadline:
                raise ActionHangs(
                    f'Senlin left {found["action"]} {action} in '
                    f'{found["status"]} for {timeout:.0f} s, owned by '
                    f'{found["owner"]}'
                )
            time.sleep(0.3)

    @staticmethod
    def _answer(response: object) -> dict:
        """Return the content of an answer; raise if it is a refusal."""
        if response.status_code >= 400:
            raise AssertionError(f'{response.status_code}: {response.text}')
        return response.json()


def plural(kind: str) -> str:
    """Return the name of a collection."""
    return 'policies' if kind == 'policy' else f'{kind}s'


def action_of(response: object) -> str:
    """Return the id of the action that an answer points at."""
    location = response.headers.get('Location', '')
    return location.rpartition('/')[2] if '/actions/' in location else ''
