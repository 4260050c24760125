# SPDX-License-Identifier: Apache-2.0

"""The services of regions: Keystone's catalog, and whether they answer."""

import time
from collections.abc import Collection
from concurrent import futures
from typing import Any, Final

from keystoneauth1 import exceptions as keystone_exc

#: Seconds before each further question to a service that did not answer. A
#: refused connection takes no time: without a pause it would be one look.
PAUSES: Final = (1.0, 3.0)
#: Seconds for a whole look beside the time in which a service must answer.
GRACE: Final = 1.0


def find(
    session: Any, region: str, service: str, interface: str
) -> str | None:
    """Return the endpoint of a service in a region, if there is one.

    :param session: a session of keystoneauth; the catalog in its token is
        used.
    :param interface: which endpoint, such as ``public``.
    """
    try:
        url: str | None = session.get_endpoint(
            service_type=service,
            region_name=region,
            interface=interface,
            # Only the catalog counts, not whether the service answers.
            skip_discovery=True,
        )
    except keystone_exc.EndpointNotFound:
        return None
    return url


def find_silent(
    session: Any, urls: Collection[str], timeout: float
) -> set[str]:
    """Return the services that do not answer, all asked at the same time.

    Within the limit, a service is asked again, after pauses, before it counts
    as silent. A refusal such as 401 counts as an answer, because no token is
    sent. An error such as 503 does not count.

    :param session: a session of keystoneauth, for its TLS settings.
    :param urls: the endpoints as the catalog has them.
    :param timeout: seconds to wait for each answer; :data:`GRACE` more is
        the limit of all tries together.
    """
    silent = set(urls)
    deadline = time.monotonic() + timeout + GRACE
    for pause in (0.0, *PAUSES):
        if not silent or time.monotonic() + pause >= deadline:
            break
        time.sleep(pause)
        silent -= _find_answering(session, silent, timeout, deadline)
    return silent


def _find_answering(
    session: Any, urls: Collection[str], timeout: float, deadline: float
) -> set[str]:
    """Return the services that answer in time, each asked once.

    :param deadline: when to stop waiting, as ``time.monotonic`` counts.
    """
    # Green threads, as everything in an engine.
    pool = futures.ThreadPoolExecutor(len(urls))
    questions = {
        pool.submit(_answers, session, url, timeout): url for url in urls
    }
    left = max(0.0, deadline - time.monotonic())
    done, _ = futures.wait(questions, timeout=left)
    # Who sends one line after the other is never late, and never ready. The
    # thread ends with him.
    pool.shutdown(wait=False)
    return {questions[question] for question in done if question.result()}


def _answers(session: Any, url: str, timeout: float) -> bool:
    """Tell whether a service answers."""
    try:
        answer = session.get(
            url,
            authenticated=False,
            timeout=timeout,
            raise_exc=False,
            redirect=False,
            log=False,
            # Only the status counts, so the body is not loaded.
            stream=True,
        )
    except (keystone_exc.ClientException, ValueError):
        # ValueError: the URL is not valid.
        return False
    answer.close()
    return bool(answer.status_code < 500)
