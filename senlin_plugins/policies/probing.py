# SPDX-License-Identifier: Apache-2.0

"""Ask the services of regions whether they are there."""

import time
from collections.abc import Collection
from concurrent import futures
from typing import Any, Final

from keystoneauth1 import exceptions as keystone_exc

#: Seconds for which an engine trusts that a service answers.
REMEMBERED: Final = 30.0
#: A service is away after so many questions without an answer.
TRIES: Final = 2

NEVER: Final = float('-inf')

#: URL -> when it last answered.
_answered: dict[str, float] = {}


def find_silent(
    session: Any,
    urls: Collection[str],
    doubted: Collection[str],
    timeout: float,
) -> set[str]:
    """Return the services that do not answer, all asked at the same time.

    A refusal such as 401 is an answer: no token is sent. An error such as
    503 is none.

    :param session: a session of keystoneauth, for its TLS settings.
    :param urls: the endpoints as the catalog has them.
    :param doubted: those that did not answer before, to any engine.
    :param timeout: seconds to wait for each answer.
    """
    for url in doubted:
        _answered.pop(url, None)
    now = time.monotonic()
    asked = [u for u in urls if _answered.get(u, NEVER) + REMEMBERED <= now]
    if not asked:
        return set()
    # Green threads, as everything in an engine.
    with futures.ThreadPoolExecutor(len(asked)) as pool:
        answers = pool.map(lambda url: _answers(session, url, timeout), asked)
        found = dict(zip(asked, answers, strict=True))
    _answered.update((url, now) for url, answer in found.items() if answer)
    return {url for url, answer in found.items() if not answer}


def _answers(session: Any, url: str, timeout: float) -> bool:
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
