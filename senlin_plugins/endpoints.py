# SPDX-License-Identifier: Apache-2.0

"""Check whether regions have the services that a node needs.

The services are found in Keystone's catalog, and asked. No module of Senlin is
needed.
"""

import time
from collections.abc import Collection
from concurrent import futures
from typing import Any, Final

from keystoneauth1 import exceptions as keystone_exc

#: Seconds before a second request to a service that did not answer. A refused
#: connection fails at once. So without a pause, both requests would fail
#: during a short fault.
PAUSE: Final = 1.0
#: Seconds for a whole check, in addition to the time for one answer.
GRACE: Final = 1.0


def find_faults(
    session: Any,
    in_keystone: Collection[str],
    names: Collection[str],
    services: Collection[str],
    interface: str,
    timeout: float,
    catalog: bool,
) -> dict[str, str]:
    """Check regions, and return what is wrong with them.

    :param session: a session of keystoneauth, whose catalog is used.
    :param in_keystone: the regions that Keystone knows.
    :param names: the regions to check.
    :param services: the services that a region needs.
    :param interface: which endpoints count, such as ``public``.
    :param timeout: seconds in which a service must answer.
    :param catalog: whether it is a fault if the catalog lacks a service.
    :returns: region name -> the fault as text, only for regions that have a
        fault.
    """
    urls = {}
    for name in sorted({*names} & {*in_keystone}):
        for service in services:
            url = find_endpoint(session, name, service, interface)
            urls[name, service] = url
    endpoints = {url for url in urls.values() if url}
    silent = find_silent_endpoints(session, endpoints, timeout)
    faults = {}
    for name in {*names} - {*in_keystone}:
        faults[name] = 'Keystone does not know it'
    for (name, service), url in urls.items():
        if name in faults:
            continue
        if not url and catalog:
            faults[name] = f'its catalog offers no {service}'
        elif url in silent:
            faults[name] = f'{service} does not answer'
    return faults


def find_endpoint(
    session: Any, region: str, service: str, interface: str
) -> str | None:
    """Return the endpoint of a service in a region, if there is one.

    :param session: a session of keystoneauth; the catalog in its token is
        used.
    :param interface: the interface of the endpoint, such as ``public``.
    """
    try:
        url: str | None = session.get_endpoint(
            service_type=service,
            region_name=region,
            interface=interface,
            # Read only the catalog: discovery would need an answer from the
            # service.
            skip_discovery=True,
        )
    except keystone_exc.EndpointNotFound:
        return None
    return url


def find_silent_endpoints(
    session: Any, urls: Collection[str], timeout: float
) -> set[str]:
    """Ask all services at the same time; return those that do not answer.

    If a service does not answer, it is asked again after a pause, within the
    limit. A refusal such as 401 counts as an answer, because the request has
    no token. An error such as 503 does not count as an answer.

    :param session: a session of keystoneauth, for its TLS settings.
    :param urls: the endpoints as the catalog has them.
    :param timeout: seconds to wait for each answer. The limit for all
        requests together is this number plus :data:`GRACE`.
    """
    silent = set(urls)
    deadline = time.monotonic() + timeout + GRACE
    for pause in (0.0, PAUSE):
        if not silent or time.monotonic() + pause >= deadline:
            break
        time.sleep(pause)
        silent -= _find_answering(session, silent, timeout, deadline)
    return silent


def _find_answering(
    session: Any, urls: Collection[str], timeout: float, deadline: float
) -> set[str]:
    """Ask each service once, and return those that answer in time.

    :param deadline: the value of ``time.monotonic()`` at which to stop
        waiting.
    """
    # In an engine, the threads of this pool are green threads.
    pool = futures.ThreadPoolExecutor(len(urls))
    questions = {
        pool.submit(_answers, session, url, timeout): url for url in urls
    }
    left = max(0.0, deadline - time.monotonic())
    done, _ = futures.wait(questions, timeout=left)
    # Do not wait for the threads: if a server sends its headers slowly, line
    # by line, the request never exceeds its timeout. The thread for such a
    # server ends when the connection ends.
    pool.shutdown(wait=False)
    return {questions[question] for question in done if question.result()}


def _answers(session: Any, url: str, timeout: float) -> bool:
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
