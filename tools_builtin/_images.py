"""Image files for the model: `agentframework.messages.pictures` with the refusals that tools speak."""

from agentframework.errors import InvalidInputError
from agentframework.messages import ImagePart
from agentframework.messages.pictures import MAX_BASE64, MAX_SIDE, fitting_image

from ._paths import RefusalError

__all__ = ["MAX_BASE64", "MAX_FILE_BYTES", "MAX_SIDE", "prepare_image"]

MAX_FILE_BYTES = 50_000_000


def prepare_image(data: bytes, max_bytes: int) -> tuple[ImagePart, str]:
    """The image for a request, its base64 text in at most ``max_bytes``, and a sentence of what it is.

    Raises `RefusalError` for a damaged image or one too large to decode.
    """
    try:
        return fitting_image(data, max_bytes)
    except InvalidInputError as error:
        raise RefusalError(error.message) from None
