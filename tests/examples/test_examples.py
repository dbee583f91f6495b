import ast
import asyncio
import importlib.util
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentframework import StreamInterruptedError, ToolMessage
from agentframework.events import EVENT_TYPES, from_dict
from agentframework.testing import ScriptedProvider, call, say

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Outcome:
    """What an example did: its result, its prints, its directory, and what the model was asked."""

    returned: Any
    printed: str
    folder: Path
    provider: ScriptedProvider

    def results(self) -> list[str]:
        """What the model was told about its calls, over all requests."""
        messages = self.provider.requests[-1].messages
        return [part.content for message in messages if isinstance(message, ToolMessage) for part in message.content]


def hello(outcome: Outcome) -> None:
    assert outcome.returned == "There is one file, notes.txt."
    assert outcome.printed == "I will look. There is one file, notes.txt.\n"
    assert outcome.results() == ["notes.txt"]


def events(outcome: Outcome) -> None:
    assert outcome.printed == "… Glob(*.txt)\n… Read(notes.txt)\nOne says hello.\n"
    assert outcome.returned == ["Glob(*.txt): success", "Read(notes.txt): success"]
    lines = (outcome.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    log = [from_dict(json.loads(line)) for line in lines]
    assert all(type(event) in EVENT_TYPES.values() for event in log)
    assert [event.seq for event in log if event is not None] == list(range(1, len(lines) + 1))
    types = [event.type for event in log if event is not None]
    assert types[0] == "session_started"
    assert types.count("tool_end") == 2
    assert types.index("complete") > types.index("text_delta")


def permissions(outcome: Outcome) -> None:
    assert outcome.returned == [
        "Read: deny (deny)",
        "Bash: allow (allow)",
        "Bash: deny (deny)",
        "Write: allow (prompt)",
        "Write: deny (prompt)",
    ]
    assert (outcome.folder / "notes.md").read_text(encoding="utf-8") == "# Notes\n"
    assert not (outcome.folder / "notes.py").exists()
    assert (outcome.folder / "notes.txt").exists()
    read, status, removal, _, refused = outcome.results()
    assert "the deny rule Read(.env) forbids it" in read
    assert "secret" not in read
    assert "Exit code" in status
    assert "the deny rule Bash(rm:*) forbids it" in removal
    assert "only Markdown files, please" in refused


def own_tool(outcome: Outcome) -> None:
    assert outcome.returned == {"apples": 4, "pears": 2}
    assert outcome.printed == "… taking 3 apples\nThree apples, here you are.\n"
    plums, apples, taken, refused = outcome.results()
    assert "there is no plums; there are apples, pears" in plums
    assert apples == "7"
    assert json.loads(taken) == {"left": 4}
    assert "nobody listens" in refused


def tool_images(outcome: Outcome) -> None:
    assert outcome.returned == "Nobody is there."
    assert outcome.printed == "error\npicture of the door: 1 of 2\npicture of the door: 2 of 2\nsuccess\n"
    wrong, taken = outcome.results()
    assert "there is no camera 'gate'; there are door, yard" in wrong
    assert taken == "2 pictures of the door"
    message = outcome.provider.requests[-1].messages[-1]
    assert isinstance(message, ToolMessage)
    assert [image.mime_type for image in message.content[0].images] == ["image/png"] * 2


def query(outcome: Outcome) -> None:
    assert outcome.returned == ["They do.", "The slowest one."]
    assert outcome.printed == "They do.\nThe slowest one.\n"
    tests, removal = outcome.results()
    assert "all green" in tests
    assert "did not approve" in removal
    assert (outcome.folder / "notes.txt").exists()
    first, *_, last = outcome.provider.requests
    assert first.system.endswith("Answer in one sentence.")
    assert [message.text for message in last.messages if message.role == "user"] == [
        "Do the tests pass?",
        "Which one would you look at first?",
    ]


def hooks(outcome: Outcome) -> None:
    assert outcome.returned == ["notes.md"]
    assert outcome.printed == "Write allow hook\nWrite deny hook\nThe notes are in order.\n"
    assert (outcome.folder / "notes.md").read_text(encoding="utf-8") == "# Notes\n"
    assert not (outcome.folder / "notes.py").exists()
    assert "only notes (*.md) may be changed here" in outcome.results()[1]
    stop = json.loads((outcome.folder / "stops.jsonl").read_text(encoding="utf-8"))
    assert (stop["hook_event_name"], stop["last_assistant_message"]) == ("Stop", "The notes are in order.")


def bad_days(outcome: Outcome) -> None:
    assert outcome.returned == [
        "'A fox lived here.'",
        "MODEL_STREAM_INTERRUPTED after 'One day '",
        "stopped at 'It began '",
        "'Well.'",
    ]
    assert [message.text for message in outcome.provider.requests[-1].messages if message.role == "assistant"] == [
        "A fox lived here.",
        "One day ",
        "It began ",
    ]


def mcp(outcome: Outcome) -> None:
    assert outcome.returned == ["5"]
    assert outcome.printed == "sums offers add as mcp__sums__add\nFive.\n"


def governed(outcome: Outcome) -> None:
    assert outcome.returned == ["order_of: allow", "refund: allow", "refund: redirect"]
    assert outcome.printed == "You have it back.\nA colleague will call you back.\n"
    last = outcome.provider.requests[-1].messages
    assert last[-1].text == "Do not refund. Say that a colleague will call back."
    assert "30.0 euros of order 17 given back" in outcome.results()


def endpoints(outcome: Outcome) -> None:
    assert sorted(outcome.returned) == ["find_devices", "read_note"]  # whichever endpoint is there first
    assert outcome.printed == "A printer and a lamp.\n"
    devices, note = outcome.results()
    assert devices == "printer, lamp"
    assert "did not approve" in note


def web(outcome: Outcome) -> None:
    assert outcome.returned == "Hello to you."
    assert outcome.provider.requests[0].system == "Answer in one sentence."


SERVE = "python3 -m http.server 0 --bind 127.0.0.1"


def background_server(outcome: Outcome) -> None:
    assert outcome.returned == ["static files: started", "static files: cancelled"]
    assert outcome.printed == f"It is up.\nstill running: {SERVE}\n"
    started, looked = outcome.results()
    assert "task_1" in started
    assert "running" in looked


MAKEFILE = "test:\n\t@echo all green\n"
SCRIPTS: dict[str, tuple[tuple[Any, ...], Callable[[Outcome], None]]] = {
    "01_hello": ((say("I will look. ", call("Glob", pattern="*.txt")), "There is one file, notes.txt."), hello),
    "02_events": (
        (say(call("Glob", pattern="*.txt")), say(call("Read", file_path="notes.txt")), "One says hello."),
        events,
    ),
    "03_permissions": (
        (
            say(
                call("Read", file_path=".env"),
                call("Bash", command="git status"),
                call("Bash", command="git status && rm notes.txt"),
            ),
            say(call("Write", file_path="notes.md", content="# Notes\n")),
            say(call("Write", file_path="notes.py", content="pass\n")),
            "Done, as far as I may.",
        ),
        permissions,
    ),
    "04_own_tool": (
        (
            say(call("stock_of", item="plums"), call("stock_of", item="apples")),
            say(call("take", item="apples", pieces=3)),
            say(call("take", item="pears", pieces=1)),
            "Three apples, here you are.",
        ),
        own_tool,
    ),
    "05_query": (
        (
            say(call("Bash", command="make test"), call("Bash", command="rm notes.txt")),
            "They do.",
            "The slowest one.",
        ),
        query,
    ),
    "06_hooks": (
        (
            say(call("Write", file_path="notes.md", content="# Notes\n")),
            say(call("Write", file_path="notes.py", content="pass\n")),
            "The notes are in order.",
        ),
        hooks,
    ),
    "07_bad_days": (
        (
            "A fox lived here.",
            say("One day ", StreamInterruptedError("the connection broke")),
            say("It began ", asyncio.Event()),
            "Well.",
        ),
        bad_days,
    ),
    "08_mcp": ((say(call("mcp__sums__add", a=2, b=3)), "Five."), mcp),
    "09_tool_images": (
        (
            say(call("look", camera="gate", pictures=1)),
            say(call("look", camera="door", pictures=2)),
            "Nobody is there.",
        ),
        tool_images,
    ),
    "10_governed_agent": (
        (
            say(call("order_of", number="17")),
            say(call("refund", number="17", euros=30.0)),
            "You have it back.",
            say(call("refund", number="18", euros=900.0)),
            "A colleague will call you back.",
        ),
        governed,
    ),
    "11_endpoints": (
        (
            say(call("mcp__server_1__find_devices"), call("mcp__server_2__read_note", name="printer")),
            "A printer and a lamp.",
        ),
        endpoints,
    ),
    "12_web_endpoint": ((say("Hello ", "to you."),), web),
    "13_background_server": (
        (
            say(call("Bash", command=SERVE, description="static files", run_in_background=True)),
            say(call("BashOutput", task_id="task_1")),
            "It is up.",
        ),
        background_server,
    ),
}


def load(path: Path) -> Callable[..., Awaitable[object]]:
    """The example's ``main``."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def test_every_example_is_numbered_once_and_has_a_script_here() -> None:
    names = sorted(path.stem for path in EXAMPLES.glob("*.py"))
    assert names == sorted(SCRIPTS)
    numbers = [re.match(r"(\d\d)_", name) for name in names]
    assert [found.group(1) for found in numbers if found] == [f"{n:02}" for n in range(1, len(names) + 1)]


@pytest.mark.parametrize("name", sorted(SCRIPTS))
async def test_the_example_does_what_it_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    for file, text in {"notes.txt": "hello", ".env": "secret", "Makefile": MAKEFILE}.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    steps, check = SCRIPTS[name]
    with ScriptedProvider(*steps) as provider:
        returned = await load(EXAMPLES / f"{name}.py")(provider)
    check(Outcome(returned, capsys.readouterr().out, tmp_path, provider))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_one_screen_and_says_what_it_shows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    mains = [node for node in tree.body if isinstance(node, ast.AsyncFunctionDef) and node.name == "main"]
    assert [[parameter.arg for parameter in main.args.args] for main in mains] == [["provider"]]
