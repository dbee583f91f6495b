"""Replies that have to be data: what was asked for, whether a reply is that, and what to say if it is not.

Accepted is a reply that is the JSON value and nothing else, bare or in one code fence. Anything else is asked for
again, never guessed at: a value wrapped in an object of its own would be another value.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from agentframework.errors import ConfigurationError, StructuredOutputError
from agentframework.tools.schema import check_arguments

MAX_REPAIRS = 2

_FENCE = re.compile(r"\A```[A-Za-z]*[ \t]*\n(.*?)\n?```\Z", re.S)


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """A JSON schema that replies must match; ``model`` is the pydantic class that values become, if one was given."""

    schema: Mapping[str, Any]
    model: Any = None

    def read(self, text: str) -> tuple[Any, str | None]:
        """The value of a reply, or None and what is wrong with it."""
        bare = text.strip()
        fenced = _FENCE.match(bare)
        try:
            value = json.loads(fenced.group(1) if fenced else bare)
        except (ValueError, RecursionError) as error:
            return None, f"the reply is not JSON: {error}"
        if self.model is not None:
            return self._as_model(value)
        problem = check_arguments(self.schema, value)
        return (None, problem) if problem else (value, None)

    def _as_model(self, value: Any) -> tuple[Any, str | None]:
        from pydantic import ValidationError  # noqa: PLC0415 - keeps the package import light

        try:
            return self.model.model_validate(value, strict=True), None
        except ValidationError as error:
            faults = error.errors(include_url=False)[:5]
            lines = [f"{'.'.join(map(str, fault['loc'])) or 'value'}: {fault['msg']}" for fault in faults]
            return None, "\n".join(lines)

    def correction(self, problem: str) -> str:
        """What the model is told about a reply that does not fit."""
        schema = json.dumps(self.schema)
        return (
            f"Your reply does not match the required format:\n{problem}\n"
            f"Reply with the JSON value alone, without a code fence or any other text. Its JSON schema:\n{schema}"
        )


def never_valid(problem: str) -> StructuredOutputError:
    """The end of asking."""
    return StructuredOutputError(
        f"no reply matched the response format, the last one because: {problem}", details={"problem": problem}
    )


def parse_response_format(value: Any) -> ResponseFormat | None:
    """A pydantic model class, a JSON schema, or ``{"type": "json_schema" | "json_object" | "text", …}``.

    ``json_schema`` takes ``json_schema.schema`` or ``schema``. None for plain text. Raises `ConfigurationError`.
    """
    if value is None:
        return None
    describe = getattr(value, "model_json_schema", None)
    if isinstance(value, type) and callable(describe):
        return ResponseFormat(cast("dict[str, Any]", describe()), value)
    if not isinstance(value, Mapping):
        raise _refused(f"must be a pydantic model class or a dict, not {value!r}")
    given = cast("Mapping[str, Any]", value)
    kind = given.get("type")
    if kind == "text":
        return None
    if kind == "json_object":
        return ResponseFormat({"type": "object"})
    if kind == "json_schema":
        inner = given.get("json_schema")
        holder = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else given
        found: Any = holder.get("schema")
        if not isinstance(found, Mapping):
            raise _refused("of type json_schema needs json_schema.schema or schema")
        given = cast("Mapping[str, Any]", found)
    return ResponseFormat(_checked(given))


def _checked(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise _refused(f"is no valid JSON schema: {error.message}") from None
    return schema


def _refused(problem: str) -> ConfigurationError:
    return ConfigurationError(f"response_format {problem}", details={"field": "response_format"})
