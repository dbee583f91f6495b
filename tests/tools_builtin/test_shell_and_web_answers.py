"""How answers look to the model, word for word; the files are in ``answers/``."""

import re
from pathlib import Path
from typing import Any

from agentframework.abilities.background import BackgroundRegistry
from agentframework.tools import ToolContext
from agentframework.tools.background import CanGoToBackground, TaskEnd, TaskWriter
from tools_builtin.ask_user_question import ask_user_question_tool
from tools_builtin.bash import bash_tool
from tools_builtin.bash_output import bash_output_tool
from tools_builtin.kill_shell import kill_shell_tool
from tools_builtin.shell import ShellState
from tools_builtin.web_search import SearchHit, web_search_tool

ANSWERS = Path(__file__).parent / "answers"


def told(name: str) -> str:
    return (ANSWERS / f"{name}.txt").read_text(encoding="utf-8").removesuffix("\n")


def timeless(text: str) -> str:
    return re.sub(r"\(\d+ s\)", "(N s)", text)


def silent(kind: str, data: Any) -> None:
    """Nobody listens."""


async def three_lines(writer: TaskWriter) -> TaskEnd:
    writer.write("starting\n[stderr] no configuration, using defaults\nready\n")
    return TaskEnd("completed", "exit code 0")


async def test_a_command_that_failed_shows_both_streams_and_its_code(context: ToolContext, call) -> None:
    result = await call(bash_tool(ShellState()), context, command="echo compiled; echo 'main.c: a warning' >&2; exit 2")
    assert result.content == told("bash")


async def test_a_command_in_the_background_says_how_to_follow_it(context: ToolContext, call) -> None:
    registry = BackgroundRegistry(silent)
    tool = bash_tool(ShellState())
    assert isinstance(tool, CanGoToBackground)
    result = await call(tool.with_background(registry), context, command="sleep 300", run_in_background=True)
    assert result.content == told("bash_started")
    await registry.close()


async def test_background_tools_say_how_the_task_is_and_where_to_go_on(context: ToolContext, call) -> None:
    registry = BackgroundRegistry(silent)
    registry.start("process", "make serve", three_lines)
    await registry.cancel("task_1")
    ended = registry.start("process", "make serve", three_lines)
    task = registry._entries[ended.id].task  # pyright: ignore[reportPrivateUsage]
    assert task is not None
    await task
    output = await call(bash_output_tool(registry), context, task_id="task_2")
    assert timeless(output.content) == told("bash_output")
    killed = await call(kill_shell_tool(registry), context, task_id="task_1")
    assert killed.content == told("kill_shell")
    await registry.close()


async def test_a_search_gives_one_page_a_line(context: ToolContext, call) -> None:
    class Engine:
        async def search(self, query: str, limit: int) -> list[SearchHit]:
            first = SearchHit("First", "https://a.test/1", "About one.")
            return [first, SearchHit("Second", "https://b.test/", "Two.")]

    result = await call(web_search_tool(Engine()), context, query="two pages")
    assert result.content == told("web_search")


async def test_answers_of_a_person_come_as_one_object(make_context, tmp_path: Path, call) -> None:
    async def ask(questions: Any) -> Any:
        return [["red", "blue"], "in my own words"]

    questions = [{"question": "Which colours?", "options": ["red", "blue"], "multiSelect": True}, {"question": "Why?"}]
    result = await call(ask_user_question_tool(), make_context(tmp_path, ask=ask), questions=questions)
    assert result.content == told("ask_user_question")
