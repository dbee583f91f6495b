"""What the APIs check of a picture: real base64, the declared type, wholeness, limits.

Limits of https://platform.claude.com/docs/en/build-with-claude/vision: 5 MB of base64 text, 8000 pixels a
side (2000 when a request has more than 20 images).
"""

from __future__ import annotations

import base64
import binascii
import struct

__all__ = ["IMAGE_TYPES", "MAX_BASE64", "decode_base64", "image_problem", "image_size", "sniff"]

IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
MAX_BASE64 = 5 * 1024 * 1024

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def decode_base64(text: str) -> bytes | None:
    """The bytes of strict base64 without white space, or None."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def sniff(data: bytes) -> str | None:
    """Image type by magic bytes, or None."""
    for magic, media_type in _MAGIC:
        if data.startswith(magic):
            return media_type
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def image_problem(media_type: str, data: str, *, max_side: int = 8000) -> str | None:
    """Why an API would refuse this base64 image, or None."""
    if media_type not in IMAGE_TYPES:
        return f"media_type: Input should be one of {', '.join(IMAGE_TYPES)}"
    if len(data) > MAX_BASE64:
        return f"image exceeds 5 MB maximum: {len(data)} bytes > {MAX_BASE64} bytes"
    raw = decode_base64(data)
    if raw is None:
        return "data: invalid base64 data"
    found = sniff(raw)
    if found is not None and found != media_type:
        return f"The image was specified using the {media_type} media type, but appears to be a {found} image"
    if found is None or not _is_whole(found, raw):
        return "Could not process image"
    size = image_size(found, raw)
    if size is None:
        return "Could not process image"
    if max(size) > max_side:
        return f"At least one of the image dimensions exceed max allowed size: {max_side} pixels"
    return None


def _is_whole(media_type: str, raw: bytes) -> bool:
    """Whether the end that the format prescribes is there."""
    if media_type == "image/png":
        return raw[-8:-4] == b"IEND"
    if media_type == "image/jpeg":
        return raw.rstrip(b"\x00").endswith(b"\xff\xd9")
    if media_type == "image/gif":
        return raw.rstrip(b"\x00").endswith(b";")
    return len(raw) >= 8 + int.from_bytes(raw[4:8], "little")


def image_size(media_type: str, raw: bytes) -> tuple[int, int] | None:
    """Width and height in pixels from the header, or None if it is broken."""
    readers = {
        "image/png": _png_size,
        "image/jpeg": _jpeg_size,
        "image/gif": _gif_size,
        "image/webp": _webp_size,
    }
    try:
        size = readers[media_type](raw)
    except (struct.error, IndexError):
        return None
    return size if size is not None and min(size) > 0 else None


def _png_size(raw: bytes) -> tuple[int, int] | None:
    return struct.unpack_from(">II", raw, 16) if raw[12:16] == b"IHDR" else None


def _gif_size(raw: bytes) -> tuple[int, int]:
    return struct.unpack_from("<HH", raw, 6)


def _jpeg_size(raw: bytes) -> tuple[int, int] | None:
    """The first start-of-frame segment (ITU T.81 B.2.2)."""
    at = 2
    while at + 9 <= len(raw):
        if raw[at] != 0xFF:
            return None
        marker = raw[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", raw, at + 5)
            return width, height
        at += 1 if marker == 0xFF else 2 + struct.unpack_from(">H", raw, at + 2)[0]
    return None


def _webp_size(raw: bytes) -> tuple[int, int] | None:
    """VP8X, VP8L or VP8 chunk (RFC 9649 §2.5-2.7)."""
    kind = raw[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(raw[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", raw, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None
