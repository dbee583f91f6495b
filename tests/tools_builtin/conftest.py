"""What the tests of the built-in tools share: a context to run in, and a way to call a tool as the loop does.

Fixtures that return functions, because test folders are no packages and nothing can be imported from here.
"""

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentframework._base.abort import AbortSignal
from agentframework.sandbox import LocalSandbox
from agentframework.tools import AskUnavailableError, Tool, ToolContext, ToolResult
from agentframework.tools.executor import execute_tool
from agentframework.tools.schema import check_arguments
from agentframework.tools.tool import AskPort

MAX_RESULT_BYTES = 2_097_152

Report = tuple[str, float | None, float | None]
MakeContext = Callable[..., ToolContext]


async def _nobody_answers(questions: Sequence[Mapping[str, Any]]) -> Any:
    raise AskUnavailableError("nobody is listening")


@pytest.fixture
def reports() -> list[Report]:
    """Every progress report of contexts made by `make_context` in this test: text, progress, total."""
    return []


@pytest.fixture
def make_context(reports: list[Report]) -> MakeContext:
    """``make_context(tmp_path, session_id="session", ask=None, abort=None, additional_directories=())``."""

    def make(
        cwd: str | os.PathLike[str],
        *,
        session_id: str = "session",
        ask: AskPort | None = None,
        abort: AbortSignal | None = None,
        additional_directories: Iterable[str | os.PathLike[str]] = (),
        max_result_bytes: int = MAX_RESULT_BYTES,
    ) -> ToolContext:
        def progress(text: str, progress: float | None = None, total: float | None = None) -> None:
            reports.append((text, progress, total))

        return ToolContext(
            session_id=session_id,
            run_id="run",
            turn_id="turn",
            iteration=1,
            tool_use_id="call",
            cwd=os.fspath(cwd),
            workspace_root=os.fspath(cwd),
            max_result_bytes=max_result_bytes,
            sandbox=LocalSandbox(cwd, additional_directories),
            abort=abort or AbortSignal(),
            progress=progress,
            ask=ask or _nobody_answers,
        )

    return make


@pytest.fixture
def context(tmp_path: Path, make_context: MakeContext) -> ToolContext:
    """A context whose working directory is the test's own temporary one."""
    return make_context(tmp_path)


@pytest.fixture
def call() -> Callable[..., Awaitable[ToolResult]]:
    """``await call(tool, context, {"-A": 1}, pattern="x")``: checks the arguments, then runs within the limits."""

    async def call(
        tool: Tool, context: ToolContext, more: Mapping[str, Any] | None = None, /, **arguments: Any
    ) -> ToolResult:
        every = {**arguments, **(more or {})}
        assert check_arguments(tool.input_schema, every) is None, check_arguments(tool.input_schema, every)
        return await execute_tool(tool, every, context)

    return call
