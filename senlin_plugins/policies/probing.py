# SPDX-License-Identifier: Apache-2.0

"""Ask the services of regions whether they are there."""

import time
from collections.abc import Collection
from concurrent import futures
from typing import Any, Final

from keystoneauth1 import exceptions as keystone_exc

#: Seconds for which an engine takes the last answer of a service.
REMEMBERED: Final = 30.0
#: A service is away after so many questions without an answer.
TRIES: Final = 2

#: URL -> when it was asked, and whether it answered.
_answers: dict[str, tuple[float, bool]] = {}


def find_silent(
    session: Any, urls: Collection[str], timeout: float
) -> set[str]:
    """Return the services that do not answer, all asked at the same time.

    A refusal such as 401 is an answer: no token is sent. An error such as
    503 is none.

    :param session: a session of keystoneauth, for its TLS settings.
    :param urls: the endpoints as the catalog has them.
    :param timeout: seconds to wait for each answer.
    """
    fresh = time.monotonic() - REMEMBERED
    unknown = [u for u in urls if _answers.get(u, (fresh, True))[0] <= fresh]
    if unknown:
        # Green threads, as everything in an engine.
        with futures.ThreadPoolExecutor(len(unknown)) as pool:
            found = pool.map(
                lambda u: _answers_at(session, u, timeout), unknown
            )
            for url, answered in zip(unknown, found, strict=True):
                _answers[url] = time.monotonic(), answered
    return {url for url in urls if not _answers[url][1]}


def forget() -> None:
    """Forget all answers."""
    _answers.clear()


def _answers_at(session: Any, url: str, timeout: float) -> bool:
    """Tell whether a service answers at one of some questions."""
    for _ in range(TRIES):
        try:
            answer = session.get(
                url,
                authenticated=False,
                timeout=timeout,
                raise_exc=False,
                redirect=False,
                log=False,
            )
        except keystone_exc.ClientException:
            continue
        if answer.status_code < 500:
            return True
    return False
