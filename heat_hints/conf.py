# SPDX-License-Identifier: Apache-2.0

"""The options of ``heat_hints``, in ``heat.conf``.

Importing this module does not import Heat.
"""

from typing import Final

from oslo_config import cfg

from os_placement_plugins import options

GROUP: Final = cfg.OptGroup(
    'heat_hints',
    title='Stack scheduler hints',
    help="""
Options for the scheduler hints that tell Nova which stack a server belongs to,
and for the providers that add further hints. heat-engine reads these options
when it starts.
""",
)

OPTS: Final = (
    cfg.BoolOpt(
        'enabled',
        default=False,
        help="""
Send stack scheduler hints.

If this option is on, each server that Heat creates carries scheduler hints
that identify its stack and its resource, and the hints of the configured
providers. A server is a resource of the type ``OS::Nova::Server`` or
``AWS::EC2::Instance``, or of a type whose class derives from these. When Heat
starts, it logs one WARNING for each resource type that this package overrides.

Heat's own option ``[DEFAULT] stack_scheduler_hints`` sends the same six hints
without this package. If both options are on, Heat's own option covers volumes.
""",
    ),
    cfg.StrOpt(
        'on_error',
        default='ignore',
        choices=[
            ('ignore', 'log a WARNING, and leave the missing hints out'),
            (
                'fail',
                'let the resource fail before Heat sends anything to Nova; do '
                'not start heat-engine if servers get no hints',
            ),
        ],
        help="""
The rule for failures.

The rule applies if heat-engine cannot create a provider object, or if a
provider fails, or returns a hint or a value that it may not set. It also
applies if Heat cannot look up the root stack or sign the hints. If a provider
fails when heat-engine starts, heat-engine logs an ERROR, and starts.
""",
    ),
    cfg.ListOpt(
        'providers',
        default=[],
        help="""
The providers to ask for hints, in this order.

heat-engine asks each provider once for each server, just before it sends the
request to Nova, and waits for the answer. A provider cannot set one of the six
identifiers, a hint that Nova acts on itself, such as ``group``, or a hint that
an earlier provider has set.

The names are those of the entry-point namespace ``heat_hints.providers``. This
package contains no provider.
""",
    ),
    cfg.IntOpt(
        'provider_timeout',
        default=10,
        min=1,
        help="""
The maximum time, in seconds, that a provider may take.

If a provider takes longer to answer, it counts as failed, and ``on_error``
decides what heat-engine does. When a worker uses a provider for the first
time, the time to create the provider object also counts. The import of the
provider and its method ``check`` have no limit.
""",
    ),
    options.SIGNING_KEY,
)


def list_opts() -> list[tuple[cfg.OptGroup, tuple[cfg.Opt, ...]]]:
    """Return the options, for ``oslo-config-generator``.

    :returns: each group and its options.
    """
    return [(GROUP, OPTS)]
