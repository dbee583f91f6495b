import base64
import io
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PIL import Image

from agentframework.messages import ImagePart, image_type
from agentframework.tools import ToolContext, ToolResult
from tools_builtin._images import MAX_BASE64, MAX_SIDE, prepare_image
from tools_builtin._ledger import FileLedger
from tools_builtin._paths import RefusalError
from tools_builtin.read import read_tool

Call = Callable[..., Awaitable[ToolResult]]
READ = read_tool(FileLedger())


def picture(size: tuple[int, int], format_name: str, mode: str = "RGB") -> bytes:
    target = io.BytesIO()
    Image.new(mode, size, 100).save(target, format_name)
    return target.getvalue()


def noise(size: tuple[int, int], format_name: str, **options: object) -> bytes:
    target = io.BytesIO()
    Image.effect_noise(size, 100).convert("RGB").save(target, format_name, **options)
    return target.getvalue()


def opened(part: ImagePart) -> Image.Image:
    data = base64.b64decode(part.data_base64)
    assert image_type(data) == part.mime_type
    shown = Image.open(io.BytesIO(data))
    shown.load()
    assert shown.size == (part.width, part.height)
    return shown


@pytest.mark.parametrize("format_name", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_an_image_within_the_limits_is_passed_on_unchanged(
    tmp_path: Path, context: ToolContext, call: Call, format_name: str
) -> None:
    data = picture((40, 30), format_name)
    (tmp_path / "a").write_bytes(data)
    result = await call(READ, context, file_path="a")
    (part,) = result.images
    assert base64.b64decode(part.data_base64) == data
    assert part.mime_type == f"image/{format_name.lower()}"
    assert result.content == f"[a: {format_name} image, 40 x 30 pixels, {len(data)} bytes]"


async def test_the_type_comes_from_the_content_not_the_name(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a.png").write_bytes(picture((4, 4), "JPEG"))
    (part,) = (await call(READ, context, file_path="a.png")).images
    assert part.mime_type == "image/jpeg"


async def test_an_image_with_too_many_pixels_is_scaled_down(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a.png").write_bytes(picture((9_000, 10), "PNG"))
    result = await call(READ, context, file_path="a.png")
    (part,) = result.images
    assert opened(part).size == (MAX_SIDE, 2)
    assert "scaled to 2000 x 2" in result.content


async def test_an_image_with_too_many_bytes_is_made_to_fit(tmp_path: Path, context: ToolContext, call: Call) -> None:
    data = noise((1_900, 1_900), "JPEG", quality=97)
    assert len(data) > 2_000_000
    (tmp_path / "a.jpg").write_bytes(data)
    (part,) = (await call(READ, context, file_path="a.jpg")).images
    assert len(part.data_base64) <= min(MAX_BASE64, context.max_result_bytes)
    opened(part)


@pytest.mark.parametrize(("mode", "format_name"), [("RGBA", "PNG"), ("P", "GIF"), ("CMYK", "JPEG"), ("I;16", "PNG")])
def test_every_colour_mode_can_be_scaled(mode: str, format_name: str) -> None:
    part, _ = prepare_image(picture((3_000, 20), format_name, mode), MAX_BASE64)
    assert opened(part).size == (MAX_SIDE, 13)


def test_a_photograph_on_its_side_is_turned_when_it_is_scaled() -> None:
    target = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (3_000, 1_000)).save(target, "JPEG", exif=exif)
    part, _ = prepare_image(target.getvalue(), MAX_BASE64)
    assert opened(part).size == (667, MAX_SIDE)


def test_of_an_animation_the_first_frame_is_shown() -> None:
    target = io.BytesIO()
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "green", "blue")]
    frames[0].save(target, "GIF", save_all=True, append_images=frames[1:])
    part, what = prepare_image(target.getvalue(), MAX_BASE64)
    assert not getattr(opened(part), "is_animated", False)
    assert "animated" in what


def test_an_image_that_cannot_fit_is_refused() -> None:
    with pytest.raises(RefusalError, match="does not fit"):
        prepare_image(noise((200, 200), "PNG"), 50)


async def test_a_damaged_image_is_refused_and_never_becomes_a_block(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    whole = noise((60, 60), "PNG")
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "cut.jpg").write_bytes(noise((60, 60), "JPEG")[:400])
    (tmp_path / "head.gif").write_bytes(b"GIF89a")
    for name in ("cut.png", "cut.jpg", "head.gif"):
        result = await call(READ, context, file_path=name)
        assert result.is_error
        assert "damaged" in result.content
        assert result.images == ()


async def test_other_images_are_text_or_refused(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a.bmp").write_bytes(picture((4, 4), "BMP"))
    (tmp_path / "empty.png").touch()
    (tmp_path / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>\n')
    bmp = await call(READ, context, file_path="a.bmp")
    assert bmp.is_error
    assert "BMP" in bmp.content
    assert "empty" in (await call(READ, context, file_path="empty.png")).content
    assert "<svg" in (await call(READ, context, file_path="a.svg")).content


def test_an_image_that_would_fill_the_memory_is_not_decoded() -> None:
    # A valid header that announces 60,000 x 60,000 pixels.
    data = bytearray(picture((4, 4), "PNG"))
    data[16:24] = (60_000).to_bytes(4, "big") * 2
    with pytest.raises(RefusalError, match=r"too large|damaged|pixels"):
        prepare_image(bytes(data), MAX_BASE64)
