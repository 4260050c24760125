# SPDX-License-Identifier: Apache-2.0

"""Return to Heat the hints of a resource that Heat is about to create."""

import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any

from heat.common import exception
from heat.db import api as db_api
from heat.db import models
from oslo_config import cfg
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import uuidutils

from heat_hints import hints, lineage, providers
from heat_hints.hints import Request
from os_placement_plugins import logger, signature
from os_placement_plugins.errors import named_line
from os_placement_plugins.stack_hints import SIGNATURE, PathStep
from os_placement_plugins.text import listed, quote

LOG = logger.get_logger(__name__)

#: How many stacks, up to 1 KiB each, the cache of a worker holds.
STACKS = 4096

# These lines run when heat-engine starts. So if this version of Heat has other
# names, heat-engine reports the error at its start.
_READER = db_api.context_manager.reader
_ROW = ('id', 'name', 'owner_id', 'parent_resource_name')
_COLUMNS = [getattr(models.Stack, name) for name in _ROW]


class Injector:
    """Return the hints for each resource that heat-engine creates.

    :param conf: the engine's configuration.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        group = conf.heat_hints
        self._fail = group.on_error == 'fail'
        self._keys = signature.Keys(group.signing_key)
        self._callers = providers.find(conf)
        # For a stored stack, the columns in _ROW never change.
        self._load_row = functools.lru_cache(STACKS)(_load_row)

    def for_resource(
        self,
        resource: Any,
        resource_type: str,
        template_hints: Mapping[str, Any] | None,
        plugin_method: Callable[[Any, Any], Any] | None,
    ) -> Any:
        """Return the hints that Heat sends to the scheduler for one resource.

        :param resource: Heat's resource, about to send its request.
        :param resource_type: the type of the resource, not an alias from an
            environment.
        :param template_hints: the hints of the template, or ``None``.
        :param plugin_method: the method that another plug-in has in place of
            Heat's own, or ``None``. Heat's own method is not called: it would
            query the database to add the same hints.
        :raises heat.common.exception.Error: if something failed and
            ``on_error`` is ``fail``. The creation of the resource then fails,
            and Heat sends no request.
        """
        template = template_hints or {}
        signing = bool(self._keys)
        user = hints.drop_reserved(template, signing=signing)
        _tell_dropped(resource, template.keys() - user.keys())
        if plugin_method is not None:
            returned = plugin_method(resource, user or None) or {}
            user = hints.drop_reserved(returned, signing=signing)
        try:
            return self._decide(resource, resource_type, user)
        except exception.Error:
            raise
        except Exception as exc:
            self._failed(resource, 'the hints could not be created', exc)
            return user or None

    def _decide(
        self, resource: Any, resource_type: str, user: Mapping[str, Any]
    ) -> dict[str, Any]:
        failed = functools.partial(self._failed, resource)
        request = self._read(resource, resource_type, user)
        identifiers = hints.identifiers(request)
        provided = providers.ask(self._callers, request, failed)
        sent = {**provided, **user, **identifiers}
        if self._keys:
            try:
                signed = self._keys.sign(sent, request.project_id)
                sent[SIGNATURE] = signed
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
            row = lineage.StackRow(*(getattr(stack, name) for name in _ROW))
            rows = lineage.find(row, self._load_row)
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

    def _failed(
        self, resource: Any, what: str, exc: BaseException | None = None
    ) -> None:
        """Fail the resource or log a WARNING, as ``on_error`` says."""
        if exc:
            what += f': {named_line(exc)}'
        words = {'resource': quote(resource.name), 'what': what}
        words['stack'] = resource.stack.id
        if self._fail:
            # Tell the tenant only the fault id: the exception may name
            # internals of the cloud. Heat would log a cause with its text.
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
            ) from None
        LOG.warning(
            'heat_hints: resource %(resource)s of stack %(stack)s is '
            'created without a part of its hints, because %(what)s. Remove '
            'the cause, or set [heat_hints] on_error = fail so that such '
            'resources fail.',
            words,
        )


def _tell_dropped(resource: Any, names: Collection[str]) -> None:
    """Log the names of a template's hints that are not sent."""
    if not names:
        return
    LOG.info(
        'heat_hints: resource %(resource)s of stack %(stack)s is created '
        'without these hints of its template, whose names are reserved for '
        'Heat: %(names)s. Give them other names.',
        {
            'resource': quote(resource.name),
            'stack': resource.stack.id,
            'names': listed([quote(name) for name in sorted(names)]),
        },
    )


@enginefacade.transaction_context_provider
class _Reading:
    """The object that a database connection belongs to."""


def _load_row(stack_id: str) -> lineage.StackRow:
    """Read the columns in ``_ROW`` of one stack.

    :raises LookupError: if the stack is gone.
    """
    with _READER.using(_Reading()) as session:
        row = session.query(*_COLUMNS).filter_by(id=stack_id).one_or_none()
    if row is None:
        raise LookupError(f'stack "{stack_id}" is gone')
    return lineage.StackRow(*row)
