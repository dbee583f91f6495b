import json
import stat
from pathlib import Path
from typing import Any

from agentframework import JsonlLogSink


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_record_has_its_time_its_session_and_its_event(tmp_path: Path) -> None:
    sink = JsonlLogSink(tmp_path / "logs")
    sink.write("s-1", "tool_call", {"name": "Bash", "api_key": "hunter2"})
    sink.close("s-1")
    (line,) = lines_of(tmp_path / "logs" / "s-1.jsonl")
    assert line.pop("timestamp").endswith("Z")
    assert line == {"session_id": "s-1", "event": "tool_call", "name": "Bash", "api_key": "[REDACTED]"}
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "logs" / "s-1.jsonl").stat().st_mode) == 0o600


def test_text_is_held_back_until_something_else_happens(tmp_path: Path) -> None:
    sink = JsonlLogSink(tmp_path)
    for text in ("Hel", "lo"):
        sink.write("s-1", "text_delta", {"text": text})
    assert not (tmp_path / "s-1.jsonl").exists()
    sink.write("s-1", "assistant", {"text": "Hello"})
    sink.write("s-1", "text_delta", {"text": "!"})
    sink.close("s-1")
    assert [(line["event"], line["text"]) for line in lines_of(tmp_path / "s-1.jsonl")] == [
        ("text_delta", "Hello"),
        ("assistant", "Hello"),
        ("text_delta", "!"),
    ]


def test_held_back_text_is_bounded(tmp_path: Path) -> None:
    sink = JsonlLogSink(tmp_path)
    for _ in range(20):
        sink.write("s-1", "text_delta", {"text": "x" * 10_000})
    sink.close("s-1")
    assert [line["text"]["byte_length"] for line in lines_of(tmp_path / "s-1.jsonl")] == [70_002, 70_002, 60_002]


def test_a_disk_that_fails_is_reported_once_and_harms_nobody(tmp_path: Path) -> None:
    faults: list[str] = []
    (tmp_path / "logs").write_text("a file in place of the folder")
    sink = JsonlLogSink(tmp_path / "logs", on_fault=faults.append)
    for _ in range(3):
        sink.write("s-1", "assistant", {"text": "Hello"})
    sink.close("s-1")
    assert len(faults) == 1
    assert "s-1.jsonl cannot be written" in faults[0]


def test_what_cannot_be_written_as_json_is_a_fault_too(tmp_path: Path) -> None:
    faults: list[str] = []
    sink = JsonlLogSink(tmp_path, on_fault=faults.append)
    sink.write("s-1", "assistant", {"value": object()})
    assert len(faults) == 1
