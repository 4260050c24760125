# SPDX-License-Identifier: Apache-2.0

"""Return to Heat the hints of a resource that Heat is about to create."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from heat.common import exception
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import strutils, uuidutils

from heat_hints import lineage_lookup
from heat_hints.deciding import hints
from heat_hints.deciding.resource import Request
from heat_hints.providers import calls
from os_placement_plugins import signature
from os_placement_plugins.errors import one_line
from os_placement_plugins.quoting import quote
from os_placement_plugins.stack_hints import RESOURCE_UUID, PathStep

LOG = logging.getLogger(__name__)


class Injector:
    """Return the hints for each resource that heat-engine creates.

    :param conf: the engine's configuration.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        group = conf.heat_hints
        self._scope = group.scope
        self._user_mode = group.user_hints
        self._path_format = group.path_format
        self._fail = group.on_error == 'fail'
        self._keys = signature.Keys(group.signing_key)
        # The signature covers the id of the resource, so always send the id.
        always = (RESOURCE_UUID,) if self._keys else ()
        self._names = (*group.hints, *always)
        self._allowed = frozenset(group.allowed_nova_hints)
        self._makers = calls.find(conf, group.providers)
        self._lookup = lineage_lookup.LineageLookup()

    def for_resource(
        self,
        resource: Any,
        resource_type: str,
        template_hints: Mapping[str, Any] | None,
        stock: Callable[[Any, Any], Any],
        *,
        in_tree: bool,
    ) -> Any:
        """Return the hints that Heat sends to the scheduler for one resource.

        :param resource: Heat's resource, about to send its request.
        :param resource_type: the type of the resource, not an alias from an
            environment.
        :param template_hints: the hints of the template, or ``None``.
        :param stock: the overridden method of the resource's class, which
            returns the hints that Heat would send without this package.
        :param in_tree: whether ``stock`` is Heat's own method. If this package
            adds hints to the resource, Heat's own method is not called: it
            would query the database to add the same hints.
        :raises heat.common.exception.Error: if something failed and
            ``on_error`` is ``fail``. The creation of the resource then fails,
            and Heat sends no request.
        """
        template = template_hints or {}
        mode = self._user_mode
        allow = functools.partial(
            hints.allowed,
            template=template,
            mode=mode,
            signing=bool(self._keys),
        )
        stock_hints = allow(template_hints)
        in_scope = hints.in_scope(self._scope, self._flag(resource))
        if not (in_tree and in_scope):
            if stock_hints:
                stock_hints = dict(stock_hints)
            stock_hints = stock(resource, stock_hints)
        if not in_tree:
            stock_hints = allow(stock_hints)
        if not in_scope:
            return stock_hints
        user = hints.user_hints(stock_hints or {}, template)
        try:
            return self._decide(resource, resource_type, user) or None
        except exception.Error:
            raise
        except Exception as exc:
            self._failed(resource, 'the hints could not be created', exc)
            return hints.merge({}, user, {}, mode) or None

    def _decide(
        self, resource: Any, resource_type: str, user: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return all hints of a resource."""
        failed = functools.partial(self._failed, resource)
        request = self._read(resource, resource_type, user)
        identifiers = hints.identifiers(
            request, self._names, self._path_format
        )
        provided = calls.ask(self._makers, request, self._allowed, failed)
        sent = hints.merge(identifiers, user, provided, self._user_mode)
        if self._keys:
            try:
                signed = self._keys.sign(sent, request.project_id)
                sent[signature.HINT] = signed
            except Exception as exc:
                # Only the class: the text of the exception may show the key.
                failed(f'they could not be signed ({type(exc).__name__})')
        return sent

    def _read(
        self, resource: Any, resource_type: str, user: Mapping[str, Any]
    ) -> Request:
        """Describe a resource of Heat."""
        stack = resource.stack
        root: str | None = None
        path: tuple[PathStep, ...] = (PathStep(None, stack.name),)
        try:
            rows = self._lookup.find_lineage(resource)
            root = rows[0].id
            path = tuple(
                PathStep(row.parent_resource, row.name) for row in rows
            )
        except Exception as exc:
            what = 'the root stack could not be looked up in the database'
            self._failed(resource, what, exc)
        return Request(
            resource_type=resource_type,
            resource_name=resource.name,
            resource_uuid=resource.uuid,
            project_id=resource.context.project_id,
            stack_id=stack.id,
            stack_name=stack.name,
            root_stack_id=root,
            path=path,
            user_hints=user,
        )

    def _flag(self, resource: Any) -> bool | None:
        """Return the value of ``heat_hints`` in the metadata of a resource.

        :returns: None if there is no valid value, or if all resources get
            hints.
        """
        if self._scope == hints.SCOPE_ALL:
            return None
        # Read the metadata in the template, because Heat may have to query the
        # database for the stored metadata.
        metadata = resource.t.metadata()
        if not isinstance(metadata, Mapping):
            return None
        value = metadata.get('heat_hints')
        if value is None:
            return None
        try:
            return bool(strutils.bool_from_string(value, strict=True))
        except ValueError:
            LOG.warning(
                'heat_hints: the metadata heat_hints: %(value)s of resource '
                '%(resource)s in stack %(stack)s is not understood and '
                'counts as not given. Write true or false.',
                {
                    'value': quote(value),
                    'resource': quote(resource.name),
                    'stack': quote(resource.stack.name),
                },
            )
            return None

    def _failed(
        self,
        resource: Any,
        what: str,
        exc: BaseException | None = None,
        *,
        logged: bool = False,
    ) -> None:
        """Fail the resource or log a WARNING, as ``on_error`` says.

        :param logged: whether the log already has an ERROR with the cause. If
            so, no WARNING is logged.
        """
        if logged and not self._fail:
            return
        if exc:
            what += f': {type(exc).__name__}: {one_line(exc)}'
        words = {'resource': quote(resource.name), 'what': what}
        words['stack'] = resource.stack.id
        if self._fail:
            # Tell the tenant only the fault id: the exception may name
            # internals of the cloud.
            words['fault'] = uuidutils.generate_uuid()
            LOG.error(
                'heat_hints: resource %(resource)s of stack %(stack)s fails, '
                'because %(what)s. The status of the resource shows the '
                'fault id %(fault)s. Remove the cause, or set [heat_hints] '
                'on_error = ignore.',
                words,
            )
            raise exception.Error(
                f'The scheduler hints of resource {words["resource"]} could '
                'not be created. No request was sent. Ask the operator of '
                f'this cloud about fault {words["fault"]}.'
            ) from exc
        LOG.warning(
            'heat_hints: resource %(resource)s of stack %(stack)s is '
            'created without a part of its hints, because %(what)s. Remove '
            'the cause, or set [heat_hints] on_error = fail so that such '
            'resources fail.',
            words,
        )
