"""Identifiers: unique, printable, safe in file names and in HTTP headers."""

import secrets
import uuid


def new_id(prefix: str) -> str:
    """``prefix_`` followed by a random UUID, for things that outlive the process."""
    return f"{prefix}_{uuid.uuid4()}"


def short_id(prefix: str) -> str:
    """``prefix_`` followed by 12 hex digits, for things that live as long as a turn."""
    return f"{prefix}_{secrets.token_hex(6)}"
