"""JSON schemas: of a Python function's parameters, and of the arguments a model sends.

Schemas of functions come from pydantic; arguments of any tool are checked with jsonschema against the schema
the model was shown, so that there is one truth for both.
"""

import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from agentframework._base.bounded import head_and_tail
from agentframework.errors import ConfigurationError, ErrorCode, ToolExecutionError
from agentframework.tools.plain_schema import Fits, plain_check
from agentframework.tools.tool import ToolContext
from agentframework.tools.validator import faults_of, validator_of

# Finding faults stops here: a long list of wrong items has one for each.
_MOST_FAULTS = 20


class FunctionSchema:
    """A typed function as a tool sees it: JSON schema, and how to turn arguments into a call.

    ``context_parameters`` are the names of those annotated `ToolContext`. Raises `ConfigurationError` for a
    signature that no schema can describe.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = getattr(function, "__name__", type(function).__name__)
        hints = self._hints(function)
        contexts: list[str] = []
        fields: dict[str, tuple[Any, Any]] = {}
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise self._refused(f"parameter {parameter.name} must be an ordinary named one")
            annotation = hints.get(parameter.name, Any)
            if _is_context(annotation):
                contexts.append(parameter.name)
            else:
                fields[parameter.name] = (annotation, parameter.default)
        self.context_parameters = tuple(contexts)
        self._model, self._names = self._arguments_model(fields)
        self.schema = self._json_schema(_parameter_docs(inspect.getdoc(function) or ""))

    def _refused(self, problem: str) -> ConfigurationError:
        return ConfigurationError(f"tool function {self._function}: {problem}", details={"function": self._function})

    def _hints(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Annotations of the parameters; what the function returns is nobody's business here."""
        annotations = dict(getattr(function, "__annotations__", {}))
        annotations.pop("return", None)
        scope = getattr(inspect.unwrap(function), "__globals__", {})
        try:
            return get_type_hints(SimpleNamespace(__annotations__=annotations), scope, include_extras=True)
        except NameError as error:
            raise self._refused(f"{error}; annotations must name types of the module's top level") from None
        except (TypeError, SyntaxError) as error:
            raise self._refused(f"its annotations cannot be read: {error}") from None

    def _arguments_model(self, fields: dict[str, tuple[Any, Any]]) -> tuple[Any, dict[str, str]]:
        """A pydantic model, and parameter by field. Parameters are aliases, since not every name can be a field."""
        from pydantic import Field, create_model  # noqa: PLC0415 - keeps the package import light
        from pydantic.errors import PydanticUserError  # noqa: PLC0415
        from pydantic.fields import FieldInfo  # noqa: PLC0415

        names = {f"p{number}": name for number, name in enumerate(fields)}
        shapes: dict[str, Any] = {}
        for key, name in names.items():
            annotation, default = fields[name]
            if isinstance(default, FieldInfo):
                raise self._refused(f"parameter {name}: write Annotated[…, Field(…)] and an ordinary default")
            given = ... if default is inspect.Parameter.empty else default
            shapes[key] = (annotation, Field(given, alias=name))
        try:
            model = create_model(f"{self._function}_arguments", __config__={"extra": "forbid"}, **shapes)
        except (PydanticUserError, TypeError) as error:
            raise self._refused(str(error).splitlines()[0]) from None
        return model, names

    def _json_schema(self, described: Mapping[str, str]) -> dict[str, Any]:
        from pydantic.errors import PydanticUserError  # noqa: PLC0415
        from pydantic.json_schema import PydanticJsonSchemaWarning  # noqa: PLC0415

        try:
            with warnings.catch_warnings():
                # A default that is no JSON is not shown; the parameter is optional all the same.
                warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
                schema: dict[str, Any] = self._model.model_json_schema()
        except PydanticUserError as error:
            raise self._refused(str(error).splitlines()[0]) from None
        schema.pop("title", None)
        for name, member in schema["properties"].items():
            if name in described:
                member.setdefault("description", described[name])
        return schema

    def call_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments for the function; defaults are left to it.

        Raises `ToolExecutionError` with code ``TOOL_ARGUMENTS_INVALID`` and one line per bad field.
        """
        from pydantic import ValidationError  # noqa: PLC0415

        try:
            model = self._model.model_validate(arguments)
        except ValidationError as error:
            raise ToolExecutionError(
                _lines(error.errors(include_url=False)), code=ErrorCode.TOOL_ARGUMENTS_INVALID
            ) from None
        return {name: getattr(model, key) for key, name in self._names.items() if key in model.model_fields_set}


def _is_context(annotation: Any) -> bool:
    """True for `ToolContext`, also ``Annotated`` or as one of a union."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation is ToolContext or (
        get_origin(annotation) in (Union, UnionType) and ToolContext in get_args(annotation)
    )


def _lines(errors: Any) -> str:
    return "\n".join(f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}" for item in errors)


_SECTIONS = ("args:", "arguments:", "parameters:")
_PARAMETER = re.compile(r"(?::param\s+(?:\S+\s+)?)?(\w+)(?:\s*\([^)]*\))?\s*:\s*(.*)")


def _parameter_docs(doc: str) -> dict[str, str]:
    """Descriptions from an ``Args:`` section (Google style) or ``:param name:`` lines, with their further lines."""
    found: dict[str, str] = {}
    name: str | None = None
    inside, indent = False, 0
    for line in filter(str.strip, doc.splitlines()):
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        if name is not None and depth > indent:
            found[name] = f"{found[name]} {text}".strip()
            continue
        name = None
        if text.lower() in _SECTIONS:
            inside = True
            continue
        inside = inside and depth > 0
        match = _PARAMETER.fullmatch(text) if inside or text.startswith(":param") else None
        if match:
            indent = depth
            found[name := match[1]] = match[2].strip()
    return {name: text for name, text in found.items() if text}


def summary_of(doc: str) -> str:
    """The docstring up to its parameter section: what a tool's description should be."""
    kept: list[str] = []
    for line in doc.splitlines():
        text = line.strip()
        if text.lower() in (*_SECTIONS, "returns:", "raises:") or text.startswith((":param", ":return", ":raise")):
            break
        kept.append(line)
    return "\n".join(kept).strip()


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """What is wrong with ``arguments``, one line per fault (at most five), or None.

    JSON Schema 2020-12, at a bounded cost. A schema that cannot be used is reported as a fault, never taken as a pass.
    """
    try:
        frozen = _Frozen(schema)
        fits = _plain(frozen)
        if fits is not None and fits(arguments):
            return None
        checker = _checker(frozen)
        if isinstance(checker, str):
            return checker
        faults = list(islice(faults_of(checker, arguments), _MOST_FAULTS))
    except Exception as error:
        return head_and_tail(f"cannot be checked against the tool's schema: {type(error).__name__}: {error}", 300)
    if not faults:
        return None
    faults.sort(key=_place)
    lines = [f"{'.'.join(map(str, fault.absolute_path)) or 'arguments'}: {fault.message}" for fault in faults[:5]]
    # The reason stands at the end of a message, after the value.
    return "\n".join(head_and_tail(line, 300, 150) for line in lines)


def _place(fault: Any) -> list[tuple[str, Any]]:
    return [(type(step).__name__, step) for step in fault.absolute_path]


class _Frozen:
    """A schema as a cache key, by identity: tools keep theirs for life."""

    __slots__ = ("schema",)

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and other.schema is self.schema


@lru_cache(maxsize=1024)
def _plain(frozen: _Frozen) -> Fits | None:
    return plain_check(frozen.schema)


@lru_cache(maxsize=1024)
def _checker(frozen: _Frozen) -> Any:
    from jsonschema import SchemaError  # noqa: PLC0415 - keeps the package import light

    try:
        return validator_of(frozen.schema)
    except SchemaError as error:
        return f"the tool's own schema is invalid: {error.message}"
