"""Input schemas of servers made into what model APIs take, one tool at a time.

Legal JSON Schema is more than any API accepts: no combinators at the root, an object with ``properties`` there, names
of a certain shape. What can be said in those terms is; a schema that cannot be raises `UnusableSchemaError`, and that
one tool is left out by name. A looser schema than the server's is fine: the server checks its arguments itself.

Sources: JSON Schema 2020-12; tool definitions of the Anthropic and OpenAI APIs.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

RAW_SCHEMA = "agentframework/inputSchema"
"""Key in a tool's ``_meta`` for a schema that could not stand in its place on the wire."""
MAX_SCHEMA_BYTES = 131_072
_DEEPEST = 64
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_COMBINATORS = ("allOf", "anyOf", "oneOf")
_GROUPS = ("$defs", "definitions", "properties", "patternProperties", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames")
_DROPPED = ("$schema", "$id", "id", "$anchor", "$comment")


class UnusableSchemaError(ValueError):
    """No model API would take it; ``str()`` says why."""


def normalised_schema(schema: Any) -> dict[str, Any]:
    """An object schema with ``properties``, and nothing else at its root. Raises `UnusableSchemaError`."""
    if schema is None or schema is True:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, Mapping):
        raise UnusableSchemaError(f"its input schema is {type(schema).__name__}, not an object")
    _check_size(schema)
    plain = _plain(schema, schema, 0)
    root = _merged(plain, plain, ())
    kind = root.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise UnusableSchemaError(f"its input schema is of type {kind!r}, not object")
    root["type"] = "object"
    properties = root.get("properties")
    root["properties"] = dict(properties) if isinstance(properties, Mapping) else {}
    _check_names(root["properties"])
    required = root.get("required")
    if required is not None:
        names = [name for name in required if name in root["properties"]] if isinstance(required, list) else []
        root["required"] = list(dict.fromkeys(names))
        if not root["required"]:
            del root["required"]
    _check_valid(root)
    return root


def _check_size(schema: Mapping[str, Any]) -> None:
    try:
        size = len(json.dumps(schema))
    except (TypeError, ValueError, RecursionError) as error:
        raise UnusableSchemaError(f"its input schema is no JSON: {error}") from None
    if size > MAX_SCHEMA_BYTES:
        raise UnusableSchemaError(f"its input schema has {size} bytes, the limit is {MAX_SCHEMA_BYTES}")


def _check_names(properties: Mapping[str, Any]) -> None:
    bad = next((name for name in properties if not _PROPERTY.fullmatch(name)), None)
    if bad is not None:
        raise UnusableSchemaError(f"its parameter {bad[:80]!r} is not 1 to 64 of A-Z a-z 0-9 _ . -")


def _check_valid(schema: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415 - keeps the package import light

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise UnusableSchemaError(f"its input schema is invalid: {error.message[:200]}") from None


def _plain(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    """Without identifiers, references to nowhere, and ``true`` where a schema belongs."""
    if depth > _DEEPEST:
        raise UnusableSchemaError(f"its input schema is nested more than {_DEEPEST} deep")
    if schema is True:
        return {}
    if schema is False:
        return {"not": {}}
    if not isinstance(schema, Mapping):
        return schema
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _DROPPED and isinstance(value, str):
            continue
        if key == "$ref" and _target(root, value) is None:
            continue  # nobody fetches it; whatever it meant is left to the server
        if key in _GROUPS and isinstance(value, Mapping):
            plain[key] = {name: _plain(member, root, depth + 1) for name, member in value.items()}
        elif key in _LISTS and isinstance(value, list):
            plain[key] = [_plain(member, root, depth + 1) for member in value]
        elif key in _SINGLE and isinstance(value, Mapping):
            plain[key] = _plain(value, root, depth + 1)
        else:
            plain[key] = value
    return _modern(plain, root, depth)


def _modern(schema: dict[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """What drafts before 2020-12 wrote otherwise: lists of ``items``, and ``required`` at the property itself."""
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = [_plain(member, root, depth + 1) for member in schema.pop("items")]
    if isinstance(schema.get("required"), bool):
        del schema["required"]
    return schema


def _target(root: Mapping[str, Any], ref: Any) -> Any:
    """What a local reference points to, or None."""
    if not isinstance(ref, str) or not ref.startswith("#"):
        return None
    found: Any = root
    for step in filter(None, ref[1:].split("/")):
        name = step.replace("~1", "/").replace("~0", "~").replace("%25", "%")
        if isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, Mapping) and name in found:
            found = found[name]
        else:
            return None
    return found if isinstance(found, Mapping | bool) else None


def _merged(schema: Any, root: Mapping[str, Any], seen: tuple[str, ...]) -> dict[str, Any]:
    """A schema of the root without references and combinators there: what each alternative allows, allowed."""
    if not isinstance(schema, Mapping):
        return {}
    merged = {
        key: value for key, value in schema.items() if key not in (*_COMBINATORS, "$ref", "not", "if", "then", "else")
    }
    ref = schema.get("$ref")
    if isinstance(ref, str) and ref not in seen:
        merged = _both(merged, _merged(_target(root, ref), root, (*seen, ref)))
    for part in schema.get("allOf") or ():
        merged = _both(merged, _merged(part, root, seen))
    for key in ("anyOf", "oneOf"):
        parts = [_merged(part, root, seen) for part in schema.get(key) or ()]
        objects = [part for part in parts if part.get("type", "object") == "object"]
        if parts and not objects:
            raise UnusableSchemaError("no alternative of its input schema is an object")
        if objects:
            merged = _both(merged, _either(objects))
    return merged


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Properties and requirements of both."""
    whole = {**other, **one}
    for key in ("properties", "$defs", "definitions"):
        if key in one or key in other:
            whole[key] = {**(other.get(key) or {}), **(one.get(key) or {})}
    required = [*(one.get("required") or ()), *(other.get("required") or ())]
    if required:
        whole["required"] = list(dict.fromkeys(required))
    if one.get("additionalProperties") is False or other.get("additionalProperties") is False:
        whole.pop("additionalProperties", None)  # each spoke of its own properties only
    return whole


def _either(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The properties of all alternatives, and what all of them require."""
    properties: dict[str, list[Any]] = {}
    for part in parts:
        for name, member in (part.get("properties") or {}).items():
            known = properties.setdefault(name, [])
            if member not in known:
                known.append(member)
    whole: dict[str, Any] = {
        "type": "object",
        "properties": {name: one[0] if len(one) == 1 else {"anyOf": one} for name, one in properties.items()},
    }
    required = set(parts[0].get("required") or ()).intersection(*(part.get("required") or () for part in parts[1:]))
    if required:
        whole["required"] = [name for name in parts[0]["required"] if name in required]
    return whole
