"""How the model is told what hooks have said: in a marked block that their text cannot leave."""

import re
from collections.abc import Iterable

TAG = "system-reminder"
_TAGS = re.compile(rf"<(?=/?\s*{TAG})", re.IGNORECASE)


def reminder(notes: Iterable[tuple[str, str]]) -> str:
    """One block for all ``(event, text)``; nothing for none."""
    lines = [f"{event} hook: {_TAGS.sub('&lt;', text)}" for event, text in notes]
    return "\n".join([f"<{TAG}>", *lines, f"</{TAG}>"]) if lines else ""
