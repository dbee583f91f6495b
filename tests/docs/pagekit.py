"""Runs the Python blocks of a Markdown page as a reader would: in order, in one namespace, in a directory of its own.

The comment ``<!-- scene: name -->`` before a block says what the model does while the block runs; the scenes are in
`scenes`. ``<!-- alone -->`` gives a block a namespace of its own. The ``text`` or ``json`` block after a Python block
is what it prints; in it, ``…`` stands for whatever differs from run to run.
"""

import ast
import asyncio
import builtins
import inspect
import io
import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import agentframework
from agentframework.testing import ScriptedProvider

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
WAIT_S = 60
PROVIDERS = {"AnthropicProvider", "LocalProvider", "OpenAIProvider"}

_FENCE = re.compile(r"^(?:<!-- (?P<note>.*?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block; ``line`` is that of its first line of text, ``note`` the comment before it."""

    language: str
    text: str
    line: int
    note: str

    @property
    def scene(self) -> str | None:
        """The name of the scene it asks for."""
        found = re.search(r"\bscene: (\w+)", self.note)
        return None if found is None else found[1]

    @property
    def alone(self) -> bool:
        """Whether it shares no names with the other blocks."""
        return re.search(r"\balone\b", self.note) is not None


def blocks_of(text: str) -> list[Block]:
    """All fenced blocks, in order."""
    return [
        Block(found["language"], found["text"], text.count("\n", 0, found.start("text")) + 1, found["note"] or "")
        for found in _FENCE.finditer(text)
    ]


def runnable(blocks: list[Block]) -> list[tuple[Block, Block | None]]:
    """The Python blocks, each with the block that quotes what it prints."""
    found: list[tuple[Block, Block | None]] = []
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.language == "python":
            found.append((block, after if after is not None and after.language in ("json", "text") else None))
    return found


@dataclass
class Stage:
    """Where blocks run: ``folder`` is the current directory, ``model`` answers whatever provider a block makes."""

    folder: Path
    model: ScriptedProvider = field(default_factory=ScriptedProvider)

    def put(self, name: str, text: str) -> None:
        """A file in the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def text(self, name: str) -> str:
        """What a file holds."""
        return (self.folder / name).read_text(encoding="utf-8")


Scene = Callable[[Stage], AbstractContextManager[Any]]


class Reader:
    """Runs blocks of one page. Leave it as a context manager: that closes its event loop."""

    def __init__(self, path: Path, stage: Stage, scenes: Mapping[str, Scene]) -> None:
        self._path = path
        self._stage = stage
        self._scenes = scenes
        self._names = self._namespace()
        self._runner = asyncio.Runner()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_exc: object) -> None:
        self._runner.close()

    def read(self, block: Block, quoted: Block | None = None) -> str:
        """Run a block in its scene, hold what it prints against ``quoted``, and return it."""
        scene = nullcontext() if block.scene is None else self._scenes[block.scene](self._stage)
        printed = io.StringIO()
        with scene:
            with redirect_stdout(printed):
                self._run(block)
            self._stage.model.assert_finished()
        if quoted is not None:
            compare(quoted, printed.getvalue())
        return printed.getvalue()

    def _run(self, block: Block) -> None:
        source = "\n" * (block.line - 1) + block.text
        code = compile(source, str(self._path), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        outcome = eval(code, self._namespace() if block.alone else self._names)
        if inspect.iscoroutine(outcome):
            self._runner.run(asyncio.wait_for(outcome, WAIT_S))

    def _namespace(self) -> dict[str, Any]:
        """Fresh names, in which ``agentframework`` has the stage's model behind its provider classes."""
        stage = self._stage

        def import_for_block(name: str, *rest: Any) -> Any:
            found = builtins.__import__(name, *rest)
            return _Package(stage) if found is agentframework else found

        return {"__name__": "__main__", "__builtins__": {**vars(builtins), "__import__": import_for_block}}


class _Package:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def __getattr__(self, name: str) -> Any:
        found = getattr(agentframework, name)
        return self._behind(found) if name in PROVIDERS else found

    def _behind(self, provider: Callable[..., Any]) -> Callable[..., Any]:
        def make(*args: Any, **options: Any) -> Any:
            made = provider(*args, **options)  # the options have to be good all the same
            return made if "base_url" in options else self._stage.model

        return make


def compare(quoted: Block, printed: str) -> None:
    """Hold what a block printed against what the page says it prints."""
    expected, actual = quoted.text, printed
    if quoted.language == "json":
        expected = json.dumps(json.loads(expected), indent=1, ensure_ascii=False)
        actual = json.dumps(json.loads(actual), indent=1, ensure_ascii=False)
    pattern = ".*?".join(re.escape(part) for part in expected.strip().split("…"))
    assert re.fullmatch(pattern, actual.strip(), re.S), (
        f"line {quoted.line} quotes\n{expected}\nbut it prints\n{actual}"
    )


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its two head lines."""
    section = re.split(r"^#+ ", text.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.M)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines[2:]]


def quoted_names(cell: str) -> list[str]:
    """What stands in code font in a cell."""
    return re.findall(r"`([^`]+)`", cell)
