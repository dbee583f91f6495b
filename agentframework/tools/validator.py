"""JSON Schema validation whose cost is bounded, for schemas that come from strangers.

Servers write schemas, models write arguments, and jsonschema does what they say: a regular expression that backtracks
without end, a comparison of each item with each other, references that double at every level. Here patterns run in an
engine of linear time, items are compared by their text, and following references ends after `MOST_REFERENCES`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, cast

MOST_REFERENCES = 10_000

_left: ContextVar[list[int]] = ContextVar("references left")

Matcher = Callable[[str], bool]


class TooComplexError(Exception):
    """The schema refers to itself so often that checking was given up."""


def validator_of(schema: Mapping[str, Any]) -> Any:
    """A checker for ``schema`` (JSON Schema 2020-12). Raises ``jsonschema.SchemaError`` for one that is invalid."""
    import jsonschema  # noqa: PLC0415 - keeps the package import light
    import referencing  # noqa: PLC0415

    jsonschema.Draft202012Validator.check_schema(schema)
    # An explicit empty registry: a $ref to the network must fail, not be fetched.
    registry = cast("Any", referencing).Registry()
    return _bounded_class()(dict(schema), registry=registry)


def faults_of(validator: Any, arguments: Mapping[str, Any]) -> Iterator[Any]:
    """What does not fit, one error of jsonschema after the other. Raises `TooComplexError`."""
    token = _left.set([MOST_REFERENCES])
    try:
        yield from validator.iter_errors(arguments)
    finally:
        _left.reset(token)


@lru_cache
def _bounded_class() -> Any:
    from jsonschema import Draft202012Validator, validators  # noqa: PLC0415

    known: Any = Draft202012Validator.VALIDATORS
    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "$ref": _counted(known["$ref"]),
        "$dynamicRef": _counted(known["$dynamicRef"]),
        # It would run the patterns of patternProperties once more, in the other engine.
        "unevaluatedProperties": _unevaluated(known["unevaluatedProperties"]),
    }
    return cast("Any", validators).extend(Draft202012Validator, own)


@lru_cache(maxsize=1024)
def matcher(pattern: str) -> Matcher | None:
    """Whether a text holds ``pattern``, in linear time. None if only a backtracking engine can tell.

    Such patterns (look-around, back-references) are left to whoever wrote them: the tool sees the argument anyway.
    """
    from pydantic_core import SchemaError, SchemaValidator, core_schema  # noqa: PLC0415

    try:
        engine = SchemaValidator(core_schema.str_schema(pattern=pattern))
    except SchemaError:
        return None
    return engine.isinstance_python


def _pattern(_validator: Any, pattern: str, instance: object, _schema: object) -> Iterable[Any]:
    if isinstance(instance, str) and not _holds(pattern, instance):
        yield _error(f"{instance!r} does not match {pattern!r}")


def _holds(pattern: str, text: str) -> bool:
    found = matcher(pattern)
    return found is None or found(text.encode("utf-8", "replace").decode())


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: object, _schema: object
) -> Iterable[Any]:
    if not isinstance(instance, Mapping):
        return
    for pattern, subschema in patterns.items():
        if matcher(pattern) is None:
            continue
        for key, value in cast("Mapping[str, Any]", instance).items():
            if _holds(pattern, key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, additional: Any, instance: object, schema: Mapping[str, Any]
) -> Iterable[Any]:
    if not isinstance(instance, Mapping):
        return
    named: Mapping[str, Any] = schema.get("properties", {})
    patterns: Mapping[str, Any] = schema.get("patternProperties", {})
    given = cast("Mapping[str, Any]", instance)
    extra = [key for key in given if key not in named and not any(_holds(one, key) for one in patterns)]
    if isinstance(additional, Mapping):
        for key in extra:
            yield from validator.descend(given[key], additional, path=key)
    elif additional is False and extra:
        listed = ", ".join(repr(key) for key in extra[:10])
        what = "was" if len(extra) == 1 else "were"
        yield _error(f"Additional properties are not allowed ({listed} {what} unexpected)")


def _unique_items(_validator: Any, wanted: object, instance: object, _schema: object) -> Iterable[Any]:
    if wanted and isinstance(instance, list):
        items = cast("list[Any]", instance)
        if len({_text_of(item) for item in items}) < len(items):
            yield _error("it has non-unique elements")


def _text_of(value: Any) -> str:
    """Equal for equal JSON values: ``1.0`` is ``1``, ``true`` is not."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast("dict[str, Any]", value).items()}
    return [_plain(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def _counted(follow: Callable[..., Iterable[Any] | None]) -> Callable[..., Iterable[Any]]:
    def counted(validator: Any, reference: Any, instance: Any, schema: Any) -> Iterable[Any]:
        left = _left.get()
        left[0] -= 1
        if left[0] < 0:
            raise TooComplexError(f"the schema needs more than {MOST_REFERENCES} references")
        yield from follow(validator, reference, instance, schema) or ()

    return counted


def _unevaluated(check: Callable[..., Iterable[Any] | None]) -> Callable[..., Iterable[Any]]:
    def unevaluated(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[Any]:
        if "patternProperties" not in json.dumps(validator.schema, default=str):
            yield from check(validator, value, instance, schema) or ()

    return unevaluated


def _error(message: str) -> Any:
    from jsonschema import ValidationError  # noqa: PLC0415

    return ValidationError(message)
