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
        'belongs to, and for the providers that add hints of their own. '
        'heat-engine reads the options when it starts.'
    ),
)

OPTS = [
    cfg.BoolOpt(
        'enabled',
        default=False,
        help="""
Send stack scheduler hints.

Each server that Heat creates then carries scheduler hints that identify its
stack and its resource, and the hints of the configured providers. When Heat
starts, it logs one WARNING for each overridden resource type.

Related options:

* ``[DEFAULT] stack_scheduler_hints``: with this option of its own, Heat sends
  six fixed hints without this package. Do not set both options.
""",
    ),
    cfg.ListOpt(
        'hints',
        default=list(stack_hints.NAMES),
        item_type=types.String(choices=list(stack_hints.NAMES)),
        help="""
The identifiers to send.

If the list is empty, Heat sends only the providers' hints. From Nova API
version 2.100 on, tenants see the hints of their servers. The hints include
the names of the stack and the resource.
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

If heat-engine does not know a type, it does not start. If a type sends no
scheduler hints, heat-engine logs an ERROR.
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
                'all resources except those with '
                '"metadata: {heat_hints: false}"',
            ),
        ],
        help="""
The resources that get hints.

The resource's own metadata in its template decides, in nested stacks too. A
resource does not inherit the metadata of a group or a nested stack. If a
resource is left out, it is created as in Heat without this package.
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
                'which is unambiguous for all names',
            ),
        ],
        help="""
The form of ``heat_path_in_stack``.

If your scheduler plug-in was written for Heat's own option, choose ``list``.
Choose ``json`` if resources that make nested stacks have a comma in their
names. Heat puts a resource's name into the name of its nested stack, so the
list could not be read back. Nova turns a list of one element into a string.
""",
    ),
    cfg.StrOpt(
        'user_hints',
        default=hints.USER_OVERRIDE,
        choices=[
            (
                hints.USER_OVERRIDE,
                "Heat's identifiers replace the template's hints",
            ),
            (
                hints.USER_KEEP,
                "the template's hints stay; a tenant can then claim to be any "
                'stack',
            ),
            (
                hints.USER_REJECT,
                'the template is not valid, with a clear error',
            ),
        ],
        help="""
The rule for a template that sets one of the six identifiers itself.

With a ``signing_key``, the rule covers all hints whose names begin with
``heat_``, and ``keep`` is not possible. The rule never touches other hints of
a template.

Related options:

* ``hint_precedence``: the rule for the other hints, if a provider sets the
  same hint.
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
The rule for a hint that both a template and a provider set.

The rule covers all names except the six identifiers, which Heat sets.
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
The rule for failures.

A failure is a provider that fails, that cannot be made or that sets a hint it
may not set, or a root stack that cannot be looked up.
""",
    ),
    cfg.ListOpt(
        'providers',
        default=[],
        help="""
The providers to ask for hints, in this order.

heat-engine asks each provider once for each server, just before it sends the
request, and waits for the answer. A provider cannot set one of the six
identifiers, or a hint that an earlier provider has set.

Related options:

* ``provider_timeout``: the longest time that heat-engine waits.
* ``allowed_nova_hints``: Nova's own hints that providers may set.

Possible values:

* Names from the entry-point namespace ``heat_hints.providers``. This package
  brings ``mapping_file`` and ``group``.
""",
    ),
    cfg.IntOpt(
        'provider_timeout',
        default=10,
        min=1,
        help="""
The longest time that a provider may take to answer, in seconds.

A provider that takes longer has failed, and ``on_error`` decides. For the
first answer of a worker, the time in which the worker makes the provider
counts, too.
""",
    ),
    cfg.ListOpt(
        'allowed_nova_hints',
        default=[],
        item_type=types.String(regex=f'^{hints.NOVA_PATTERN}$'),
        help="""
The hints that Nova itself acts on and that providers may set.

Nova looks up servers, groups and hosts by these hints. If a provider gives a
wrong value, the server can fail or come to the wrong host.

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

heat-engine reads the file again after each change. If the new content cannot
be used, heat-engine logs an ERROR, and the last good content stays in force.

Related options:

* ``providers`` must name ``mapping_file``.
""",
    ),
    cfg.ListOpt(
        'group_places',
        default=[],
        help="""
The places that the members of a group take in turn.

The provider ``group`` sends one of them as ``heat_group_place`` with each
server whose metadata, or whose nested stack's metadata, names a group as
``placement_group``.

Possible values:

* Names that a filter or weigher of yours knows, such as those of racks. After
  a change, servers that are created get places by the new list, also in
  groups that have members already.

Related options:

* ``providers`` must name ``group``.
""",
    ),
    cfg.Opt(
        'signing_key',
        type=options.SigningKeys(),
        default=[],
        secret=True,
        help="""
The keys for the signature by which nova-scheduler recognizes Heat's hints.

With a key, heat-engine also sends the hint ``heat_signature``, and always
sends ``heat_resource_uuid``, because the signature is bound to the resource.
Names that begin with ``heat_`` are then reserved. A nova-scheduler with the
same key does not believe hints that a tenant made up.

Possible values:

* Empty: the hints are not signed.
* A list of keys of at least 32 characters each, without ``$`` and commas,
  for example from ``openssl rand -hex 32``. heat-engine signs with the
  first key; nova-scheduler believes each key.

Related options:

* ``[heat_hints] signing_key`` in nova.conf: the same line.
* ``user_hints`` cannot be ``keep``, because Heat would sign the claims of a
  tenant.
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
