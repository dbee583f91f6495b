import asyncio
from pathlib import Path

import pytest
from headlesskit import Command, Exchanges, of

STREAM = ("--output-format", "stream-json")


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX"},
    ],
)
async def test_prompts_paths_and_answers_are_utf_8_in_every_locale(
    replayed: Command, exchanges: Exchanges, locale: dict[str, str]
) -> None:
    folder = replayed.cwd / "größe"
    folder.mkdir()
    exchanges.answer("", ("Write", {"file_path": "日本.txt", "content": "ä"})).answer("Schön.")
    replayed.environment |= locale
    options = ("--cwd", "größe", "--permission-mode", "acceptEdits")
    done = await replayed("-p", "Grüße", *options, *STREAM, piped="Straße".encode())
    assert (done.code, done.err, done.last["result"]) == (0, "", "Schön.")
    assert of("user_message", done.records)[0]["content"] == "Grüße\n\nStraße"
    assert (folder / "日本.txt").read_text(encoding="utf-8") == "ä"


async def test_without_a_home_everything_works(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("", ("Bash", {"command": "echo ~; cd; pwd"})).answer("Hello.")
    runs = []
    for home in (None, "/proc/nowhere"):
        environment = {key: value for key, value in replayed.environment.items() if key != "HOME"}
        replaced = Command(replayed.cwd, environment | ({} if home is None else {"HOME": home}), exchanges)
        runs.append(replaced("-p", "hi", "--permission-mode", "bypassPermissions", *STREAM))
    for done in await asyncio.gather(*runs):
        assert (done.code, done.last["result"]) == (0, "Hello.")
        assert done.is_quiet()


async def test_a_directory_that_is_gone_is_named_as_the_fault(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("Hello.")
    (replayed.cwd / "gone").mkdir()
    done = await replayed.shell("cd gone; rmdir ../gone; AF -p hi; AF -p hi --cwd /; exit $?")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert "the current directory cannot be used (No such file or directory)" in done.err
    assert done.is_quiet()


async def test_a_fault_of_ours_is_a_sentence_and_a_record(
    replayed: Command, exchanges: Exchanges, tmp_path: Path
) -> None:
    (tmp_path / "fault").mkdir()
    (tmp_path / "fault" / "sitecustomize.py").write_text(
        "import sys\n"
        "class Fault:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'agentframework.providers.replay':\n"
        "            raise RuntimeError('broken')\n"
        "sys.meta_path.insert(0, Fault())\n"
    )
    replayed.environment["PYTHONPATH"] = str(tmp_path / "fault")
    exchanges.answer("never")
    done = await replayed("-p", "hi", *STREAM)
    assert (done.code, done.err) == (1, "agentframework: unexpected fault: RuntimeError: broken\n")
    assert (done.last["type"], done.last["error_code"]) == ("result", "INTERNAL_ERROR")
