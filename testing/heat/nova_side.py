# SPDX-License-Identifier: Apache-2.0

"""What Nova makes of a request that Heat has sent: the real classes.

Heat runs in a process of its own, so that Nova can be imported here.
"""

import json
import os
import uuid

# Nova's API package has eventlet patch the whole process, unless told not
# to; the loopback cloud answers from native threads.
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = 'true'  # isort: skip

from nova import context as nova_context
from nova import objects
from nova.api.openstack.compute.schemas import servers
from nova.api.validation import validators

from testing.heat import loopback


def check(request: loopback.Request) -> None:
    """Fail unless Nova accepts and stores the hints of a request.

    The hints pass the schema of nova-api, become a ``RequestSpec`` as before
    each scheduling, and are written and read again as
    ``RequestSpec.create()`` and ``get_by_instance_uuid()`` do.

    :raises AssertionError: when it does not, with what Nova says.
    """
    given = request.hints or {}
    objects.register_all()
    context = nova_context.RequestContext(is_admin=False)
    image = {'id': loopback.IMAGE, 'properties': {}}
    more = {'project_id': request.project, 'user_id': 'user'}
    try:
        # The schema of the hints is the same in all microversions.
        schema = servers.create['properties']['os:scheduler_hints']
        validators._SchemaValidator(schema).validate(given)
        spec = objects.RequestSpec.from_components(
            *(context, str(uuid.uuid4()), image, objects.Flavor()),
            *(None, None, {'scheduler_hints': given}, None, None),
            **more,
        )
        text = json.dumps(spec.obj_to_primitive())
        again = objects.RequestSpec.obj_from_primitive(json.loads(text))
    except Exception as exc:
        raise AssertionError(
            f'Nova refuses the hints {given}: {type(exc).__name__}: {exc}'
        ) from exc
    for name, value in given.items():
        wanted = value if isinstance(value, list) else [value]
        stored = again.scheduler_hints.get(name)
        if stored != wanted:
            raise AssertionError(f'Nova stores {name} as {stored}')
