import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework._base.bounded import cut_end, cut_middle, head_and_tail, printable
from agentframework._base.clock import from_iso, to_iso
from agentframework._base.jsonl import BadLine, dump_line, read_lines

any_text = st.text(st.characters(codec=None, exclude_categories=()))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(any_text, st.integers(0, 200))
def test_cut_text_fits_its_limit(text: str, limit: int) -> None:
    for cut in (cut_middle, cut_end):
        shorter = cut(text, limit)
        assert len(shorter) <= limit or shorter == text
        assert (shorter == text) or len(text) > limit


def test_a_cut_says_how_much_there_was() -> None:
    assert "100000 characters in all" in cut_middle("x" * 100_000, 30_000)
    assert cut_middle("x" * 100_000, 30_000).startswith("xxx")
    assert cut_end("x" * 500, 100).endswith("[... 500 characters in all]")


def test_a_long_argument_keeps_head_and_tail() -> None:
    shown = head_and_tail("a" * 100 + "b" * 30)
    assert len(shown) == 80
    assert shown.endswith("..." + "b" * 30)


@given(any_text)
def test_printable_text_can_be_encoded_and_good_text_is_untouched(text: str) -> None:
    clean = printable(text)
    clean.encode("utf-8")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        assert clean != text
    else:
        assert clean == text


@given(st.dictionaries(st.text(), json_values))
def test_a_record_is_one_line_and_reads_back(record: dict[str, object]) -> None:
    line = dump_line(record)
    assert line.count(b"\n") == 1
    assert len(line.decode().splitlines()) == 1
    assert list(read_lines(line)) == [record]


def test_lone_surrogates_never_reach_a_file() -> None:
    assert json.loads(dump_line({"a": "\ud800x"})) == {"a": "\ufffdx"}


def test_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        dump_line({"a": math.nan})


@given(st.lists(st.dictionaries(st.text(), st.integers(), min_size=1), min_size=1), st.data())
def test_a_file_cut_at_any_byte_gives_all_whole_lines(records: list[dict[str, int]], data: st.DataObject) -> None:
    whole = b"".join(dump_line(record) for record in records)
    cut = data.draw(st.integers(0, len(whole)))
    read = list(read_lines(whole[:cut]))
    complete = whole[:cut].count(b"\n")
    assert read[:complete] == records[:complete]
    assert all(isinstance(item, BadLine) or item == records[complete] for item in read[complete:])


def test_a_bad_line_has_its_number() -> None:
    assert list(read_lines(b'{"a":1}\n\nnope\n[1]\n')) == [
        {"a": 1},
        BadLine(3, "Expecting value: line 1 column 1 (char 0)"),
        BadLine(4, "not a JSON object"),
    ]


@given(st.integers(0, 4_000_000_000_000_000))
def test_times_survive_to_the_microsecond(microseconds: int) -> None:
    seconds = microseconds / 1e6
    assert abs(from_iso(to_iso(seconds)) - seconds) < 2e-6


def test_a_time_without_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="without an offset"):
        from_iso("2026-01-01T00:00:00")
