"""The action as it streams: JSON text in pieces of any size, chunks of the provider protocol out.

Text is handed on as soon as its characters are certain: an escape or a surrogate pair cut in the middle waits for
its other half. `ActionDecoder.finish` parses the call's arguments as a whole.
"""

import re
from collections.abc import Callable
from typing import Literal

from agentframework._base.bounded import printable
from agentframework._base.ids import short_id
from agentframework.errors import ModelResponseInvalidError
from agentframework.messages import AssistantMessage, AssistantPart, TextPart, ToolCall, Usage
from agentframework.providers.accumulate import TextSlot
from agentframework.providers.protocol import Chunk, ModelReply, TextChunk, ToolCallChunk
from agentframework.providers.wire_json import parse_arguments

ReplyKind = Literal["text", "string", "json"]
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SPACE = " \t\r\n\ufeff"
_CUT = "cut off by the output limit before the arguments were complete"


class JsonStringDecoder:
    """Decodes one JSON string (RFC 8259, section 7), fed from behind its opening quote in pieces of any size.

    Halves of a surrogate pair that stand alone become U+FFFD: no text of ours holds a lone surrogate.
    """

    __slots__ = ("_escape", "_high", "closed", "rest")

    def __init__(self) -> None:
        self._escape: str | None = None
        self._high = 0
        self.closed = False
        self.rest = ""

    def feed(self, text: str) -> str:
        """The characters that ``text`` completes. What follows the closing quote is left in ``rest``."""
        out: list[str] = []
        for place, char in enumerate(text):
            if self._escape is not None:
                self._in_escape(char, out)
            elif char == "\\":
                self._escape = ""
            elif char == '"':
                out.append(self.finish())
                self.closed, self.rest = True, text[place + 1 :]
                break
            else:
                self._unit(ord(char), out)
        return "".join(out)

    def finish(self) -> str:
        """What is still to be said when no more comes: a replacement for half a pair, nothing for half an escape."""
        left, self._high, self._escape = self._high, 0, None
        return _REPLACEMENT if left else ""

    def _in_escape(self, char: str, out: list[str]) -> None:
        self._escape = (self._escape or "") + char
        if self._escape[0] != "u":
            self._escape = None
            self._unit(ord(_ESCAPES.get(char, char)), out)
        elif len(self._escape) == 5:
            digits, self._escape = self._escape[1:], None
            valid = re.fullmatch("[0-9a-fA-F]{4}", digits)
            self._unit(int(digits, 16) if valid else ord(_REPLACEMENT), out)

    def _unit(self, code: int, out: list[str]) -> None:
        if self._high:
            high, self._high = self._high, 0
            if 0xDC00 <= code < 0xE000:
                out.append(chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)))
                return
            out.append(_REPLACEMENT)
        if 0xD800 <= code < 0xDC00:
            self._high = code
        else:
            out.append(_REPLACEMENT if 0xDC00 <= code < 0xE000 else chr(code))


class RawValueScanner:
    """Finds the end of one JSON value that is no string at the top, and keeps its text as it is."""

    __slots__ = ("_depth", "_in_string", "_skip", "closed", "rest")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._skip = False
        self.closed = False
        self.rest = ""

    def feed(self, text: str) -> str:
        """The part of ``text`` that belongs to the value; what follows it is left in ``rest``."""
        for place, char in enumerate(text):
            if self._in_string:
                self._string_char(char)
                ended = not self._in_string and self._depth == 0
            elif char in ",}]" and self._depth == 0:
                self.closed, self.rest = True, text[place:]
                return text[:place]
            else:
                self._in_string = char == '"'
                self._depth += (char in "{[") - (char in "}]")
                ended = char in "}]" and self._depth == 0
            if ended:
                self.closed, self.rest = True, text[place + 1 :]
                return text[: place + 1]
        return text

    def _string_char(self, char: str) -> None:
        if self._skip:
            self._skip = False
        elif char == "\\":
            self._skip = True
        elif char == '"':
            self._in_string = False


class ActionDecoder:
    """Decodes one reply. ``reply`` says what to expect (`ConstrainedPrompt.reply`): plain ``text``, or an action
    whose answer is a ``string`` or any other ``json`` value, handed on as the JSON text it is."""

    def __init__(self, reply: ReplyKind, *, model: str, origin: str) -> None:
        self._reply = reply
        self._model = model
        self._origin = origin
        self._step: Callable[[str, list[Chunk]], str] = self._text if reply == "text" else self._opening
        self._plain = TextSlot()
        self._key = ""
        self._string = JsonStringDecoder()
        self._raw = RawValueScanner()
        self._answer: list[str] = []
        self._tool: str | None = None
        self._name = ""
        self._arguments: list[str] = []
        self._held: list[str] = []
        self._call_id = short_id("call")
        self._complete = reply == "text"

    def feed(self, text: str) -> list[Chunk]:
        """The chunks that ``text`` completes. Raises `ModelResponseInvalidError` if it is no JSON object."""
        out: list[Chunk] = []
        while text:
            text = self._step(text, out)
        return out

    def finish(self, *, cut: bool = False, usage: Usage | None = None) -> list[Chunk]:
        """The last chunks, `ModelReply` at the end; ``cut`` if the server stopped at its output limit.

        Raises `ModelResponseInvalidError` if the reply is neither a call nor an answer.
        """
        out: list[Chunk] = []
        if self._plain.held:
            self._say(printable(self._plain.held), out)
        if not self._complete and self._key == "answer":
            self._say(self._string.finish(), out)
        cut = cut or not self._complete
        if self._complete and self._tool is None and not self._answered:
            raise ModelResponseInvalidError("the model's reply is a JSON object with neither a tool nor an answer")
        text = "".join(self._answer)
        content: list[AssistantPart] = [TextPart(text)] if text else []
        if self._tool is not None:
            content.append(self._call(self._tool))
        stop_reason = "max_tokens" if cut else "tool_use" if self._tool is not None else "end_turn"
        message = AssistantMessage(tuple(content), self._model, self._origin, stop_reason=stop_reason, usage=usage)
        return [*out, ModelReply(message)]

    @property
    def _answered(self) -> bool:
        return self._reply == "text" or self._key == "answer" or bool(self._answer)

    def _call(self, name: str) -> ToolCall:
        raw = printable("".join(self._arguments))
        if not self._complete:
            return ToolCall(self._call_id, name, None, raw, _CUT)
        arguments, problem = parse_arguments(raw)
        return ToolCall(self._call_id, name, arguments, raw, problem)

    def _say(self, text: str, out: list[Chunk]) -> None:
        if text:
            self._answer.append(text)
            out.append(TextChunk(text))

    def _text(self, text: str, out: list[Chunk]) -> str:
        self._say(self._plain.add(text), out)
        return ""

    def _opening(self, text: str, out: list[Chunk]) -> str:
        text = text.lstrip(_SPACE)
        if text and text[0] != "{":
            raise ModelResponseInvalidError(
                "the model's reply does not keep to the JSON schema it was given; constrained tool use needs a "
                "server that supports response_format json_schema"
            )
        if text:
            self._step = self._before_key
        return text[1:]

    def _before_key(self, text: str, out: list[Chunk]) -> str:
        text = text.lstrip(_SPACE + ",")
        if text[:1] == "}":
            self._complete, self._step = True, self._after_end
        elif text[:1] == '"':
            self._string, self._key, self._step = JsonStringDecoder(), "", self._in_key
        elif text:
            raise ModelResponseInvalidError(f"the model's reply is no valid JSON near {text[:20]!r}")
        return text[1:]

    def _in_key(self, text: str, out: list[Chunk]) -> str:
        self._key += self._string.feed(text)
        if not self._string.closed:
            return ""
        self._step = self._before_value
        return self._string.rest

    def _before_value(self, text: str, out: list[Chunk]) -> str:
        text = text.lstrip(_SPACE + ":")
        if not text:
            return ""
        string = text[0] == '"' and (self._key == "tool" or (self._key == "answer" and self._reply == "string"))
        self._string, self._raw = JsonStringDecoder(), RawValueScanner()
        self._step = self._in_string if string else self._in_raw
        return text[1:] if string else text

    def _in_string(self, text: str, out: list[Chunk]) -> str:
        decoded = self._string.feed(text)
        if self._key == "answer":
            self._say(decoded, out)
        else:
            self._name += decoded
        if not self._string.closed:
            return ""
        if self._key == "tool":
            self._tool = self._name
            self._show_arguments("", out)
        self._step = self._before_key
        return self._string.rest

    def _in_raw(self, text: str, out: list[Chunk]) -> str:
        piece = self._raw.feed(text)
        if self._key == "answer":
            self._say(printable(piece), out)
        elif self._key == "arguments":
            self._arguments.append(piece)
            self._show_arguments(piece, out)
        if not self._raw.closed:
            return ""
        self._step = self._before_key
        return self._raw.rest

    def _show_arguments(self, piece: str, out: list[Chunk]) -> None:
        self._held.append(piece)
        if self._tool is not None:
            shown, self._held = printable("".join(self._held)), []
            if shown:
                out.append(ToolCallChunk(self._call_id, self._tool, shown))

    def _after_end(self, text: str, out: list[Chunk]) -> str:
        return ""
