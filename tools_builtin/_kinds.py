"""Tells text from everything else by its leading bytes, and what else it is."""

from agentframework.messages import image_type

from ._encodings import signed_encoding

SNIFF_BYTES = 8_192

# Leading bytes (or bytes at an offset) of common formats; sources: the formats' own specifications.
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "PDF document"),
    (0, b"\x7fELF", "ELF program or library"),
    (0, b"PK\x03\x04", "ZIP archive or office document"),
    (0, b"PK\x05\x06", "ZIP archive"),
    (0, b"\x1f\x8b", "gzip data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xfd7zXZ\x00", "xz data"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (257, b"ustar", "tar archive"),
    (0, b"SQLite format 3\x00", "SQLite database"),
    (0, b"MZ", "Windows program"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (0, b"\xca\xfe\xba\xbe", "Java class or Mach-O program"),
    (0, b"\x00asm", "WebAssembly module"),
    (0, b"BM", "BMP image"),
    (0, b"II*\x00", "TIFF image"),
    (0, b"MM\x00*", "TIFF image"),
    (0, b"\x00\x00\x01\x00", "icon"),
    (4, b"ftyp", "MP4, HEIC or AVIF media"),
    (0, b"OggS", "Ogg media"),
    (0, b"ID3", "MP3 audio"),
    (0, b"fLaC", "FLAC audio"),
    (0, b"RIFF", "RIFF media"),
    (0, b"\x1aE\xdf\xa3", "Matroska or WebM video"),
    (0, b"wOFF", "web font"),
    (0, b"wOF2", "web font"),
)
# These begin with bytes that no text begins with, so no NUL is needed to tell.
_CERTAIN = {"PDF document", "gzip data", "zstd data", "Matroska or WebM video", "ELF program or library"}


def binary_kind(head: bytes) -> str | None:
    """What a file that begins with ``head`` is if it is no text, else None.

    Text is what has a Unicode signature, or no NUL in the first `SNIFF_BYTES`. Valid or not: text in an old
    encoding is text.
    """
    if signed_encoding(head) is not None:
        return None
    head = head[:SNIFF_BYTES]
    known = next((name for at, magic, name in _MAGIC if head.startswith(magic, at)), None)
    if b"\0" in head:
        return known or image_type(head) or "unknown binary data"
    return known if known in _CERTAIN else None
