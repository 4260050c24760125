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
        'What heat-engine tells the Nova scheduler about the stack that a '
        'server belongs to, and the providers that add hints of their own. '
        'The options are read when heat-engine starts.'
    ),
)

OPTS = [
    cfg.BoolOpt(
        'enabled',
        default=False,
        help="""
Send stack scheduler hints.

Each server that Heat creates then carries scheduler hints that identify its
stack and its resource, and the hints of the configured providers. Heat logs
one WARNING for each overridden resource type when it starts.

Related options:

* ``[DEFAULT] stack_scheduler_hints``: Heat's own option sends six fixed
  hints without this package. Do not set both.
""",
    ),
    cfg.ListOpt(
        'hints',
        default=list(stack_hints.NAMES),
        item_type=types.String(choices=list(stack_hints.NAMES)),
        help="""
The identifiers to send; an empty list sends the providers' hints only.

From Nova API version 2.100 on, a server shows its hints to the tenant, with
the names of stack and resource.
""",
    ),
    cfg.ListOpt(
        'resource_types',
        default=['OS::Nova::Server', 'AWS::EC2::Instance'],
        help="""
The resource types whose requests carry hints.

Possible values:

* ``OS::Nova::Server``, ``AWS::EC2::Instance``, ``OS::Cinder::Volume`` (Cinder
  then gets the hints), and types of other plug-ins that send scheduler hints.
  heat-engine does not start with a type that it does not know. It logs an
  ERROR for a type that sends no scheduler hints.
""",
    ),
    cfg.StrOpt(
        'scope',
        default=hints.SCOPE_ALL,
        choices=[
            (hints.SCOPE_ALL, 'every resource of these types'),
            (
                hints.SCOPE_OPT_IN,
                'only resources with "metadata: {heat_hints: true}"',
            ),
            (
                hints.SCOPE_OPT_OUT,
                'all but resources with "metadata: {heat_hints: false}"',
            ),
        ],
        help="""
Which resources get hints.

The resource's own metadata in its template decides, in nested stacks too;
the metadata of a group or of a nested stack is not inherited. A resource
that is left out is created as stock Heat creates it.
""",
    ),
    cfg.StrOpt(
        'path_format',
        default=stack_hints.PATH_LIST,
        choices=[
            (
                stack_hints.PATH_LIST,
                'a list of strings, ["root", "resource,stack"], as '
                "Heat's own option sends it",
            ),
            (
                stack_hints.PATH_JSON,
                'one string, [[null,"root"],["resource","stack"]], '
                'unambiguous whatever the names are',
            ),
        ],
        help="""
How ``heat_path_in_stack`` is written.

A scheduler that was written for Heat's own option reads the list. The list
cannot be read back if a resource that makes a nested stack has a comma in its
name, because Heat puts this name into the stack's name. Nova turns a list of
one element into a string.
""",
    ),
    cfg.StrOpt(
        'user_hints',
        default=hints.USER_OVERRIDE,
        choices=[
            (
                hints.USER_OVERRIDE,
                "Heat's identifiers replace the template's",
            ),
            (
                hints.USER_KEEP,
                "the template's stay; a tenant can then claim to be any stack",
            ),
            (
                hints.USER_REJECT,
                'the template is not valid, with a clear error',
            ),
        ],
        help="""
What happens when a template sets one of the six identifiers itself.

With a ``signing_key`` the same holds for all hints whose names begin with
``heat_``, and ``keep`` is not possible. Other hints of a template are never
touched.

Related options:

* ``hint_precedence``: who wins if a provider sets another hint, too.
""",
    ),
    cfg.StrOpt(
        'hint_precedence',
        default=hints.FIRST_TEMPLATE,
        choices=[
            (hints.FIRST_TEMPLATE, "the template's hint is sent"),
            (hints.FIRST_PROVIDER, "the provider's hint is sent"),
        ],
        help="""
Who wins if a template and a provider set the same hint.

This is about all names but the six identifiers, which Heat sets.
""",
    ),
    cfg.StrOpt(
        'on_error',
        default='ignore',
        choices=[
            (
                'ignore',
                'log a WARNING and create the server without the part that '
                'failed',
            ),
            (
                'fail',
                'fail the resource before anything is sent to Nova; do not '
                'start heat-engine if a type of resource_types gets no hints',
            ),
        ],
        help="""
What happens if a provider fails, cannot be made or sets a hint that it may
not set, or if a stack's root cannot be looked up.
""",
    ),
    cfg.ListOpt(
        'providers',
        default=[],
        help="""
The providers that are asked for hints, in this order.

heat-engine asks each provider once for each server, just before it sends the
request, and waits for the answer. A provider cannot set one of the six
identifiers, nor a hint that an earlier provider has set.

Related options:

* ``provider_timeout``: how long heat-engine waits.
* ``allowed_nova_hints``: what of Nova's own hints providers may set.

Possible values:

* Names from the entry-point namespace ``heat_hints.providers``. This package
  brings ``mapping_file``.
""",
    ),
    cfg.IntOpt(
        'provider_timeout',
        default=10,
        min=1,
        help="""
How long a provider may take to answer, in seconds.

A provider that takes longer has failed, and ``on_error`` decides. The first
answer includes the time in which a worker makes the provider.
""",
    ),
    cfg.ListOpt(
        'allowed_nova_hints',
        default=[],
        item_type=types.String(regex=f'^{hints.NOVA_PATTERN}$'),
        help="""
The hints that Nova itself acts on and that providers may set.

Nova looks up servers, groups and hosts by these names. A wrong value of a
provider can fail a server, or put it on the wrong host.

Possible values:

* Any of ``group``, ``same_host``, ``different_host``, ``query``,
  ``build_near_host_ip``, ``cidr``, ``target_cell``, ``different_cell``, and
  names that begin with ``_nova_``.
""",
    ),
    cfg.StrOpt(
        'mapping_file',
        default=None,
        help="""
The YAML file that the provider ``mapping_file`` reads.

The file is read again after each change. If the new content cannot be used,
an ERROR is logged and the last good content stays in force.

Related options:

* ``providers`` must name ``mapping_file``.
""",
    ),
    cfg.Opt(
        'signing_key',
        type=options.SigningKeys(),
        default=[],
        secret=True,
        help="""
The keys that nova-scheduler recognises Heat's hints by.

With a key, heat-engine sends the hint ``heat_signature`` as well, and always
``heat_resource_uuid``, which the signature binds. Names that begin with
``heat_`` are then reserved. A nova-scheduler with the same key believes no
hints that a tenant made up.

Possible values:

* Empty: the hints are not signed.
* A list of keys of at least 32 characters each, without ``$`` and commas,
  for example from ``openssl rand -hex 32``. heat-engine signs with the
  first; nova-scheduler believes any of them.

Related options:

* ``[heat_hints] signing_key`` in nova.conf: the same line.
* ``user_hints`` cannot be ``keep``: Heat would sign what a tenant claims.
""",
    ),
]

#: Two values that cannot stand together.
KEEP_AND_KEY = (
    '[heat_hints] Value for option user_hints is not valid: it is "keep", and '
    'signing_key is set: heat-engine would sign what a tenant claims. Set '
    'user_hints = override or reject.'
)


def list_opts() -> list[tuple[cfg.OptGroup, list[Any]]]:
    """Return the options for ``oslo-config-generator``."""
    return [(GROUP, OPTS)]


def check(config: cfg.ConfigOpts) -> None:
    """Raise an error if a value is wrong, alone or beside another.

    :param config: the configuration, with the options registered.
    :raises ConfigFileValueError: with a text that names the options.
    """
    options.check(config, list_opts())
    group = config.heat_hints
    if group.signing_key and group.user_hints == hints.USER_KEEP:
        raise cfg.ConfigFileValueError(KEEP_AND_KEY)
