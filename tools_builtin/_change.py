"""How a tool changes the text of a file: loaded, checked, changed, replaced, remembered – or nothing happens.

Above: the tools that edit. Every byte that the change does not name stays as it is.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agentframework.tools import ToolContext, ToolResult

from ._atomic import replace_file
from ._contents import MAX_BYTES, Content, load, refuse_read_only, refuse_unseen_changes
from ._diff import diff_of
from ._encodings import Encoding, encoding_of, is_utf8_text
from ._ledger import FileLedger, digest_of
from ._paths import RefusalError, locate, one_line, reason


@dataclass(frozen=True, slots=True)
class Changed:
    """What was done: how the file is called, its text before and after, and whether it happened in one step."""

    shown: str
    before: str
    after: str
    at_once: bool

    def result(self, said: str) -> ToolResult:
        """The answer for the model, with the difference for display."""
        if not self.at_once:
            said += " Its directory is not writable, so it was rewritten in place."
        return ToolResult(said, diff=diff_of(self.shown, self.before, self.after))


def change_text(path: str, context: ToolContext, files: FileLedger, change: Callable[[str], str]) -> Changed:
    """Replace the text of the file at ``path`` by what ``change`` makes of it.

    Raises `RefusalError`, also what ``change`` raises, the file untouched.
    """
    place = locate(context, path)
    shown = one_line(place.shown)
    with files.writing(place.path):
        content = load(place, context)
        refuse_unseen_changes(content, place, context, files)
        if content is None:
            raise RefusalError(f"{shown} does not exist; Write creates files")
        refuse_read_only(content, place)
        encoding, before = _text_of(content, shown)
        try:
            after = change(before)
        except RefusalError as error:
            raise RefusalError(f"{shown} was not changed: {error}") from None
        data = encoding.encode(after)
        context.abort.check()
        try:
            at_once = replace_file(place.path, data, content.status, content.data)
        except OSError as error:
            raise RefusalError(f"{shown} was not changed: {reason(error)}") from None
        files.remember(context.session_id, place.path, digest_of(data))
    return Changed(shown, before, after, at_once)


def refuse_surrogates(**texts: str) -> None:
    """Raise `RefusalError` for an argument that no encoding can write."""
    for name, text in texts.items():
        if not is_utf8_text(text):
            raise RefusalError(f"{name} must be text; it holds lone surrogates")


def _text_of(content: Content, shown: str) -> tuple[Encoding, str]:
    if content.data is None:
        raise RefusalError(f"{shown} is larger than {MAX_BYTES >> 20} MiB; change it with a program")
    encoding = encoding_of(content.head)
    try:
        text = encoding.decode(content.data)
        faithful = encoding.encode(text) == content.data
    except UnicodeError:
        faithful, text = False, ""
    if not faithful:
        raise RefusalError(f"{shown} says it is {encoding.label} but is not valid; nothing was changed")
    return encoding, text
