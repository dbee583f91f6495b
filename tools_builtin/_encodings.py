"""What encoding a text file has, and how to change its text without touching any byte that was not meant.

Only what a file says itself counts: a Unicode signature (byte order mark), else UTF-8. Bytes that are no UTF-8
pass through unchanged as lone surrogates (PEP 383).
"""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Encoding:
    """A codec, the signature that a file in it begins with, and what to call it."""

    codec: str
    signature: bytes
    label: str

    def decode(self, data: bytes) -> str:
        """All of a file as text, without the signature. Raises ``UnicodeDecodeError`` for broken UTF-16 or 32."""
        return data[len(self.signature) :].decode(self.codec, self._errors)

    def encode(self, text: str) -> bytes:
        """The inverse of `decode`, signature and all."""
        return self.signature + text.encode(self.codec, self._errors)

    @property
    def _errors(self) -> str:
        return "surrogateescape" if self.codec == "utf-8" else "surrogatepass"


UTF_8 = Encoding("utf-8", b"", "UTF-8")

# UTF-32 first: its little-endian signature begins with that of UTF-16.
_SIGNED = (
    Encoding("utf-8", BOM_UTF8, "UTF-8 with a byte order mark"),
    Encoding("utf-32-le", BOM_UTF32_LE, "UTF-32"),
    Encoding("utf-32-be", BOM_UTF32_BE, "UTF-32"),
    Encoding("utf-16-le", BOM_UTF16_LE, "UTF-16"),
    Encoding("utf-16-be", BOM_UTF16_BE, "UTF-16"),
)


def signed_encoding(head: bytes) -> Encoding | None:
    """The encoding that the file's first bytes declare, if they do."""
    return next((encoding for encoding in _SIGNED if head.startswith(encoding.signature)), None)


def encoding_of(head: bytes) -> Encoding:
    """The encoding of a text file that begins with ``head``."""
    return signed_encoding(head) or UTF_8


def is_utf8_text(text: str) -> bool:
    """False if ``text`` holds lone surrogates: such a text stands for bytes and cannot be written down."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
