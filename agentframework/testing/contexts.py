"""A `ToolContext` for calling a tool directly in a test."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentframework._base.abort import AbortSignal
from agentframework.sandbox import LocalSandbox
from agentframework.tools import AskUnavailableError, ToolContext
from agentframework.tools.tool import AskPort, Progress


def tool_context(
    cwd: str | Path,
    *,
    session_id: str = "session",
    abort: AbortSignal | None = None,
    progress: Progress | None = None,
    ask: AskPort | None = None,
) -> ToolContext:
    """A context as a turn would give it: confined to ``cwd``, never aborted, with nobody to answer questions.

    ``progress`` and ``ask`` replace the silent defaults; keep ``abort`` to stop the tool from the test.
    """
    sandbox = LocalSandbox(cwd)
    return ToolContext(
        session_id=session_id,
        run_id="run",
        turn_id="turn",
        iteration=1,
        tool_use_id="call",
        cwd=sandbox.roots[0],
        workspace_root=sandbox.roots[0],
        max_result_bytes=2_097_152,
        sandbox=sandbox,
        abort=abort or AbortSignal(),
        progress=progress or _silent,
        ask=ask or _nobody,
    )


def _silent(text: str, progress: float | None = None, total: float | None = None) -> None:
    """Nobody watches."""


async def _nobody(questions: Sequence[Mapping[str, Any]]) -> Any:
    raise AskUnavailableError("nobody is there to answer in this test")
