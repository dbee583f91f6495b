import asyncio
import base64
import threading
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from toolkit import SCHEMA, make_context, run

from agentframework import Tool, ToolContext, ToolResult, tool
from agentframework._base.abort import AbortedError
from agentframework.errors import ErrorCode, ToolExecutionError
from agentframework.messages import DocumentPart, ImagePart, TextPart
from agentframework.tools import error_result
from agentframework.tools.executor import MAX_RESULT_CHARACTERS, bounded_result, execute_tool
from agentframework.tools.result import as_tool_result

WAIT_S = 10
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


class Point(BaseModel):
    x: int
    label: str = "ü"


@dataclass
class Pair:
    one: int
    two: Point


def returning(value: Any, *, sync: bool = False) -> Tool:
    async def later(_arguments: dict[str, Any], _context: ToolContext) -> Any:
        return value

    return Tool("t", "", SCHEMA, (lambda _arguments, _context: value) if sync else later)


def raising(error: BaseException, *, sync: bool) -> Tool:
    def now(_arguments: dict[str, Any], _context: ToolContext) -> Any:
        raise error

    async def later(_arguments: dict[str, Any], _context: ToolContext) -> Any:
        raise error

    return Tool("t", "", SCHEMA, now if sync else later)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        (None, ""),
        (3, "3"),
        (True, "true"),
        (1.5, "1.5"),
        ([1, "ü"], '[1, "ü"]'),
        ({"a": None}, '{"a": null}'),
        ((1, 2), "[1, 2]"),
        ([], "[]"),
        (Point(x=1), '{"x": 1, "label": "ü"}'),
        ([Point(x=1)], '[{"x": 1, "label": "ü"}]'),
        ({"p": Pair(1, Point(x=2))}, '{"p": {"one": 1, "two": {"x": 2, "label": "ü"}}}'),
        (Pair(1, Point(x=2)), '{"one": 1, "two": {"x": 2, "label": "ü"}}'),
        (ToolResult("own", is_error=True), "own"),
    ],
)
@pytest.mark.parametrize("sync", [False, True])
async def test_any_ordinary_value_becomes_text(value: Any, text: str, sync: bool) -> None:
    result = await run(returning(value, sync=sync))
    assert result.content == text
    assert result.is_error is (isinstance(value, ToolResult) and value.is_error)
    assert result.images == ()


async def test_data_is_kept_beside_its_text_for_programs() -> None:
    assert (await run(returning({"a": [1]}))).structured == {"a": [1]}
    assert (await run(returning(Point(x=1)))).structured == {"x": 1, "label": "ü"}
    assert (await run(returning("text"))).structured is None


async def test_pictures_come_back_as_parts_or_dicts_with_the_text_beside_them() -> None:
    picture = ImagePart("image/png", PIXEL)
    alone = await run(returning(picture))
    assert (alone.content, alone.images) == ("", (picture,))
    block = {"type": "image", "mime_type": "image/png", "data_base64": PIXEL}
    blocks = (block, {"type": "text", "text": "caption"}, picture, TextPart("more"))
    mixed = await run(returning(ToolResult("a plot", content_blocks=blocks)))
    assert (mixed.content, mixed.images) == ("a plot\ncaption\nmore", (picture, picture))
    chat_form = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    assert (await run(returning(ToolResult(content_blocks=[chat_form])))).images == (picture,)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "video"},
        {"type": "image", "mime_type": "image/png"},
        {"type": "image", "mime_type": "image/png", "data_base64": b"bytes"},
        {"type": "image_url", "image_url": {"url": "https://example.test/x.png"}},
        {"type": "document", "mime_type": "application/pdf", "data_base64": ""},
        {},
        DocumentPart("application/pdf", ""),
        ImagePart("image/png", b"bytes"),  # type: ignore[arg-type]
        "text",
        None,
        3,
    ],
)
async def test_a_block_that_is_no_picture_or_text_is_an_error_and_not_lost(block: Any) -> None:
    result = await run(returning(ToolResult("text", content_blocks=(block,))))
    assert result.is_error
    assert result.content.startswith("Error: ")
    assert "[TOOL_EXECUTION_FAILED]" in result.content


def circle() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


def deep() -> list[Any]:
    made: list[Any] = []
    for _ in range(100_000):
        made = [made]
    return made


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (object, "a tool returns text, JSON data or a ToolResult; object is none of these"),
        (lambda: b"bytes", "bytes is none of these"),
        (lambda: {1, 2}, "set is none of these"),
        (lambda: {(1, 2): 3}, "keys must be str"),
        (lambda: [iter(())], "none of these"),
        (circle, "Circular reference"),
        (deep, "RecursionError"),
        (lambda: ToolResult(5), "TypeError"),  # type: ignore[arg-type]
        (lambda: ToolResult("x", content_blocks=None), "TypeError"),  # type: ignore[arg-type]
        (lambda: ToolResult, "none of these"),
        (lambda: Point, "TypeError"),
    ],
)
@pytest.mark.parametrize("sync", [False, True])
async def test_a_value_that_is_no_result_is_an_error_result(make: Callable[[], Any], says: str, sync: bool) -> None:
    result = await run(returning(make(), sync=sync))
    assert result.is_error
    assert says in result.content
    assert result.content.endswith("[TOOL_EXECUTION_FAILED]")


class Strange(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Panic(BaseException):
    pass


GROUP = ExceptionGroup("unhandled errors in a TaskGroup", [ValueError("inner"), KeyError("k")])


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ValueError("bad value"), "ValueError: bad value"),
        (KeyError("k"), "KeyError: 'k'"),
        (RuntimeError(), "RuntimeError"),
        (StopIteration("s"), "StopIteration"),
        (StopAsyncIteration(), "StopAsyncIteration"),
        (TimeoutError("slow"), "slow"),
        (asyncio.CancelledError("its own"), "CancelledError: its own"),
        (SystemExit(2), "SystemExit: 2"),
        (Panic("rust"), "Panic: rust"),
        (GROUP, "ValueError: inner; KeyError: 'k'"),
        (Strange(), "Strange"),
        (SyntaxError("odd"), "SyntaxError: odd"),
        (MemoryError(), "MemoryError"),
    ],
)
@pytest.mark.parametrize("sync", [False, True])
async def test_every_kind_of_exception_becomes_an_error_result(error: BaseException, says: str, sync: bool) -> None:
    result = await run(raising(error, sync=sync))
    assert result.is_error
    assert says in result.content
    assert result.content.startswith("Error: ")
    assert result.content.endswith("[TOOL_EXECUTION_FAILED]")


async def test_an_error_of_ours_keeps_its_code() -> None:
    error = ToolExecutionError("no such thing", code=ErrorCode.TOOL_NOT_FOUND)
    assert (await run(raising(error, sync=False))).content == "Error: no such thing [TOOL_NOT_FOUND]"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, AbortedError])
async def test_what_means_stop_is_not_made_a_result(stop: type[BaseException]) -> None:
    coroutine = execute_tool(raising(stop(), sync=False), {}, make_context())
    with pytest.raises(stop):
        coroutine.send(None)


async def test_a_cancellation_from_outside_passes_through() -> None:
    began = asyncio.Event()

    @tool
    async def wait() -> None:
        began.set()
        await asyncio.Event().wait()

    task = asyncio.ensure_future(run(wait))
    async with asyncio.timeout(WAIT_S):
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_the_text_of_an_error_is_bounded_and_clean() -> None:
    for error in (ValueError("x" * 1_000_000 + "\ud800"), ToolExecutionError("y\udfff" * 500_000)):
        result = await run(raising(error, sync=False))
        assert len(result.content) < MAX_RESULT_CHARACTERS + 100
        assert "characters in all" in result.content
        result.content.encode()


async def test_a_result_larger_than_the_limit_is_refused_with_both_sizes() -> None:
    result = await execute_tool(returning("ü" * 60), {}, make_context(max_result_bytes=100))
    assert result == error_result("the result has 120 bytes, the limit is 100 [TOOL_RESULT_TOO_LARGE]")
    assert not (await execute_tool(returning("ü" * 50), {}, make_context(max_result_bytes=100))).is_error


async def test_pictures_count_towards_the_limit_together_with_the_text() -> None:
    picture = ImagePart("image/png", "A" * 60)
    for texts, pictures, fits in [(40, 1, True), (41, 1, False), (0, 2, False), (100, 0, True)]:
        value = ToolResult("x" * texts, content_blocks=(picture,) * pictures)
        result = await execute_tool(returning(value), {}, make_context(max_result_bytes=100))
        assert result.is_error is not fits
        assert ("TOOL_RESULT_TOO_LARGE" in result.content) is not fits
        assert result.images == ((picture,) * pictures if fits else ())


async def test_a_hundred_megabytes_are_cut_without_many_copies() -> None:
    text = "x" * 100_000_000
    made = returning(text)
    tracemalloc.start()
    result = await run(made)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(result.content) <= MAX_RESULT_CHARACTERS
    assert "100000000 characters in all" in result.content
    assert peak < 10_000_000


async def test_data_of_a_sync_tool_is_made_to_text_in_its_thread() -> None:
    where: list[int] = []

    class Noting(dict[str, int]):
        def items(self) -> Any:
            where.append(threading.get_ident())
            return super().items()

    result = await run(returning(Noting(a=1), sync=True))
    assert result.content == '{"a": 1}'
    assert set(where) == {where[0]} != {threading.get_ident()}


async def test_a_sync_tool_runs_in_a_thread_and_sees_the_abort() -> None:
    context = make_context()
    loop = asyncio.get_running_loop()
    began, saw = asyncio.Event(), threading.Event()

    def work(_arguments: dict[str, Any], given: ToolContext) -> str:
        loop.call_soon_threadsafe(began.set)
        wait = threading.Event()
        while not given.abort.aborted:
            wait.wait(0.01)
        saw.set()
        return f"stopped in {threading.get_ident()}"

    task = asyncio.ensure_future(execute_tool(Tool("t", "", SCHEMA, work), {}, context))
    async with asyncio.timeout(WAIT_S):
        await began.wait()
        context.abort.abort()
        result = await task
    assert saw.is_set()
    assert result.content.startswith("stopped in")
    assert not result.content.endswith(f" {threading.get_ident()}")


async def test_a_sync_function_may_give_back_a_coroutine_and_an_object_may_be_called() -> None:
    async def answer() -> str:
        return "later"

    class Callable_:
        async def __call__(self, arguments: Mapping[str, Any], context: ToolContext) -> str:
            return f"{context.turn_id} {dict(arguments)}"

    assert (await run(Tool("t", "", SCHEMA, lambda _a, _c: answer()))).content == "later"
    assert (await run(Tool("t", "", SCHEMA, Callable_()), a=1)).content == "turn {'a': 1}"


blocks = st.one_of(
    st.builds(TextPart, st.text(max_size=50)),
    st.builds(ImagePart, st.just("image/png"), st.text("AB=", max_size=50)),
    st.none(),
)


@given(st.text(max_size=200), st.lists(blocks, max_size=4), st.integers(0, 300), st.booleans())
def test_a_bounded_result_is_within_its_bounds(text: str, given_blocks: list[Any], limit: int, is_error: bool) -> None:
    result = bounded_result(ToolResult(text, is_error, tuple(given_blocks)), limit)
    size = len(result.content.encode()) + sum(len(image.data_base64) for image in result.images)
    assert size <= limit or (result.is_error and result.content.endswith("]"))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=8))
def test_every_json_value_is_a_result(value: Any) -> None:
    result = as_tool_result(value)
    assert isinstance(result.content, str)
    assert not result.is_error
