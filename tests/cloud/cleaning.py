# SPDX-License-Identifier: Apache-2.0

"""Throw away what a test that went wrong has left on the cloud."""

import contextlib
import time

from openstack import exceptions

from tests.cloud import clients, layout, mariadb

#: How long to wait for the services to carry it out, in seconds.
PATIENCE = 30.0

#: What Senlin's own deletion can no longer get at goes with its rows, the
#: rows that others refer to last.
TABLES = (
    'cluster_lock',
    'node_lock',
    'cluster_policy',
    'dependency',
    'action',
    'node',
    'cluster',
)


def sweep() -> None:
    """Delete all stacks, clusters and servers, and what is defined."""
    user = clients.connect(user=layout.USER)
    for stack in user.orchestration.stacks():
        with contextlib.suppress(exceptions.SDKException):
            user.orchestration.delete_stack(stack)
    for cluster in user.clustering.clusters():
        with contextlib.suppress(exceptions.SDKException):
            user.clustering.delete_cluster(cluster, force_delete=True)
    time.sleep(PATIENCE)
    for table in TABLES:
        mariadb.change('senlin', f'DELETE FROM `{table}`')  # noqa: S608
    for region in layout.REGIONS:
        compute = clients.connect(region.name).compute
        for server in compute.servers(all_projects=True):
            with contextlib.suppress(exceptions.SDKException):
                compute.delete_server(server, force=True)
    sweep_definitions()


def definitions() -> list[str]:
    """Return what has been defined beside what the cloud is booted with.

    :returns: a name for each aggregate, flavor, profile and policy.
    """
    tables = [('senlin', 'profile'), ('senlin', 'policy')]
    for region in layout.REGIONS:
        tables += [
            (f'nova_api_{region.name}', table)
            for table in ('aggregates', 'flavors')
        ]
    return [
        f'{table} {name} in {database}'
        for database, table in tables
        for (name,) in mariadb.query(
            database,
            f'SELECT name FROM `{table}`',  # noqa: S608
        )
        if (table, name) != ('flavors', layout.FLAVOR)
    ]


def sweep_definitions() -> None:
    """Delete what :func:`definitions` finds; nothing may use it any more."""
    for region in layout.REGIONS:
        compute = clients.connect(region.name).compute
        for aggregate in compute.aggregates():
            for host in aggregate.hosts:
                compute.remove_host_from_aggregate(aggregate.id, host)
            compute.delete_aggregate(aggregate.id)
        for flavor in compute.flavors():
            if flavor.name != layout.FLAVOR:
                compute.delete_flavor(flavor.id)
    clustering = clients.connect(user=layout.USER).clustering
    for policy in clustering.policies():
        clustering.delete_policy(policy.id)
    for profile in clustering.profiles():
        clustering.delete_profile(profile.id)
