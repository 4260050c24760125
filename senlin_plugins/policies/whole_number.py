# SPDX-License-Identifier: Apache-2.0

"""An integer property of a policy's spec."""

from typing import Any

from senlin.common import exception as exc
from senlin.common import schema

from senlin_plugins.planning import whole_number


class WholeNumber(schema.Integer):  # type: ignore[misc]  # untyped base
    """An integer property that takes nothing else for an integer.

    Senlin's own property cuts 2.7 down to 2, takes true for 1, lets null
    through and raises on a list.
    """

    def to_schema_type(self, value: object) -> int:
        """Return an integer, also from text such as ``'3'``.

        :param value: the value in the spec.
        :raises: ``ESchema`` with the value.
        """
        try:
            return whole_number.read(value)
        except ValueError as ex:
            raise exc.ESchema(
                message=f"The value '{value}' is not a valid Integer"
            ) from ex

    def validate(self, value: object, context: Any = None) -> None:
        """Check a value.

        :param value: the value in the spec.
        :param context: the request's context.
        :raises: ``ESchema`` with the value.
        """
        super().validate(self.to_schema_type(value), context)
