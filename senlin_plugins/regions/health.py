# SPDX-License-Identifier: Apache-2.0

"""Look at regions: whether what a profile needs is there."""

from collections.abc import Collection
from typing import Any

from oslo_config import cfg

from senlin_plugins import conf
from senlin_plugins.planning.region_state import Cause, Fault
from senlin_plugins.regions import endpoints


def look(
    keystone: Any, profile: Any, names: Collection[str], probe: bool = True
) -> dict[str, Fault]:
    """Return what is wrong with regions now.

    :param keystone: Senlin's client for Keystone, of the cluster's owner.
    :param profile: the profile of the cluster, which is region-aware.
    :param probe: whether services must also answer.
    :returns: region name -> what is wrong, without those that work.
    """
    group = cfg.CONF[conf.GROUP]
    interface = cfg.CONF.authentication.interface
    known = set(keystone.validate_regions(sorted(names)))
    urls = {
        (name, service): endpoints.find(
            keystone.session, name, service, interface
        )
        for name in sorted(known)
        for service in profile.required_services()
    }
    asked = {url for url in urls.values() if url and probe}
    silent = endpoints.find_silent(
        keystone.session, asked, group.region_timeout
    )
    faults = {name: Fault(Cause.UNKNOWN) for name in set(names) - known}
    for (name, service), url in urls.items():
        dead = service == profile.CLIENT
        if url in silent:
            fault = Fault(Cause.NO_ANSWER, service, dead)
        elif not url and group.check_catalog:
            fault = Fault(Cause.MISSING, service, dead)
        else:
            continue
        # That by which nodes are deleted matters more than the rest.
        if dead or name not in faults:
            faults[name] = fault
    return faults
