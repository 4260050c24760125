# SPDX-License-Identifier: Apache-2.0

"""Read lists of Nova's API, page by page. No request changes the cloud."""

import contextlib
from collections.abc import Iterator
from typing import Any

from openstack import exceptions as sdk_exceptions

from openstack_commands.base import progress
from openstack_commands.records.rows import Row, columns


@contextlib.contextmanager
def reading_json() -> Iterator[None]:
    """Convert an error of the JSON reader to an error that names Nova.

    An answer that is not JSON can be, for example, an error page of a proxy.

    :raises SDKException: in place of an error of the JSON reader.
    """
    try:
        yield
    except ValueError as exc:
        raise sdk_exceptions.SDKException(
            'Nova answers something that is no JSON: see whether its '
            'endpoint in Keystone is right, and whether a proxy answers '
            'instead'
        ) from exc


def ask(nova: Any, path: str, version: str, **query: Any) -> Any:
    """Return Nova's JSON answer to a GET request.

    :param nova: the SDK's proxy for Nova.
    :param version: the microversion of the request.
    :raises HttpException: if Nova refuses the request.
    """
    answer = nova.get(path, params=query, microversion=version)
    text = f'Nova answers {answer.status_code}'
    sdk_exceptions.raise_from_response(answer, text)
    with reading_json():
        return answer.json()


def listed(
    nova: Any, path: str, noun: str, version: str, **query: Any
) -> Iterator[Row]:
    """Yield the rows of a list of Nova's API.

    The names of the columns have lower case and underscores. The SDK's own
    resources are not used, because an older SDK knows fewer columns.

    :param noun: the key of the list in Nova's answer, such as ``servers``.
    """
    far = progress.Progress()
    number = 0
    while True:
        answer = ask(nova, path, version, **query)
        rows = answer[noun]
        number += len(rows)
        far.tell(number, f'{noun} read')
        for row in rows:
            yield columns(row)
        if f'{noun}_links' not in answer:
            return
        query['marker'] = rows[-1]['id']
