import os
import tempfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.abilities.background import TaskLog


@given(st.lists(st.text(alphabet="ab\nä日😀", max_size=40), max_size=30), st.integers(-60, 400), st.integers(1, 90))
def test_any_piece_can_be_read_whatever_was_put_away(pieces: list[str], offset: int, limit: int) -> None:
    log = TaskLog(segment=16, segments=1_000)
    for piece in pieces:
        log.write(piece)
    every = "".join(pieces)
    start = min(max(offset + len(every) if offset < 0 else offset, 0), len(every))
    read = log.read(offset, limit)
    assert (read.text, read.offset, read.total) == (every[start : start + limit], start, len(every))
    assert read.next_offset == start + len(read.text)
    log.close()


@given(st.lists(st.text(alphabet="aä日", min_size=1, max_size=30), max_size=40))
def test_what_is_no_longer_kept_is_skipped_and_said(pieces: list[str]) -> None:
    log = TaskLog(segment=8, segments=4)
    for piece in pieces:
        log.write(piece)
    every = "".join(pieces)
    read = log.read(0, 10_000)
    assert read.text == every[read.offset :]
    assert read.next_offset == read.total == len(every)
    assert len(every) - read.offset >= min(len(every), 32)
    log.close()


def test_small_output_needs_no_file_and_large_output_an_unnamed_one(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    log = TaskLog(segment=100, segments=10)
    log.write("x" * 99)
    assert log._file is None  # pyright: ignore[reportPrivateUsage]
    log.write("x" * 500)
    assert log._file is not None  # pyright: ignore[reportPrivateUsage]
    assert os.listdir(tmp_path) == []
    log.close()
    assert log.total == 0


def test_a_disk_that_cannot_be_written_to_costs_old_output_only(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    log = TaskLog(segment=10, segments=10)
    log.write("a" * 25)
    read = log.read(0, 100)
    assert (read.text, read.offset, read.total) == ("a" * 5, 20, 25)


@pytest.mark.parametrize("offset", [0, 5, 100, -3])
def test_an_empty_log_reads_as_nothing(offset: int) -> None:
    read = TaskLog().read(offset, 10)
    assert (read.text, read.offset, read.next_offset, read.total) == ("", 0, 0, 0)
