# SPDX-License-Identifier: Apache-2.0

"""Options of the group ``[heat_hints]`` in ``heat.conf``."""

from typing import Any

from oslo_config import cfg, types

from heat_hints.deciding import hints
from os_placement_plugins import options, stack_hints

GROUP = cfg.OptGroup(
    'heat_hints',
    title='Stack scheduler hints',
    help=(
        'Options for the scheduler hints that tell Nova which stack a server '
        'belongs to, and for the providers that add further hints. '
        'heat-engine reads these options when it starts.'
    ),
)

OPTS = [
    cfg.BoolOpt(
        'enabled',
        default=False,
        help="""
Send stack scheduler hints.

If this option is on, each server that Heat creates carries scheduler hints
that identify its stack and its resource, and the hints of the configured
providers. When Heat starts, it logs one WARNING for each resource type that
this package overrides.

Heat's own option ``[DEFAULT] stack_scheduler_hints`` sends the same six hints
without this package. If both options are on, Heat's own option covers the
resources that ``resource_types`` or ``scope`` leaves out.
""",
    ),
    cfg.ListOpt(
        'hints',
        default=list(stack_hints.NAMES),
        item_type=types.String(choices=list(stack_hints.NAMES)),
        help="""
The identifiers to send. If the list is empty, Heat sends only the providers'
hints.

With version 2.100 or later of Nova's API, tenants can see the hints of their
servers, including the names of the stack and the resource.
""",
    ),
    cfg.ListOpt(
        'resource_types',
        default=['OS::Nova::Server', 'AWS::EC2::Instance'],
        help="""
The resource types whose requests carry hints.

These are ``OS::Nova::Server``, ``AWS::EC2::Instance``, ``OS::Cinder::Volume``
(Cinder then gets the hints), and types of other plug-ins that send scheduler
hints.

If Heat does not know one of the types, heat-engine does not start. If a type
sends no scheduler hints, heat-engine logs an ERROR.
""",
    ),
    cfg.StrOpt(
        'scope',
        default=hints.SCOPE_ALL,
        choices=[
            (hints.SCOPE_ALL, 'every resource of these types'),
            (hints.SCOPE_OPT_IN, 'only with "metadata: {heat_hints: true}"'),
            (hints.SCOPE_OPT_OUT, 'not with "metadata: {heat_hints: false}"'),
        ],
        help="""
The resources that get hints.

Only the resource's own metadata in its template counts, even in nested stacks.
A resource does not inherit the metadata of a group or a nested stack. If this
option excludes a resource, Heat creates it as it would without this package.
""",
    ),
    cfg.StrOpt(
        'path_format',
        default=stack_hints.PATH_LIST,
        choices=[
            (stack_hints.PATH_LIST, '["root", "resource,stack"]'),
            (
                stack_hints.PATH_JSON,
                'one string, [[null,"root"],["resource","stack"]]',
            ),
        ],
        help="""
The form of ``heat_path_in_stack``.

If your scheduler plug-in was written for Heat's own option, choose ``list``.
If your plug-in expects the tuples of the Heat specification, choose ``json``.
""",
    ),
    cfg.StrOpt(
        'user_hints',
        default=hints.USER_OVERRIDE,
        choices=[
            (hints.USER_OVERRIDE, "Heat's identifiers replace the template's"),
            (hints.USER_KEEP, "the template's stay: a tenant can claim any"),
        ],
        help="""
The rule for a template that sets one of the six identifiers itself.

If ``signing_key`` is set, the rule covers all hints whose names begin with
``heat_``, and ``keep`` is not possible. A template's other hints always
replace the hints of providers with the same names.
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
                'not start heat-engine if one of resource_types gets no hints',
            ),
        ],
        help="""
The rule for failures.

The rule applies if heat-engine cannot create a provider object, or if a
provider fails. It applies if a provider returns more hints than the limits
allow, or a hint or a value that it may not set. It also applies if Heat cannot
look up the root stack or sign the hints.
""",
    ),
    cfg.ListOpt(
        'providers',
        default=[],
        help="""
The providers to ask for hints, in this order.

heat-engine asks each provider once for each server, just before it sends the
request to Nova, and waits for the answer. A provider cannot set one of the six
identifiers, or a hint that an earlier provider has set.

The names are those of the entry-point namespace ``heat_hints.providers``. This
package contains no provider.
""",
    ),
    cfg.IntOpt(
        'provider_timeout',
        default=10,
        min=1,
        help="""
The maximum time, in seconds, that a provider may take to answer.

If a provider takes longer, it counts as failed, and ``on_error`` decides what
heat-engine does. When a worker uses a provider for the first time, the time to
create the provider object also counts.
""",
    ),
    cfg.ListOpt(
        'allowed_nova_hints',
        default=[],
        item_type=types.String(regex=f'^{hints.NOVA_PATTERN}$'),
        help="""
The names of Nova's own hints that providers may set.

If a provider sets a wrong value, the server can start on the wrong host. The
names are ``group``, ``same_host``, ``different_host``, ``query``,
``build_near_host_ip``, ``cidr``, ``target_cell``, ``different_cell``, and all
that begin with ``_nova_``.
""",
    ),
    options.SIGNING_KEY,
]


def list_opts() -> list[tuple[cfg.OptGroup, list[Any]]]:
    """Return the options for ``oslo-config-generator``."""
    return [(GROUP, OPTS)]


def check(config: cfg.ConfigOpts) -> None:
    """Raise a ConfigFileValueError if options are wrong or contradictory."""
    options.check(config, list_opts())
    group = config.heat_hints
    if group.signing_key and group.user_hints == hints.USER_KEEP:
        raise cfg.ConfigFileValueError(
            '[heat_hints] Value for option user_hints is not valid: it is '
            '"keep", and signing_key is set: heat-engine would sign hints '
            'that a tenant made up. Set user_hints = override.'
        )
