"""The event parser against the format's rules, however the bytes are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.providers import sse
from agentframework.providers.sse import EventTooLargeError, SseReader

payloads = st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), min_size=1, max_size=20)
line_ends = st.sampled_from([b"\n", b"\r\n", b"\r"])


def read(*pieces: bytes) -> list[bytes]:
    reader = SseReader()
    return [data for piece in pieces for data in reader.feed(piece)] + list(reader.finish())


@given(
    st.lists(st.tuples(payloads, st.sampled_from(["", "event: a", ": ping", "id: 1", "retry: 5"])), max_size=6),
    line_ends,
    st.data(),
)
def test_events_are_the_same_however_the_bytes_arrive(
    events: list[tuple[str, str]], end: bytes, data: st.DataObject
) -> None:
    body = b""
    for payload, other in events:
        lines = [*([other.encode()] if other else []), b"data: " + payload.encode(), b""]
        body += end.join(lines) + end
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    pieces = [body[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert read(*pieces) == [payload.encode() for payload, _ in events]


def test_each_event_is_out_as_soon_as_it_is_complete() -> None:
    reader = SseReader()
    assert list(reader.feed(b"data: 1\r\n\r\ndata: 2\r\n\r")) == [b"1", b"2"]
    assert list(reader.feed(b"\ndata: 3\n\n")) == [b"3"]
    assert list(reader.feed(b"data: 4\r\r")) == [b"4"]


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data:no space\n\n", [b"no space"]),
        (b"data:  two spaces\n\n", [b" two spaces"]),
        (b"data\n\n", [b""]),
        (b": only a comment\n\n", []),
        (b"event: x\n\n", []),
        (b"\n\n\ndata: x\n\n\n\n", [b"x"]),
        (b"\xef\xbb\xbfdata: x\n\n", [b"x"]),
        (b"data: x\nevent: after\n\n", [b"x"]),
        (b"event: data: x\n\n", []),
        (b"data: [DONE]", [b"[DONE]"]),
        (b"data: x\n", [b"x"]),
        (b"", []),
    ],
)
def test_events_are_read_as_the_format_says(body: bytes, events: list[bytes]) -> None:
    assert read(body) == events
    assert read(*(body[at : at + 1] for at in range(len(body)))) == events or body.startswith(b"\xef")


def test_a_character_cut_in_two_is_whole_again() -> None:
    body = "data: 🙂\n\n".encode()
    assert read(body[:8], body[8:]) == ["🙂".encode()]


def test_an_endless_event_is_refused() -> None:
    reader = SseReader()
    piece = b"x" * (8 * 1024 * 1024)
    for _ in range(sse.MAX_EVENT_BYTES // len(piece)):
        reader.feed(piece)
    with pytest.raises(EventTooLargeError):
        reader.feed(piece)
