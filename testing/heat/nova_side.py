# SPDX-License-Identifier: Apache-2.0

"""What Nova makes of a request that Heat has sent: the real classes.

Heat runs in a process of its own, so that Nova can be imported here.
"""

import json
import os
import uuid
from typing import Any

# Nova's API package has eventlet patch the whole process, unless told not
# to; the loopback cloud answers from native threads.
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = 'true'  # isort: skip

from nova import context as nova_context
from nova import objects
from nova.api.openstack.compute.schemas import servers
from nova.api.validation import validators

from testing.heat import loopback

HINTS = 'os:scheduler_hints'


def check(request: loopback.Request) -> None:
    """Fail unless Nova accepts and stores the hints of a request.

    :raises AssertionError: when it does not, with what Nova says.
    """
    given = request.hints or {}
    try:
        kept = stored(request)
    except Exception as exc:
        raise AssertionError(
            f'Nova refuses the hints {given}: {type(exc).__name__}: {exc}'
        ) from exc
    wanted = {
        name: value if isinstance(value, list) else [value]
        for name, value in given.items()
    }
    hints = kept['nova_object.data']['scheduler_hints']
    if hints != wanted:
        raise AssertionError(f'Nova stores {hints} instead of {wanted}')


def stored(request: loopback.Request) -> dict[str, Any]:
    """Return what Nova's API database holds of a request, as data.

    The hints pass the schema of nova-api, become a ``RequestSpec`` as before
    each scheduling, and are written and read again as
    ``RequestSpec.create()`` and ``get_by_instance_uuid()`` do.
    """
    objects.register_all()
    data = request.data
    # The schema of os:scheduler_hints is the same in all microversions.
    validators._SchemaValidator(servers.create['properties'][HINTS]).validate(
        data.get(HINTS, {})
    )
    spec = objects.RequestSpec.from_components(
        nova_context.RequestContext('user', request.project, is_admin=False),
        str(uuid.uuid4()),
        {'id': loopback.IMAGE, 'properties': {}},
        objects.Flavor(
            name=loopback.FLAVOR,
            flavorid=loopback.FLAVOR,
            memory_mb=64,
            vcpus=1,
            root_gb=1,
            ephemeral_gb=0,
            swap=0,
            extra_specs={},
        ),
        None,
        None,
        {'scheduler_hints': data.get(HINTS, {})},
        None,
        None,
        project_id=request.project,
        user_id='user',
    )
    text = json.dumps(spec.obj_to_primitive())
    again = objects.RequestSpec.obj_from_primitive(json.loads(text))
    if again.scheduler_hints != spec.scheduler_hints:
        raise AssertionError(f'{text} is read as {again.scheduler_hints}')
    row: dict[str, Any] = json.loads(text)
    return row
