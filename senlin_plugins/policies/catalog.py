# SPDX-License-Identifier: Apache-2.0

"""Which services a region offers, by Keystone's catalog."""

from typing import Any

from keystoneauth1 import exceptions as keystone_exc
from oslo_config import cfg
from oslo_log import log as logging

LOG = logging.getLogger(__name__)


def offers(keystone: Any, region: str, services: list[str]) -> bool:
    """Tell whether a region's catalog has all of the services.

    :param keystone: Senlin's client for Keystone.
    :param region: the region's name.
    :param services: service types.
    :returns: true if each of them has an endpoint there.
    """
    missing = [
        service
        for service in services
        if not _has_endpoint(keystone.session, region, service)
    ]
    if missing:
        LOG.warning(
            "Region '%(region)s' is not used: its catalog offers no "
            '%(services)s endpoint. Add one, remove the region from the '
            'policy, or set check_catalog = false in [senlin_plugins].',
            {'region': region, 'services': ', '.join(missing)},
        )
    return not missing


def _has_endpoint(session: Any, region: str, service: str) -> bool:
    """Look a service up in the catalog of the session's token."""
    try:
        url = session.get_endpoint(
            service_type=service,
            region_name=region,
            interface=cfg.CONF.authentication.interface,
            # Only the catalog counts, not whether the service answers.
            skip_discovery=True,
        )
    except keystone_exc.EndpointNotFound:
        return False
    return url is not None
