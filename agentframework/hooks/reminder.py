"""How the model is told what hooks have said, or what has happened: in a marked block that no text can leave."""

import re
from collections.abc import Iterable

TAG = "system-reminder"
_TAGS = re.compile(rf"<(?=/?\s*{TAG})", re.IGNORECASE)


def reminder(notes: Iterable[tuple[str, str]]) -> str:
    """One block for all ``(event, text)``; nothing for none."""
    return news_block(f"{event} hook: {text}" for event, text in notes)


def news_block(news: Iterable[str]) -> str:
    """One block for all lines; nothing for none."""
    lines = [_TAGS.sub("&lt;", text) for text in news]
    return "\n".join([f"<{TAG}>", *lines, f"</{TAG}>"]) if lines else ""
