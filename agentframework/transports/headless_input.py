"""What a program may say to a session on its input: one JSON object a line, checked before anything is done with it.

Nothing here acts; a line is read or refused. Above: the headless runner. Below: the session, messages and permission
answers.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NoReturn, cast

from agentframework.errors import InvalidInputError
from agentframework.messages import TextPart, UserPart, part_from_dict
from agentframework.permissions import PermissionAnswer
from agentframework.session.prompting import DEFAULT_DRIVER

MAX_LINE_BYTES = 16 * 1024 * 1024

_ANSWER_FIELDS = frozenset(field.name for field in fields(PermissionAnswer))


@dataclass(frozen=True, slots=True)
class UserInput:
    """``{"type": "user", "content": "…" | [parts], "driver_id"?}``: a prompt, as text or as parts.

    ``size`` is the length of its line.
    """

    text: str
    content: tuple[UserPart, ...] = ()
    driver_id: str = DEFAULT_DRIVER
    size: int = 0

    @property
    def display(self) -> str:
        """What of it can be shown as text."""
        return self.text or "\n".join(part.text for part in self.content if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class PermissionInput:
    """``{"type": "permission_response", "id", "answer"}``. An object is a `PermissionAnswer` by its fields."""

    id: str
    answer: Any


@dataclass(frozen=True, slots=True)
class AskInput:
    """``{"type": "ask_response", "id", "response"}``; ``null`` means cancelled."""

    id: str
    response: Any


@dataclass(frozen=True, slots=True)
class AbortInput:
    """``{"type": "abort"}``: stop the running turn and forget the prompts that wait."""


InputMessage = UserInput | PermissionInput | AskInput | AbortInput


def parse_input(line: bytes | str) -> InputMessage | None:
    """The message of a line, or None for a blank one. Unknown fields are ignored.

    Raises `InvalidInputError` that says what is wrong: no UTF-8, no JSON (NaN and infinities are none), no object, an
    unknown type, a missing or unfit field, a blank prompt, more than `MAX_LINE_BYTES`.
    """
    size = len(line)
    if size > MAX_LINE_BYTES:
        raise InvalidInputError(f"longer than {MAX_LINE_BYTES} bytes")
    if not line.strip():
        return None
    value = _object(line)
    match value.get("type"):
        case "user":
            return _user(value, size)
        case "permission_response":
            return PermissionInput(_text(value, "id"), _answer(_field(value, "answer")))
        case "ask_response":
            return AskInput(_text(value, "id"), _field(value, "response"))
        case "abort":
            return AbortInput()
        case other:
            raise InvalidInputError(
                f"unknown type {other!r:.80}; known are user, permission_response, ask_response, abort"
            )


def _object(line: bytes | str) -> Mapping[str, Any]:
    try:
        text = line if isinstance(line, str) else line.decode("utf-8-sig")
        value: Any = json.loads(text, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except RecursionError:
        raise InvalidInputError("not JSON: nested too deeply") from None
    except ValueError as error:
        raise InvalidInputError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInputError("not a JSON object")
    return cast("dict[str, Any]", value)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _field(value: Mapping[str, Any], name: str) -> Any:
    if name not in value:
        raise InvalidInputError(f"{value['type']} needs the field {name!r}")
    return value[name]


def _text(value: Mapping[str, Any], name: str) -> str:
    found = _field(value, name)
    if not isinstance(found, str) or not found.strip():
        raise InvalidInputError(f"the field {name!r} of {value['type']} must be a text that is not blank")
    return found


def _user(value: Mapping[str, Any], size: int) -> UserInput:
    driver = _text(value, "driver_id") if value.get("driver_id") is not None else DEFAULT_DRIVER
    content = _field(value, "content")
    if isinstance(content, str):
        prompt = UserInput(content, (), driver, size)
    elif isinstance(content, list):
        prompt = UserInput("", tuple(_part(item) for item in cast("list[Any]", content)), driver, size)
    else:
        raise InvalidInputError("the field 'content' of user must be a text or a list of parts")
    if not prompt.display.strip() and all(isinstance(part, TextPart) for part in prompt.content):
        raise InvalidInputError("the prompt is blank")
    return prompt


def _part(value: Any) -> UserPart:
    if not isinstance(value, dict):
        raise InvalidInputError(f"a content part must be an object, not {value!r:.80}")
    return part_from_dict(cast("dict[str, Any]", value))


def _answer(value: Any) -> Any:
    """An object whose fields are those of a `PermissionAnswer` as one. Whether they fit is for the gate to check."""
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        if "allow" in given and _ANSWER_FIELDS.issuperset(given):
            return PermissionAnswer(**given)
    return value
