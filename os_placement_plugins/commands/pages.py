# SPDX-License-Identifier: Apache-2.0

"""The lists of Nova's API, page by page; only requests that change nothing."""

from collections.abc import Iterator
from typing import Any

from openstack import exceptions as sdk_exceptions

from os_placement_plugins.records.rows import Row, columns


def told(answer: Any, service: str) -> Any:
    """Return what a service answers.

    :raises HttpException: which names the service, if it refuses.
    """
    text = f'{service} answers {answer.status_code}'
    sdk_exceptions.raise_from_response(answer, text)
    return answer.json()


def ask(nova: Any, path: str, version: str, **query: Any) -> Any:
    """Return what Nova answers to a GET.

    :param nova: the SDK's proxy.
    :param version: the microversion.
    """
    answer = nova.get(path, params=query, microversion=version)
    return told(answer, 'Nova')


def listed(
    nova: Any, path: str, noun: str, version: str, **query: Any
) -> Iterator[Row]:
    """Yield the rows of a list, their columns in one form.

    Not as the SDK's own resources: an older SDK knows fewer columns.

    :param noun: what Nova calls the objects in the answer.
    """
    while True:
        answer = ask(nova, path, version, **query)
        found = answer[noun]
        yield from map(columns, found)
        if found and noun == 'server_groups':
            # They have pages, but no links.
            query['offset'] = query.get('offset', 0) + len(found)
        elif f'{noun}_links' in answer:
            query['marker'] = found[-1]['id']
        else:
            return
