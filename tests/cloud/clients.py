# SPDX-License-Identifier: Apache-2.0

"""Talk to the cloud, as the administrator or as a user."""

import os

import openstack
from openstack import connection

from tests.cloud import layout


def connect(
    region: str = layout.REGIONS[0].name,
    user: str = layout.ADMIN,
    project: str | None = None,
    compute_version: str | None = None,
) -> connection.Connection:
    """Return a connection to the APIs of one region.

    :param region: the region's name.
    :param user: who logs in.
    :param project: the project; by default that of the user's name.
    :param compute_version: the version of Nova's API; the SDK's own choice
        by default.
    :returns: the connection; it logs in when it is used first.
    """
    # A proxy of the caller's does not lead here.
    os.environ['no_proxy'] = layout.ADDRESS
    return openstack.connect(
        load_yaml_config=False,
        load_envvars=False,
        region_name=region,
        compute_default_microversion=compute_version,
        auth={
            'auth_url': f'{layout.url("keystone")}/v3',
            'username': user,
            'password': layout.PASSWORD,
            'project_name': project or user,
            'user_domain_id': 'default',
            'project_domain_id': 'default',
        },
        api_timeout=60,
    )
