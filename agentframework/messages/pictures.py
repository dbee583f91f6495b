"""Makes the bytes of an image something that every model API accepts, or says why it cannot be.

An image that an API refuses poisons the whole conversation, because it is sent again with every request. So
each one is decoded here completely, and scaled down if it is too large for any of the APIs.
"""

import base64
import io
from collections.abc import Iterator
from typing import Any

from agentframework.errors import InvalidInputError
from agentframework.messages.content import ImagePart, image_type

MAX_SIDE = 2_000  # pixels; what the APIs take when a request has many images
MAX_BASE64 = 5_000_000  # bytes of one image in a request
MAX_PIXELS = 80_000_000  # decoded, at four bytes each
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO")  # others bring interpreters with them
_JPEG_QUALITY = 85
_SHRINK = 0.7


def fitting_image(data: bytes, max_base64: int = MAX_BASE64) -> tuple[ImagePart, str]:
    """The image for a request, its base64 text in at most ``max_base64`` bytes, and a sentence of what it is.

    One that fits is taken as it is. Of an animation the first frame is taken. Decoding takes up to a second:
    call this in a thread. Raises `InvalidInputError` for a damaged image or one too large to decode.
    """
    mime_type = image_type(data)
    picture = _decode(data)
    width, height = picture.size
    limit = min(max_base64, MAX_BASE64)
    what = f"{picture.format} image, {width} x {height} pixels, {len(data)} bytes"
    animated = getattr(picture, "is_animated", False)
    if mime_type is not None and not animated and max(width, height) <= MAX_SIDE and _encoded_size(data) <= limit:
        return ImagePart(mime_type, base64.b64encode(data).decode(), width, height), what
    part = _scaled(picture, limit)
    if animated:
        what += ", animated: the first frame is shown"
    if (part.width, part.height) != (width, height):
        what += f", scaled to {part.width} x {part.height}"
    return part, what


def _decode(data: bytes) -> Any:
    from PIL import Image, ImageOps, UnidentifiedImageError  # noqa: PLC0415 - heavy, and few messages hold images

    try:
        picture = Image.open(io.BytesIO(data), formats=_FORMATS)
        if picture.width * picture.height > MAX_PIXELS:
            raise InvalidInputError(
                f"the image has {picture.width} x {picture.height} pixels, more than {MAX_PIXELS} in all; scale it down"
            )
        picture.load()
        upright = ImageOps.exif_transpose(picture)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InvalidInputError(f"the image is too large to decode: {error}") from None
    except UnidentifiedImageError:  # its own words hold the address of an object
        raise InvalidInputError("the image is damaged or of an unknown format and cannot be shown") from None
    except (OSError, SyntaxError, ValueError) as error:
        raise InvalidInputError(f"the image is damaged and cannot be shown: {error}") from None
    if upright.size != picture.size or picture.getexif().get(0x0112, 1) != 1:
        upright.format = picture.format
        return upright
    return picture


def _scaled(picture: Any, limit: int) -> ImagePart:
    scale = min(1.0, MAX_SIDE / max(picture.size))
    lossless = picture.format != "JPEG"
    if picture.mode not in ("RGB", "L"):
        picture = picture.convert("RGBA" if lossless else "RGB")
    while True:
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        scaled = picture if size == picture.size else picture.resize(size)
        for mime_type, data in _versions(scaled, lossless):
            if _encoded_size(data) <= limit:
                return ImagePart(mime_type, base64.b64encode(data).decode(), *size)
        if size == (1, 1):
            raise InvalidInputError(f"the image does not fit into {limit} bytes at any size")
        scale *= _SHRINK


def _versions(picture: Any, lossless: bool) -> Iterator[tuple[str, bytes]]:
    if lossless:
        yield "image/png", _saved(picture, "PNG")
    if picture.mode == "RGBA":
        from PIL import Image  # noqa: PLC0415 - loaded by now

        opaque = Image.new("RGB", picture.size, "white")
        opaque.paste(picture, mask=picture.getchannel("A"))
        picture = opaque
    yield "image/jpeg", _saved(picture, "JPEG", quality=_JPEG_QUALITY)


def _saved(picture: Any, format_name: str, **options: Any) -> bytes:
    target = io.BytesIO()
    picture.save(target, format_name, **options)
    return target.getvalue()


def _encoded_size(data: bytes) -> int:
    return (len(data) + 2) // 3 * 4
