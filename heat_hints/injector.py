# SPDX-License-Identifier: Apache-2.0

"""Read one Heat resource, and give the hints to send with it."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from heat.common import exception
from heat.db import api as db_api
from heat.db import models
from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import strutils

from heat_hints import hints, lineage, providers
from os_placement_plugins import signature, stack_hints
from os_placement_plugins.stack_hints import HintValue, PathStep

LOG = logging.getLogger(__name__)

#: The key in a resource's metadata that the option ``scope`` looks at.
METADATA_KEY = 'heat_hints'

# Looked up here, so that a Heat without them is told at its start.
_READER = db_api.context_manager.reader
_COLUMNS = (
    models.Stack.id,
    models.Stack.name,
    models.Stack.owner_id,
    models.Stack.parent_resource_name,
)


@dataclasses.dataclass(frozen=True)
class Settings:
    """The options of ``[heat_hints]``, read and checked once.

    Each field is the option of the same name, but for ``fail``, which tells
    whether ``on_error`` is ``fail``, and ``keys``, the ones in
    ``signing_key``.
    """

    names: tuple[str, ...]
    resource_types: tuple[str, ...]
    scope: str
    path_format: str
    user_hints: str
    fail: bool
    providers: tuple[str, ...]
    keys: signature.Keys

    @classmethod
    def from_conf(cls, group: Any) -> 'Settings':
        """Read every option, so that a wrong one is found at start.

        :param group: ``CONF.heat_hints``.
        :raises ValueError: when an option has a value that it may not have;
            the text, from oslo.config, names the option.
        """
        return cls(
            names=tuple(group.hints),
            resource_types=tuple(group.resource_types),
            scope=group.scope,
            path_format=group.path_format,
            user_hints=group.user_hints,
            fail=group.on_error == 'fail',
            providers=tuple(group.providers),
            keys=signature.Keys(group.signing_key),
        )


class Injector:
    """Give the hints for each resource that the engine creates.

    :param conf: the engine's configuration, for the providers.
    :param settings: the options of ``[heat_hints]``.
    """

    def __init__(self, conf: cfg.ConfigOpts, settings: Settings) -> None:
        self._settings = settings
        self._providers = providers.load(conf, settings.providers)
        self._lineages = lineage.LineageCache(lineage.REMEMBERED)
        # The signature binds the resource.
        self._names = settings.names + (
            (stack_hints.RESOURCE_UUID,) if settings.keys else ()
        )

    def for_resource(
        self,
        resource: Any,
        given: Mapping[str, Any] | None,
        inherited: Callable[..., Any] | None,
    ) -> Any:
        """Return what goes to the scheduler with one resource.

        :param resource: Heat's resource, about to send its request.
        :param given: the hints of the template, or ``None``.
        :param inherited: the method of another plug-in that also has a say.
        :raises heat.common.exception.Error: when the template's hints are
            refused, or something failed and ``on_error`` is ``fail``; Heat
            then fails the resource, and nothing is sent.
        """
        stock = given
        if inherited is not None:
            stock = inherited(resource, dict(given) if given else given)
        if not hints.in_scope(self._settings.scope, self._flag(resource)):
            return stock
        template = dict(given or {})
        try:
            hints.check_user_hints(template, self._settings.user_hints)
        except hints.ReservedHintError as exc:
            raise exception.Error(str(exc)) from exc
        # The identifiers are ours to send, unless the template gave them;
        # with a key, the signature is ours alone.
        user = {
            name: value
            for name, value in (stock or {}).items()
            if (name not in stack_hints.RESERVED or name in template)
            and not (self._settings.keys and name == signature.HINT)
        }
        try:
            return self._merged(resource, user) or None
        except exception.Error:
            raise
        except Exception as exc:
            self._failed(resource, 'the hints could not be made', exc)
            return hints.merge({}, user, {}, self._settings.user_hints) or None

    def _merged(
        self, resource: Any, user: Mapping[str, Any]
    ) -> dict[str, HintValue]:
        stack = resource.stack
        facts = hints.Resource(
            type=resource.type(),
            name=resource.name,
            uuid=resource.uuid,
            project_id=resource.context.project_id,
            stack_id=stack.id,
            stack_name=stack.name,
        )
        line = self._lineage(resource)
        own = hints.own_hints(
            facts,
            line,
            names=self._names,
            path_format=self._settings.path_format,
        )
        provided = self._ask(resource, facts, line, user)
        sent = hints.merge(own, user, provided, self._settings.user_hints)
        if self._settings.keys and hints.is_own_word(sent, own):
            try:
                sent[signature.HINT] = self._settings.keys.sign(
                    sent, facts.project_id
                )
            except Exception as exc:
                # No text of an exception that has seen the key is told.
                self._failed(
                    resource,
                    f'they could not be signed ({type(exc).__name__})',
                    None,
                )
        return sent

    def _lineage(self, resource: Any) -> hints.Lineage | None:
        stack = resource.stack
        row = lineage.StackRow(
            stack.id, stack.name, stack.owner_id, stack.parent_resource_name
        )
        try:
            return self._lineages.find(
                row, lambda stack_id: _load(resource.context, stack_id)
            )
        except Exception as exc:
            self._failed(
                resource,
                'the root stack could not be looked up in the database',
                exc,
            )
            return None

    def _ask(
        self,
        resource: Any,
        facts: hints.Resource,
        line: hints.Lineage | None,
        user: Mapping[str, Any],
    ) -> dict[str, HintValue]:
        if not self._providers:
            return {}
        own_step = (PathStep(None, facts.stack_name),)
        request = providers.Request(
            resource_type=facts.type,
            resource_name=facts.name,
            resource_uuid=facts.uuid,
            project_id=facts.project_id,
            stack_id=facts.stack_id,
            stack_name=facts.stack_name,
            root_stack_id=line.root_stack_id if line else None,
            path=line.path if line else own_step,
            user_hints=hints.sanitise(user),
        )
        provided: dict[str, HintValue] = {}
        refused: list[hints.Refusal] = []
        for name, provider in self._providers:
            if provider is None:
                # The ERROR at start has said so; ignoring it is enough here.
                if self._settings.fail:
                    self._failed(
                        resource,
                        f'the provider "{name}" could not be loaded',
                        None,
                    )
                continue
            try:
                accepted, others = hints.accept(
                    name, provider.hints(request), provided
                )
            except (Exception, SystemExit) as exc:
                self._failed(resource, f'the provider "{name}" failed', exc)
                continue
            provided.update(accepted)
            refused.extend(others)
        for refusal in refused:
            LOG.warning(
                'heat_hints: the hint "%(hint)s" of the provider '
                '"%(provider)s" is not sent: %(reason)s. Give it another '
                'name.',
                {
                    'hint': refusal.name,
                    'provider': refusal.provider,
                    'reason': refusal.reason,
                },
            )
        return provided

    def _flag(self, resource: Any) -> bool | None:
        if self._settings.scope == hints.SCOPE_ALL:
            return None
        # The template's metadata: what is stored may cost a query.
        value = (resource.t.metadata() or {}).get(METADATA_KEY)
        if value is None:
            return None
        try:
            return bool(strutils.bool_from_string(value, strict=True))
        except ValueError:
            LOG.warning(
                'heat_hints: the metadata "%(key)s: %(value)s" of resource '
                '"%(resource)s" in stack "%(stack)s" is not understood and '
                'counts as not given. Write true or false.',
                {
                    'key': METADATA_KEY,
                    'value': value,
                    'resource': resource.name,
                    'stack': resource.stack.name,
                },
            )
            return None

    def _failed(
        self, resource: Any, what: str, exc: BaseException | None
    ) -> None:
        reason = f': {type(exc).__name__}: {exc}' if exc else ''
        if self._settings.fail:
            raise exception.Error(
                f'The scheduler hints of resource "{resource.name}" are '
                f'incomplete, because {what}{reason}. No request was sent; '
                'ask the operator of this cloud.'
            ) from exc
        LOG.warning(
            'heat_hints: resource "%(resource)s" of stack "%(stack)s" is '
            'created without a part of its hints, because %(what)s%(reason)s.'
            ' Mend that, or set [heat_hints] on_error = fail to have such '
            'resources fail.',
            {
                'resource': resource.name,
                'stack': resource.stack.id,
                'what': what,
                'reason': reason,
            },
        )


def _load(context: Any, stack_id: str) -> lineage.StackRow | None:
    """Read one stack: four columns, by primary key."""
    with _READER.using(context):
        row = (
            context.session.query(*_COLUMNS)
            .filter(models.Stack.id == stack_id)
            .one_or_none()
        )
    return None if row is None else lineage.StackRow(*row)
