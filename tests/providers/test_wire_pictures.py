"""No image or document in a history can make the APIs refuse it: what they would not take is scaled or replaced."""

import base64
import io
import json
import random
from functools import cache
from typing import Any

import pytest
from apikit import APIS, answers, talk
from PIL import Image

from agentframework.messages import DocumentPart, ImagePart, TextPart, UserMessage, user_text
from agentframework.providers.acceptable import usable_document, usable_image
from agentframework.testing.strict_server import text


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def saved(picture: Image.Image, kind: str, **options: Any) -> bytes:
    target = io.BytesIO()
    picture.save(target, kind, **options)
    return target.getvalue()


@cache
def noise(side: int, kind: str) -> bytes:
    """A picture that cannot be compressed."""
    return saved(Image.frombytes("RGB", (side, side), random.Random(7).randbytes(side * side * 3)), kind, quality=100)


def plain(size: tuple[int, int], kind: str) -> bytes:
    return saved(Image.new("RGB", size, "red"), kind)


PICTURES = {
    "too wide": ("image/png", encoded(plain((9_000, 10), "PNG"))),
    "more bytes than allowed": ("image/jpeg", encoded(noise(1_700, "JPEG"))),
    "a JPEG that calls itself PNG": ("image/png", encoded(plain((20, 20), "JPEG"))),
    "a BMP": ("image/bmp", encoded(plain((20, 20), "BMP"))),
    "an animation": (
        "image/gif",
        encoded(
            saved(Image.new("P", (8, 8), 1), "GIF", save_all=True, append_images=[Image.new("P", (8, 8), 2)]),
        ),
    ),
    "base64 in lines": ("image/png", base64.encodebytes(plain((20, 20), "PNG")).decode()),
    "cut off": ("image/png", encoded(noise(40, "PNG")[:-500])),
    "empty": ("image/png", ""),
    "no base64": ("image/png", "%%%"),
    "SVG": ("image/svg+xml", encoded(b"<svg xmlns='http://www.w3.org/2000/svg'/>")),
    "PostScript": ("image/eps", encoded(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 1 1\nshowpage\n")),
}
LEFT_OUT = {"cut off", "empty", "no base64", "SVG", "PostScript"}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_made_fit_or_replaced_by_the_reason(name: str) -> None:
    kind, data = PICTURES[name]
    found = usable_image(ImagePart(kind, data))
    if name in LEFT_OUT:
        assert isinstance(found, TextPart)
        assert found.text.startswith("[image left out: ")
        return
    assert isinstance(found, ImagePart)
    raw = base64.b64decode(found.data_base64, validate=True)
    picture = Image.open(io.BytesIO(raw))
    picture.load()
    assert max(picture.size) <= 2_000
    assert len(found.data_base64) <= 5_000_000
    assert found.mime_type == Image.MIME[str(picture.format)]
    assert usable_image(ImagePart(kind, data)) == found


@pytest.mark.parametrize("api", APIS)
async def test_a_history_with_every_bad_picture_is_accepted_and_keeps_its_bytes(api: str) -> None:
    history = [UserMessage(tuple(ImagePart(*PICTURES[name]) for name in PICTURES))]
    async with talk(api) as it:
        it.server.reply(text("I see."))
        it.server.reply(text("Yes."))
        reply = await it.ask(history)
        await it.ask([*history, reply, user_text("Do you?")])
    assert it.server.rejections == []
    first, second = (request.raw.removesuffix(b"]}") for request in it.server.requests)
    assert second.startswith(first)


@pytest.mark.parametrize("api", APIS)
async def test_many_large_pictures_are_accepted_in_one_request(api: str) -> None:
    large = ImagePart("image/png", encoded(plain((2_400, 10), "PNG")))
    async with talk(api) as it:
        it.server.reply(text("Many."))
        await it.ask([UserMessage((large,) * 22)])
    assert it.server.rejections == []


@pytest.mark.parametrize(
    ("document", "note"),
    [
        (DocumentPart("application/pdf", encoded(b"<html>")), "[document left out: it is no PDF]"),
        (DocumentPart("application/pdf", "%%", "a.pdf"), "[a.pdf left out: its data is no base64]"),
        (DocumentPart("application/pdf", encoded(b"%PDF" + bytes(20_000_000)), "a.pdf"), "larger than 20 MB"),
        (DocumentPart("application/zip", encoded(b"PK"), "a.zip"), "cannot be read by the model"),
        (DocumentPart("text/plain", encoded(b" "), "a.txt"), "a.txt:\n(no text)"),
    ],
)
def test_a_document_that_no_api_takes_is_replaced_by_the_reason(document: DocumentPart, note: str) -> None:
    found = usable_document(document)
    assert isinstance(found, TextPart)
    assert note in found.text


@pytest.mark.parametrize("api", APIS)
async def test_a_pdf_arrives_whole(api: str) -> None:
    pdf = DocumentPart("application/pdf", encoded(b"%PDF-1.4\n%%EOF"), "a.pdf")
    async with talk(api) as it:
        it.server.reply(text("A page."))
        reply = await it.ask([UserMessage((TextPart("What is this?"), pdf))])
    assert pdf.data_base64 in json.dumps(it.server.requests[0].body)
    assert answers(reply).content == ()
