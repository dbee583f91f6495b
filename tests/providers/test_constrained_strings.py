import json

from hypothesis import given
from hypothesis import strategies as st

from agentframework.providers.constrained.decode import JsonStringDecoder, RawValueScanner

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)  # lone surrogates too
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def pieces(data: st.DataObject, text: str) -> list[str]:
    """``text`` cut at places of hypothesis' choice."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=len(text))))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def decoded(parts: list[str]) -> tuple[str, str]:
    decoder, out, rest = JsonStringDecoder(), "", ""
    for part in parts:
        if decoder.closed:
            rest += part
            continue
        out += decoder.feed(part)
        rest = decoder.rest
    return out, rest


def without_lone_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@given(ANY_TEXT, st.booleans(), st.data())
def test_any_cutting_of_a_string_gives_its_text(text: str, ascii_only: bool, data: st.DataObject) -> None:
    quoted = json.dumps(text, ensure_ascii=ascii_only)
    assert decoded(pieces(data, quoted[1:] + ", x")) == (without_lone_surrogates(text), ", x")


@given(ANY_TEXT, st.data())
def test_what_is_shown_early_is_never_taken_back(text: str, data: st.DataObject) -> None:
    quoted = json.dumps(text)[1:]
    whole, _ = decoded([quoted])
    cut = data.draw(st.integers(0, len(quoted)))
    assert whole.startswith(JsonStringDecoder().feed(quoted[:cut]))


@given(ANY_TEXT, st.data())
def test_a_string_cut_off_anywhere_ends_as_printable_text(text: str, data: st.DataObject) -> None:
    quoted = json.dumps(text)[1:]
    decoder = JsonStringDecoder()
    shown = decoder.feed(quoted[: data.draw(st.integers(0, len(quoted)))]) + decoder.finish()
    shown.encode("utf-8")


def test_half_an_escape_waits_for_its_other_half() -> None:
    decoder = JsonStringDecoder()
    assert [decoder.feed(part) for part in ("a\\", "n\\ud83", "d", "\\u", "de00b")] == ["a", "\n", "", "", "😀b"]


def test_a_high_surrogate_followed_by_something_else_becomes_one_replacement() -> None:
    assert decoded(['\\ud83dx\\ud83d\\ud83d\\ude00\\ude00"'])[0] == "�x�😀�"


def test_half_a_pair_before_the_end_becomes_a_replacement() -> None:
    assert decoded(['a\\ud83d"'])[0] == "a�"


def test_an_escape_that_json_does_not_know_stands_for_its_character() -> None:
    assert decoded(["\\x\\'\\uzzzz", '"'])[0] == "x'�"


@given(JSON_VALUES.filter(lambda value: not isinstance(value, str)), st.data())
def test_the_end_of_any_value_is_found_under_any_cutting(value: object, data: st.DataObject) -> None:
    text = json.dumps(value)
    scanner, out, rest = RawValueScanner(), "", ""
    for part in pieces(data, text + ', "more": 1}'):
        if scanner.closed:
            rest += part
            continue
        out += scanner.feed(part)
        rest = scanner.rest
    assert (out, rest) == (text, ', "more": 1}')
