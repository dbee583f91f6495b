"""The demonstration's second part: a recorded model in a real session.

The model's half comes from the files in ``recordings/``. Everything else happens: the gate asks, tools read and edit
files, a shell runs the test, a turn is interrupted. The recording of the repair is made for a person who says yes;
after a no another recording goes on, so that the model never claims what did not happen.
"""

import asyncio
import os
import sys
from functools import partial
from pathlib import Path

from agentframework.assembly import builtin_tools
from agentframework.cli.demo_answers import Answers
from agentframework.cli.view import Screen, SessionView
from agentframework.errors import AgentFrameworkError
from agentframework.events import PermissionRequest, TextDelta, ToolEnd
from agentframework.messages import ExecutionResult
from agentframework.providers.replay import ReplayProvider
from agentframework.session import InteractiveSession

REPAIR = "The test fails. Find the bug and fix it."
EXPLAIN = "Explain rain.py to me, letter by letter."
RECORDINGS = Path(__file__).parent / "recordings"


async def run_recorded_part(screen: Screen, folder: Path, answers: Answers, *, lively: bool) -> bool:
    """Run both turns; ``lively`` streams at a readable pace. False if a turn failed, which the screen shows."""
    screen.heading("2. A recorded model, everything else real")
    screen.line(
        "What the model says in this part is replayed from a recording. Real are the session, the permission "
        "questions, the tools, the edit of the file, and the command that is run."
    )
    pace_s = 0.04 if lively else 0.0
    session = InteractiveSession(
        cwd=folder,
        provider=_recording("fix", pace_s),
        default_tools=builtin_tools(environment=_environment()).pick("Read", "Grep", "Edit", "Bash"),
    )
    view = SessionView(screen)
    view.attach(session)
    session.on(PermissionRequest, partial(answers.answer, session, view))
    session.on(ToolEnd, partial(_after_a_no, session, pace_s))
    try:
        repaired = await _turn(screen, session, REPAIR)
        session.set_model("recorded-model", _recording("interrupted", pace_s))
        return await _interrupted_turn(screen, session, 2.5 if lively else 0.3) and repaired
    finally:
        await session.shutdown()


def _recording(name: str, pace_s: float) -> ReplayProvider:
    return ReplayProvider(RECORDINGS / f"{name}.jsonl", pace_s=pace_s)


def _environment() -> dict[str, str]:
    """This process's, with this interpreter's folder in front: there is a ``python3`` in it."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path}


def _after_a_no(session: InteractiveSession, pace_s: float, event: ToolEnd) -> None:
    if event.outcome == "denied":
        session.set_model("recorded-model", _recording("refused", pace_s))


async def _turn(screen: Screen, session: InteractiveSession, prompt: str) -> bool:
    return await _result(screen, session, prompt) is not None


async def _result(screen: Screen, session: InteractiveSession, prompt: str) -> ExecutionResult | None:
    screen.line()
    screen.line(prompt, "bold cyan", lead="> ")
    try:
        return await session.submit_nowait(prompt).completed
    except AgentFrameworkError:
        return None  # the view has shown the error event


async def _interrupted_turn(screen: Screen, session: InteractiveSession, after_s: float) -> bool:
    screen.line()
    screen.line("The next answer is too long for anybody. The demo stops it, as a person would.")
    loop = asyncio.get_running_loop()
    session.once(TextDelta, lambda _event: loop.call_later(after_s, session.abort))
    result = await _result(screen, session, EXPLAIN)
    if result is None:
        return False
    kept = len(result.response)
    screen.line(f"The {kept} characters above are kept in the history, marked as interrupted.")
    return result.interrupted
