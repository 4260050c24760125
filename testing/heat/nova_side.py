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
    each scheduling, and are written and read again as Nova's database does.
    """
    hints = request.hints or {}
    # The schema of the hints is the same in all microversions.
    schema = servers.create['properties']['os:scheduler_hints']
    validators._SchemaValidator(schema).validate(hints)
    lists = {}
    for name, value in hints.items():
        items = value if isinstance(value, list) else [value]
        # Nova makes numbers strings.
        lists[name] = [str(item) for item in items]
    objects.register_all()
    spec = objects.RequestSpec.from_components(
        nova_context.RequestContext(is_admin=False),
        str(uuid.uuid4()),
        {'id': loopback.IMAGE, 'properties': {}},
        objects.Flavor(),
        None,
        None,
        {'scheduler_hints': hints},
        None,
        None,
        project_id=request.project,
        user_id='user',
    )
    text = json.dumps(spec.obj_to_primitive())
    again = objects.RequestSpec.obj_from_primitive(json.loads(text))
    if again.scheduler_hints != lists:
        raise AssertionError(f'{hints} is stored as {again.scheduler_hints}')
