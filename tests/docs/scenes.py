"""What the model does while blocks of the pages run, and what has to be true afterwards.

A scene adds steps to the stage's model, may put files into its folder, and may check after its ``yield``.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pagekit import Scene, Stage

from agentframework import ImagePart, OverloadedError, Usage
from agentframework.providers.protocol import ModelRequest
from agentframework.testing import call, say
from agentframework.testing.scripted_provider import Say


@contextmanager
def one_file(stage: Stage) -> Iterator[None]:
    stage.put("notes.txt", "Hello.\n")
    stage.model.add(say(call("Glob", pattern="*")), "There is one file, notes.txt.")
    yield


@contextmanager
def a_server(stage: Stage) -> Iterator[None]:
    start = {"command": "python3 -m http.server 0", "description": "static files", "run_in_background": True}
    stage.model.add(say(call("Bash", **start)), "It is served.")
    yield


@contextmanager
def todo_list(stage: Stage) -> Iterator[None]:
    first = {"content": "Run the tests", "status": "in_progress", "activeForm": "Running the tests"}
    second = {"content": "Mend what fails", "status": "pending", "activeForm": "Mending what fails"}
    stage.model.add(say(call("TodoWrite", todos=[first, second])), "They pass.")
    yield


@contextmanager
def greeting(stage: Stage) -> Iterator[None]:
    stage.model.add("Hello to you.")
    yield


@contextmanager
def out_of_order(stage: Stage) -> Iterator[None]:
    stage.model.add(OverloadedError("the model is out of order"))
    yield


@contextmanager
def three_prompts(stage: Stage) -> Iterator[None]:
    stage.model.add("I have read them.", "Hallo.", "You are welcome, bob.")
    yield
    assert [request.messages[-1].text for request in stage.model.requests[-3:]] == [
        "Read the notes.",
        "No, translate them.",
        "Thank you.",
    ]


@contextmanager
def counting(stage: Stage) -> Iterator[None]:
    stage.model.add(say("One, two, ", "three, four"))
    yield


@contextmanager
def two_questions(stage: Stage) -> Iterator[None]:
    stage.model.add("A greeting.", "English.")
    yield
    assert len(stage.model.requests[-1].messages) == 3


@contextmanager
def three_long_turns(stage: Stage) -> Iterator[None]:
    stage.model.add(say("Read.", usage=Usage(169_990, 10)), "They met.", "Ann and Bob.", "Ann and Bob met.")
    yield


@contextmanager
def a_referenced_file(stage: Stage) -> Iterator[None]:
    stage.put("notes.txt", "Hello.\n")
    (stage.folder.parent / "secret.txt").write_text("no")
    stage.model.add("Hello.")
    yield
    assert "Hello." in stage.model.requests[-1].messages[-1].text


@contextmanager
def two_files(stage: Stage) -> Iterator[None]:
    stage.model.add(say(*(call("Write", file_path=f"notes.{kind}", content="#") for kind in ("md", "py"))), "Done.")
    yield
    assert {path.name for path in stage.folder.glob("notes.*")} == {"notes.md"}


@contextmanager
def tests_and_more(stage: Stage) -> Iterator[None]:
    stage.put("Makefile", "test:\n\t@echo tested\nclean:\n\t@echo cleaned\n")
    for command in ("make test", "make clean", "./deploy"):
        stage.model.add(say(call("Bash", command=command)))
    stage.model.add("Done, but for the last.")
    yield


@contextmanager
def secret(stage: Stage) -> Iterator[None]:
    stage.put(".env", "PASSWORD=x")
    stage.model.add(say(call("Read", file_path=".env"), call("Bash", command="cat ./.env")), "I may not look.")
    yield


@contextmanager
def tool_lists(stage: Stage) -> Iterator[None]:
    yield
    assert not stage.model.requests


@contextmanager
def weather(stage: Stage) -> Iterator[None]:
    stage.model.add(say(call("temperature")), say(call("temperature", city="Oslo")), "21 degrees.")
    yield


@contextmanager
def two_results(stage: Stage) -> Iterator[None]:
    for item in ("apples", "pears"):
        stage.model.add(say(call("stock", item=item)))
    stage.model.add(say(call("refusal")), "Seven apples.")
    yield


@contextmanager
def long_result(stage: Stage) -> Iterator[None]:
    def read_on(request: ModelRequest) -> Say:
        (result,) = request.messages[-1].content
        path = result.content.rsplit("all of it is in ", 1)[1].split(";")[0]  # type: ignore[union-attr]
        return say(call("Read", file_path=path, offset=15_001, limit=1))

    stage.model.add(say(call("report")), read_on, "It says: row 15000.")
    yield


@contextmanager
def long_work(stage: Stage) -> Iterator[None]:
    stage.model.add(say(call("measure")), "12 metres.")
    yield


@contextmanager
def foreign_tool(stage: Stage) -> Iterator[None]:
    stage.model.add(say(call("forecast", city="Oslo")), "Sunny.")
    yield


@contextmanager
def recording(stage: Stage) -> Iterator[None]:
    with one_file(stage):
        yield
    assert len(stage.text("turn.jsonl").splitlines()) == 2


@contextmanager
def fallback(stage: Stage) -> Iterator[None]:
    stage.model.add(OverloadedError("Busy today."), "Yes, I am.")
    yield


@contextmanager
def summary_is_written(stage: Stage) -> Iterator[None]:
    stage.model.add(say(call("Write", file_path="SUMMARY.md", content="Short.")), "Done.")
    yield
    assert stage.text("SUMMARY.md") == "Short."


@contextmanager
def a_title(stage: Stage) -> Iterator[None]:
    stage.model.add("A title.")
    yield


@contextmanager
def steered(stage: Stage) -> Iterator[None]:
    stage.put("notes.txt", "Hello.\n")
    stage.model.add(say(call("Glob", pattern="*")), "notes.txt")
    yield
    assert stage.model.requests[-1].messages[-1].text == "Only the names, please."


@contextmanager
def one_picture(stage: Stage) -> Iterator[None]:
    data = b"\x89PNG\r\n\x1a\n" + bytes(32)
    stage.folder.joinpath("cat.png").write_bytes(data)
    stage.model.add("A cat.")
    yield
    assert isinstance(stage.model.requests[-1].messages[0].content[1], ImagePart)


@contextmanager
def a_book(stage: Stage) -> Iterator[None]:
    stage.model.add('{"title": "Moby-Dick"}', '{"title": "Moby-Dick", "year": 1851}')
    yield
    assert "Field required" in stage.model.requests[-1].messages[-1].text


@contextmanager
def two_rounds(stage: Stage) -> Iterator[None]:
    usage = Usage(input_tokens=1_000, output_tokens=150)
    for pattern in ("*.md", "*.py"):
        stage.model.add(say(call("Glob", pattern=pattern), usage=usage))
    yield


@contextmanager
def an_order(stage: Stage) -> Iterator[None]:
    stage.model.add(say(call("price_of", item="pear")), "They cost 2.80 euros.")
    yield


@contextmanager
def told_before(stage: Stage) -> Iterator[None]:
    stage.model.add("The apples.")
    yield
    assert [message.role for message in stage.model.requests[-1].messages] == ["user", "assistant", "user"]


@contextmanager
def two_orders(stage: Stage) -> Iterator[None]:
    stage.model.add(say(call("price_of", item="apple"), call("price_of", item="pear")))
    yield


SCENES: Mapping[str, Scene] = {
    scene.__name__: scene
    for scene in (
        a_book,
        a_server,
        a_title,
        an_order,
        counting,
        fallback,
        foreign_tool,
        greeting,
        long_result,
        long_work,
        one_file,
        one_picture,
        out_of_order,
        recording,
        secret,
        steered,
        summary_is_written,
        tests_and_more,
        told_before,
        three_prompts,
        todo_list,
        tool_lists,
        two_files,
        two_orders,
        three_long_turns,
        a_referenced_file,
        two_questions,
        two_rounds,
        two_results,
        weather,
    )
}
