"""The format of recorded model exchanges: JSON lines that `RecordingProvider` writes and `ReplayProvider` reads.

One line is one request and everything that came back::

    {"event": "model_exchange",
     "request": {"model": "…", "messages": 3, "last": {"role": "user", "text": "…"}, "limits": {…}},
     "chunks": [{"text": "Hel"}, {"text": "lo"}, {"tool_call": {"id": "…", "name": "Read", "partial_json": "…"}}],
     "reply": {"role": "assistant", "content": […], …}}

In place of ``reply`` there is ``error`` when the provider failed; an answer that was cut off by its reader ends with
the chunk ``{"hold": "interrupt"}`` and has neither. Lines of other events are left alone, so that exchanges may lie
in a log among other records. Unknown fields are ignored, an unknown chunk is an error: a replay must not
silently leave something out.

Below: messages and the provider protocol. Above: ``recording`` and ``replay``.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from agentframework import errors
from agentframework.errors import (
    AgentFrameworkError,
    ConfigurationError,
    ErrorCode,
    InvalidInputError,
    ProviderError,
    describe_error,
)
from agentframework.messages import AssistantMessage, Message, TextPart, ToolMessage
from agentframework.messages.codec import from_json, to_json
from agentframework.providers.protocol import (
    Chunk,
    ModelLimits,
    ModelReply,
    ModelRequest,
    RawChunk,
    RetryChunk,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)

EXCHANGE = "model_exchange"
HOLD_CHUNK = {"hold": "interrupt"}
LONGEST_TEXT = 4_000
_LIKENESS_TEXT = 500

# What a message gets anew each time it is made; a recording without them differs only where the answer does.
_OWN_FIELDS = ("id", "timestamp")


@dataclass(frozen=True, slots=True)
class Hold:
    """In place of a chunk: the stream stays open and silent until its reader gives up."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer. ``place`` is the file and line, or the record's number.

    Without ``reply`` and ``error`` the stream ends without a reply.
    """

    place: str
    request: Mapping[str, Any]
    chunks: tuple[Chunk | Hold, ...]
    reply: AssistantMessage | None
    error: Mapping[str, Any] | None


# --- requests -------------------------------------------------------------------------------------------------


def request_digest(request: ModelRequest) -> dict[str, Any]:
    """What identifies a request: its model, how many messages, and what the last one says."""
    messages = request.messages
    last = _message_digest(messages[-1]) if messages else {}
    return {"model": request.model, "messages": len(messages), "last": last}


def _message_digest(message: Message) -> dict[str, Any]:
    if isinstance(message, ToolMessage):
        results = [
            {
                "id": part.tool_use_id,
                "name": part.tool_name,
                "is_error": part.is_error,
                "text": _bounded(part.content),
            }
            for part in message.content
        ]
        return {"role": message.role, "results": results}
    attached = [part.type for part in message.content if not isinstance(part, TextPart)]
    return {"role": message.role, "text": _bounded(message.text), "attached": attached}


def _bounded(text: str) -> str:
    """``text``, or its beginning with its length and digest: equal only for equal texts."""
    if len(text) <= LONGEST_TEXT:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{text[:LONGEST_TEXT]} [... {len(text)} characters in all, SHA-256 {digest}...]"


def first_difference(recorded: Mapping[str, Any], asked: Mapping[str, Any], *, strict: bool) -> str | None:
    """Where a request's digest leaves the recorded one, in words; None if it fits.

    Compared are the last message's role and, for a user's message, its text and attachments; for results, which
    calls they answer, but not what they say, since that holds paths and times. ``strict`` compares everything.
    What the recording does not hold is not compared.
    """
    expected, got = _comparable(recorded, strict), _comparable(asked, strict)
    for name, value in expected.items():
        if got.get(name) != value:
            return _in_words(name, value, got.get(name))
    return None


def likeness_text(digest: Mapping[str, Any]) -> str:
    """What a request asks, as one bounded text by which requests can be told to be alike."""
    last = _mapping(digest.get("last"))
    results = "\n".join(f"{result.get('name')} {result.get('id')}" for result in last.get("results") or ())
    return f"{last.get('role')}\n{str(last.get('text') or '')[:_LIKENESS_TEXT]}\n{results[:_LIKENESS_TEXT]}"


def _comparable(digest: Mapping[str, Any], strict: bool) -> dict[str, Any]:
    last = _mapping(digest.get("last"))
    found = {"the role of the last message": last.get("role")}
    if last.get("role") == "user" or strict:
        attached = last.get("attached")
        found["the text of the last message"] = last.get("text")
        found["the attachments of the last message"] = None if attached is None else ", ".join(attached)
    results = last.get("results")
    if results is not None:
        names = [f"{result.get('name')} ({result.get('id')})" for result in results]
        found["the answered calls"] = ", ".join(names)
        if strict:
            found |= {f"the result of {result.get('id')}": result.get("text") for result in results}
    if strict:
        found |= {"the model": digest.get("model"), "the number of messages": digest.get("messages")}
    return {name: value for name, value in found.items() if value is not None}


def _in_words(name: str, expected: Any, got: Any) -> str:
    if not (isinstance(expected, str) and isinstance(got, str)):
        return f"{name}: expected {expected!r}, got {'nothing' if got is None else repr(got)}"
    same = 0
    for one, other in zip(expected, got, strict=False):
        if one != other:
            break
        same += 1
    where = f" from character {same + 1} on" if same else ""
    return f"{name}{where}: expected {_excerpt(expected, same)}, got {_excerpt(got, same)}"


def _excerpt(text: str, place: int) -> str:
    """The surroundings of ``place`` in ``text``, quoted, with dots where something is left out."""
    begin, end = max(0, place - 20), place + 60
    return f"{'...' if begin else ''}{text[begin:end]!r}{'...' if end < len(text) else ''}"


# --- answers --------------------------------------------------------------------------------------------------


def chunk_to_json(chunk: Chunk) -> dict[str, Any]:
    """A chunk other than the `ModelReply` as an object with one key."""
    match chunk:
        case TextChunk(text):
            return {"text": text}
        case ThinkingChunk(text):
            return {"thinking": text}
        case ToolCallChunk(tool_use_id, name, partial_json):
            return {"tool_call": {"id": tool_use_id, "name": name, "partial_json": partial_json}}
        case RetryChunk(attempt, delay_s, reason):
            return {"retry": {"attempt": attempt, "delay_s": delay_s, "reason": reason}}
        case RawChunk(data):
            return {"raw": _object(data)}
        case ModelReply():
            raise TypeError("the reply has a field of its own")


def _chunk_from_json(value: Mapping[str, Any]) -> Chunk | Hold:
    match value:
        case {"text": str(text)}:
            return TextChunk(text)
        case {"thinking": str(text)}:
            return ThinkingChunk(text)
        case {"tool_call": {"id": str(tool_use_id), "name": str(name), "partial_json": str(partial_json)}}:
            return ToolCallChunk(tool_use_id, name, partial_json)
        case {"retry": {"attempt": int(attempt), "delay_s": float() | int() as delay_s, "reason": str(reason)}}:
            return RetryChunk(attempt, delay_s, reason)
        case {"raw": dict(data)}:
            return RawChunk(cast("dict[str, Any]", data))
        case {"hold": "interrupt"}:
            return Hold()
    raise InvalidInputError(f"unknown chunk {value!r:.80}")


def reply_to_json(message: AssistantMessage) -> dict[str, Any]:
    """A reply without its id and time: whoever replays it makes a new message."""
    return {name: value for name, value in to_json(message).items() if name not in _OWN_FIELDS}


def limits_to_json(limits: ModelLimits) -> dict[str, Any]:
    """What the model can hold."""
    return to_json(limits)


def limits_from_json(value: Any) -> ModelLimits | None:
    """Recorded limits, or None if there are none. Raises `InvalidInputError`."""
    return None if value is None else from_json(ModelLimits, value)


def _object(value: Mapping[str, Any]) -> dict[str, Any]:
    """``value`` as JSON can hold it; what it cannot hold becomes its ``repr``."""
    found: dict[str, Any] = {}
    for name, item in value.items():
        try:
            found[name] = to_json(item)
        except TypeError:
            found[name] = repr(item)
    return found


# --- errors ---------------------------------------------------------------------------------------------------


def error_to_json(error: Exception) -> dict[str, Any]:
    """An error of a provider. A class that is not ours is recorded as the nearest one that is."""
    kind = next((cls for cls in type(error).__mro__ if _ERROR_CLASSES.get(cls.__name__) is cls), ProviderError)
    info = describe_error(error)
    found = {
        "class": kind.__name__,
        "code": str(info.code),
        "message": info.message,
        "details": _object(info.details),
    }
    if isinstance(error, ProviderError):
        found |= {"status": error.status, "retry_after_s": error.retry_after_s, "retryable": error.retryable}
    return found


def error_from_json(value: Mapping[str, Any]) -> AgentFrameworkError:
    """The recorded error, of the same class. Raises `InvalidInputError` for a class there is none of."""
    kind = _ERROR_CLASSES.get(str(value.get("class", "ProviderError")))
    if kind is None:
        raise InvalidInputError(f"unknown error class {value.get('class')!r}")
    try:
        code = ErrorCode(value.get("code", kind.default_code))
    except ValueError as error:
        raise InvalidInputError(str(error)) from None
    message, details = str(value.get("message", "")), _mapping(value.get("details"))
    if not issubclass(kind, ProviderError):
        return kind(message, code=code, details=details)
    return kind(
        message,
        code=code,
        details=details,
        status=value.get("status"),
        retry_after_s=value.get("retry_after_s"),
        retryable=value.get("retryable"),
    )


def _plain_error_classes() -> dict[str, type[AgentFrameworkError]]:
    """Our error classes that are made from message, code and details."""
    found: dict[str, type[AgentFrameworkError]] = {}
    plain = (AgentFrameworkError.__init__, ProviderError.__init__)
    for name, cls in vars(errors).items():
        if isinstance(cls, type) and issubclass(cls, AgentFrameworkError) and cls.__init__ in plain:
            found[name] = cls
    return found


_ERROR_CLASSES = _plain_error_classes()


# --- records --------------------------------------------------------------------------------------------------


def exchange_from_json(record: Mapping[str, Any], place: str) -> Exchange | None:
    """The exchange of a record, or None if it records something else.

    Raises `ConfigurationError` that names ``place``.
    """
    if record.get("event") != EXCHANGE:
        return None
    try:
        return _exchange(record, place)
    except InvalidInputError as error:
        raise ConfigurationError(
            f"{place}: not a recorded exchange: {error.message}", details={"place": place}
        ) from error


def _exchange(record: Mapping[str, Any], place: str) -> Exchange:
    chunks = record.get("chunks") or []
    if not isinstance(chunks, list) or not all(isinstance(chunk, dict) for chunk in chunks):
        raise InvalidInputError("chunks is no list of objects")
    parsed = tuple(_chunk_from_json(chunk) for chunk in cast("list[dict[str, Any]]", chunks))
    reply, error, request = record.get("reply"), record.get("error"), _mapping(record.get("request"))
    if error is not None:
        error_from_json(_mapping(error))
    _check_digest(request)
    if not (parsed and isinstance(parsed[-1], Hold)) and "reply" not in record and error is None:
        raise InvalidInputError("neither a reply, nor an error, nor a hold at the end of the chunks")
    return Exchange(
        place=place,
        request=request,
        chunks=parsed,
        reply=None if reply is None else from_json(AssistantMessage, reply),
        error=None if error is None else _mapping(error),
    )


def _check_digest(request: Mapping[str, Any]) -> None:
    limits_from_json(request.get("limits"))
    last = _mapping(request.get("last"))
    for name, kind in (("results", Mapping), ("attached", str)):
        items = last.get(name)
        if items is not None and not (isinstance(items, list) and all(isinstance(item, kind) for item in items)):
            raise InvalidInputError(f"request.last.{name} is {items!r:.80}")


def _mapping(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"expected an object, got {value!r:.80}")
    return cast("Mapping[str, Any]", value)
