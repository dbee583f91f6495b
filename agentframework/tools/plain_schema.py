"""A quick yes for arguments that plainly fit a plain schema: one object of texts, numbers and flags.

Nearly every call of nearly every tool is of that kind, and asking jsonschema about it costs more than all the rest of
the decision. This only ever says "fits"; whatever it does not know, or what does not fit, is left to the full check,
which also finds the words for it.
"""

from collections.abc import Callable, Mapping
from typing import Any

_CLASSES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_LIMITS: Mapping[tuple[type, ...], tuple[str, ...]] = {
    (str,): ("minLength", "enum"),
    (int,): ("minimum", "maximum"),
    (int, float): ("minimum", "maximum"),
    (bool,): (),
}
_OBJECT = {"type", "properties", "required", "additionalProperties", "title", "description"}
_TEXTS = ("title", "description")

Fits = Callable[[Any], bool]


def plain_check(schema: Mapping[str, Any]) -> Fits | None:
    """A function that is True for arguments that certainly match ``schema``; None if the schema is not plain."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    more = schema.get("additionalProperties", True)
    if schema.get("type") != "object" or not _described(schema, _OBJECT) or type(more) is not bool:
        return None
    if type(properties) is not dict or type(required) is not list or not _unique_texts(required):
        return None
    checks = {name: _value_check(member) for name, member in properties.items()}
    known: dict[str, Fits] = {name: check for name, check in checks.items() if check is not None}
    if len(known) != len(properties):
        return None
    needed = frozenset[str](required)

    def fits(arguments: Any) -> bool:
        if type(arguments) is not dict or not needed <= arguments.keys():
            return False
        for name, value in arguments.items():
            check = known.get(name)
            if not more if check is None else not check(value):
                return False
        return True

    return fits


def _value_check(schema: Any) -> Fits | None:
    """The same for one value."""
    kind = schema.get("type") if type(schema) is dict else None
    classes = _CLASSES.get(kind) if type(kind) is str else None
    if classes is None:
        return None
    if not _described(schema, {"type", "title", "description", "default", *_LIMITS[classes]}):
        return None
    if classes == (str,):
        return _text_check(schema)
    low, high = schema.get("minimum"), schema.get("maximum")
    if {type(low), type(high)} - {int, type(None)}:
        return None

    def fits(value: Any) -> bool:
        # By class, not by inheritance: True is no number.
        return type(value) in classes and (low is None or value >= low) and (high is None or value <= high)

    return fits


def _text_check(schema: Mapping[str, Any]) -> Fits | None:
    shortest, choice = schema.get("minLength", 0), schema.get("enum")
    if type(shortest) is not int or shortest < 0:
        return None
    if choice is not None and (type(choice) is not list or not choice or not _unique_texts(choice)):
        return None

    def fits(value: Any) -> bool:
        return type(value) is str and len(value) >= shortest and (choice is None or value in choice)

    return fits


def _described(schema: Mapping[str, Any], known: set[str]) -> bool:
    """Whether there is nothing in ``schema`` but ``known`` keywords, and its words are texts."""
    return known.issuperset(schema) and all(type(schema.get(name, "")) is str for name in _TEXTS)


def _unique_texts(values: list[Any]) -> bool:
    return all(type(value) is str for value in values) and len(set(values)) == len(values)
