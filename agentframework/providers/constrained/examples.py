"""Which worked examples a prompt shows, and how the words of a request point at them.

A model of a hundred million parameters cannot weigh twenty tool descriptions, but it continues a pattern well.
So a prompt shows the few examples whose requests are most like this one, the closest last: its order of words is
the model's best hint. Examples exist for the usual tools by name; other tools get one made from their description.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentframework.messages import ToolSpec

_MAX_DEPTH = 4
# How the text that a tool returned is called once it is part of the prompt.
THE_TEXT = "the text"


@dataclass(frozen=True, slots=True)
class Example:
    """A request and the action it leads to; with ``result`` the reply once a tool has returned that text."""

    request: str
    action: Mapping[str, Any]
    result: str | None = None

    @property
    def tool(self) -> str | None:
        """Name of the tool called, None for a reply."""
        return self.action.get("tool")


def _call(request: str, tool: str, **arguments: str) -> Example:
    return Example(request, {"tool": tool, "arguments": arguments})


def _reply(request: str, answer: str, result: str | None = None) -> Example:
    return Example(request, {"answer": answer}, result)


_CALLS = (
    _call("Read menu.md and summarise it.", "Read", file_path="menu.md"),
    _call("Read poem.txt and tell me its title.", "Read", file_path="poem.txt"),
    _call("Open src/app.py and explain it.", "Read", file_path="src/app.py"),
    _call("What is in data/items.csv?", "Read", file_path="data/items.csv"),
    _call("Show me the file server.log", "Read", file_path="server.log"),
    _call("Give me a summary of essay.md.", "Read", file_path="essay.md"),
    _call("What is the heading of memo.txt?", "Read", file_path="memo.txt"),
    _call("Tell me the title of docs/intro.rst.", "Read", file_path="docs/intro.rst"),
    _call("Which Python files are there?", "Glob", pattern="**/*.py"),
    _call("Find all Java files.", "Glob", pattern="**/*.java"),
    _call("List the Rust files.", "Glob", pattern="**/*.rs"),
    _call("Search for the word error.", "Grep", pattern="error"),
    _call("Where is load_user used?", "Grep", pattern="load_user"),
    _call("Find DEBUG in the code.", "Grep", pattern="DEBUG"),
    _call("Run git status.", "Bash", command="git status"),
    _call("Run the command `make build`.", "Bash", command="make build"),
    _call("Write the words see you to bye.md", "Write", file_path="bye.md", content="see you"),
    _call("Create hello.txt with the text hello world.", "Write", file_path="hello.txt", content="hello world"),
    _call("Replace red by blue in style.css.", "Edit", file_path="style.css", old_string="red", new_string="blue"),
)

_REPLIES = (
    _reply("Tell me a story.", "A fox lived in a forest. It shared its food and had many friends."),
    _reply("What is 3 times 4?", "3 times 4 is 12."),
    _reply("What is the capital of Italy?", "The capital of Italy is Rome."),
    _reply("Thank you.", "You are welcome!"),
    _reply("Who made you?", "I am a small language model."),
    _reply("Hi!", "Hello! How can I help you?"),
    _reply("Hello!", "Hello! How can I help you?"),
)

_AFTER_RESULT = (
    _reply("Run git status.", "The command printed: nothing to commit.", "nothing to commit"),
    _reply("Search for the word error.", "The word error is in log.py, line 3.", "log.py:3: print(error)"),
    _reply(
        "Which Python files are there?",
        "There are two Python files: main.py and lib/tools.py.",
        "main.py\nlib/tools.py",
    ),
    _reply(
        f"What does {THE_TEXT} say about the port?",
        "The port is 8080.",
        "[server]\nhost = localhost\nport = 8080",
    ),
    _reply(
        f"What is the title of {THE_TEXT}?",
        "The title is Dinner Menu.",
        "Dinner Menu\n\nThe restaurant serves tomato soup and fresh bread every evening.",
    ),
    _reply(
        f"Read {THE_TEXT} and tell me its title.",
        "The title is Robo Garden.",
        "# Robo Garden\n\nRobo Garden is a robot that waters plants. It runs on a small battery.\n\n"
        "## Setup\n\nPress the button.",
    ),
    _reply(
        f"Explain {THE_TEXT}.",
        "It defines a function add that returns the sum of two numbers.",
        "def add(a, b):\n    return a + b",
    ),
    _reply(
        f"Read {THE_TEXT} and summarise it.",
        "They leave on Tuesday by train, and Lisa books the hotel.",
        "Trip Plan\n\nWe leave on Tuesday by train. Lisa books the hotel.",
    ),
    _reply(
        f"Summarise {THE_TEXT} in one sentence.",
        "Sales grew in March because of the new shop.",
        "# Sales Report\n\nSales grew in March because of the new shop. The team will open a second shop in June.",
    ),
)

# The same tools under the other names they go by.
_SAME_TOOL = {"Shell": "Bash"}


def call_examples(tools: Sequence[ToolSpec]) -> list[Example]:
    """Examples that call these tools; each tool has at least one."""
    found: list[Example] = []
    for spec in tools:
        known = _SAME_TOOL.get(spec.name, spec.name)
        fitting = [e for e in _CALLS if e.tool == known and _fits(e.action["arguments"], spec.input_schema)]
        found += [Example(e.request, {**e.action, "tool": spec.name}) for e in fitting] or [_described(spec)]
    return found


def closest_calls(request: str, tools: Sequence[ToolSpec], count: int) -> list[Example]:
    """``count`` examples for ``request``, the closest last and another of its tool before it.

    The rest are the closest of other kinds, and one of them a reply unless the request names a file: beside
    a question that was answered from memory, the model would invent the file.
    """
    ranked = rank(request, [*call_examples(tools), *_REPLIES])
    best = ranked[-1]
    same = [example for example in ranked if example.tool == best.tool][-2:]
    other = [example for example in ranked if example.tool != best.tool]
    if best.tool is not None:
        replies = [example for example in other if example.tool is None]
        calls = [example for example in other if example.tool is not None]
        names_file = any(is_file_name(name) for name in mentioned_names(request))
        other = [*calls, *replies[-1:]] if not names_file else calls
    return [*other[len(same) - count :][::-1], *same]


def closest_replies(request: str, count: int) -> list[Example]:
    """The ``count`` examples of a reply after a tool's result that are most like ``request``."""
    return rank(request, _AFTER_RESULT)[-count:]


def rank(request: str, pool: Sequence[Example]) -> list[Example]:
    """``pool`` from the least to the most similar: cosine of word counts, rare words weighing more.

    Later entries win a tie, so that a request like nothing here is taken for conversation.
    """
    words = [_features(example.request) for example in pool]
    seen = Counter(feature for features in words for feature in features)
    weight = {
        feature: math.log(1 + len(pool) / count) * (_KIND_WEIGHT if feature.startswith("<") else 1)
        for feature, count in seen.items()
    }
    asked = _features(request)

    def similarity(index: int) -> float:
        shared = sum(weight[feature] ** 2 for feature in words[index] & asked)
        length = math.sqrt(sum(weight[feature] ** 2 for feature in words[index]))
        return shared / length if length else 0.0

    return [pool[index] for index in sorted(range(len(pool)), key=lambda index: (similarity(index), index))]


def rank_tools(request: str, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """``tools``, those whose examples and descriptions are most like ``request`` first."""
    pool = [
        Example(f"{e.request} {spec.name} {spec.description}", e.action)
        for spec in tools
        for e in call_examples([spec])
    ]
    order = {example.tool: place for place, example in enumerate(rank(request, pool))}
    return sorted(tools, key=lambda spec: -order[spec.name])


# What kind of thing a request names says more than any of its words.
_KIND_WEIGHT = 2
# Words that say the same, and words that say nothing here.
_KINDS: dict[str, str] = {
    **dict.fromkeys(("title", "titled", "heading", "headline"), "<title>"),
    **dict.fromkeys(("summarise", "summarize", "summary", "overview", "gist", "about"), "<summary>"),
}
_EMPTY = frozenset(
    ("a", "an", "and", "can", "could", "for", "give", "i", "in", "it", "its", "me", "of", "please", "say", "the",
     "to", "you")
)  # fmt: skip
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|(?<!\w)'([^'\n]+)'(?!\w)")
_TOKEN = re.compile(r"[^\s,;!?()<>\[\]{}`\"]+")
_FILE = re.compile(r"(?:.*[/\\])?(?:[\w.@+-]*\.[A-Za-z]\w{0,7}|[\w.@+-]+[/\\]|\.\w[\w.-]*)")
_BARE_FILES = frozenset({"license", "makefile", "dockerfile", "readme", "changelog", "notice", "authors", "todo"})
_NOT_FILES = frozenset({"e.g", "i.e", "a.m", "p.m"})


def mentioned_names(text: str) -> list[str]:
    """Quoted strings, paths, file names, identifiers and words in capitals of ``text``, in order, each once."""
    found = {next(group for group in match.groups() if group): None for match in _QUOTED.finditer(text)}
    rest = _QUOTED.sub(" ", text)
    for match in _TOKEN.finditer(rest):
        token = match.group().strip("':").rstrip(".").removeprefix("@")
        shouted = len(token) > 2 and token.isupper() and not re.match(r"\s+files?\b", rest[match.end() :])
        bare_file = token.lower() in _BARE_FILES and token[:1].isupper()
        if token.lower() not in _NOT_FILES and (shouted or bare_file or re.search(r"[._/\\*]", token)):
            found[token] = None
    return list(found)


def is_file_name(name: str) -> bool:
    """True if ``name`` looks like a file or a path, not like a pattern, an address or a number."""
    if re.search(r"[*\s]|://", name) or name.lower() in _NOT_FILES:
        return False
    return name.lower() in _BARE_FILES or "/" in name or _FILE.fullmatch(name) is not None


def _features(request: str) -> frozenset[str]:
    names = mentioned_names(request)
    words = request.lower()
    for name in names:
        words = words.replace(name.lower(), " ")
    found = {_KINDS.get(word) or word for word in re.findall(r"[a-z]+", words)} - _EMPTY
    if re.search(r"\d", words):
        found.add("<number>")
    for name in names:
        found.add("<file>" if is_file_name(name) else "<pattern>" if "*" in name else "<name>")
    return frozenset(found)


def _fits(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    properties = schema.get("properties") or {}
    return set(schema.get("required") or ()) <= set(arguments) <= set(properties)


def _described(spec: ToolSpec) -> Example:
    arguments = _sample("arguments", {"type": "object", **spec.input_schema}, spec.input_schema)
    told = ", ".join(f"{name} {value}" for name, value in arguments.items())
    return Example(f"{first_line(spec)} {told}".strip(), {"tool": spec.name, "arguments": arguments})


def first_line(spec: ToolSpec, limit: int = 80) -> str:
    """The first sentence of a description, at most ``limit`` characters."""
    line = (spec.description.strip().splitlines() or [spec.name])[0]
    return re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0][:limit]


def _sample(name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> Any:
    """A value that an example may show for the argument ``name``; ``root`` holds the definitions."""
    if isinstance(schema.get("$ref"), str) and depth < _MAX_DEPTH:
        key = schema["$ref"].rsplit("/", 1)[-1]
        target = {**(root.get("definitions") or {}), **(root.get("$defs") or {})}.get(key) or {}
        return _sample(name, target, root, depth + 1)
    for key in ("examples", "enum", "anyOf", "oneOf"):
        listed = schema.get(key)
        if isinstance(listed, Sequence) and not isinstance(listed, str) and listed:
            return _sample(name, listed[0], root, depth + 1) if key.endswith("Of") else listed[0]
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type", "string")
    kind = str(kind[0] if isinstance(kind, list) and kind else kind)
    if kind == "object" and depth < _MAX_DEPTH:
        properties: Mapping[str, Any] = schema.get("properties") or {}
        required = (inner for inner in schema.get("required") or () if inner in properties)
        return {inner: _sample(inner, properties[inner], root, depth + 1) for inner in required}
    kinds: dict[str, Any] = {"integer": 3, "number": 3, "boolean": True, "array": [], "object": {}, "null": None}
    return kinds.get(kind, f"my {name.replace('_', ' ')}")
