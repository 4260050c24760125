# SPDX-License-Identifier: Apache-2.0

"""Talk to the cloud, as the administrator or as a user."""

import os

import openstack
from openstack import connection

from tests.cloud import layout


def connect(
    region: str = layout.REGIONS[0].name,
    user: str = layout.ADMIN,
) -> connection.Connection:
    """Return a connection to the APIs of one region.

    It logs in when it is used first.
    """
    # A proxy of the caller's does not lead here.
    os.environ['no_proxy'] = layout.ADDRESS
    return openstack.connect(
        load_yaml_config=False,
        load_envvars=False,
        region_name=region,
        auth={
            'auth_url': f'{layout.url("keystone")}/v3',
            'username': user,
            'password': layout.PASSWORD,
            'project_name': user,
            'user_domain_id': 'default',
            'project_domain_id': 'default',
        },
        api_timeout=60,
    )
