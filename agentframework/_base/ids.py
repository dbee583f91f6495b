"""Identifiers: unique, printable, safe in file names and in HTTP headers."""

import os
import secrets


def new_id(prefix: str) -> str:
    """``prefix_`` followed by a random UUID, for things that outlive the process."""
    # What `uuid.uuid4` gives (RFC 9562, section 5.4) in half its time: each tool call needs several.
    d = os.urandom(16).hex()
    return f"{prefix}_{d[:8]}-{d[8:12]}-4{d[13:16]}-{'89ab'[int(d[16], 16) & 3]}{d[17:20]}-{d[20:]}"


def short_id(prefix: str) -> str:
    """``prefix_`` followed by 12 hex digits, for things that live as long as a turn."""
    return f"{prefix}_{secrets.token_hex(6)}"
