import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tools_builtin._diff import MAX_LINES, diff_of
from tools_builtin._encodings import UTF_8, encoding_of
from tools_builtin._paths import RefusalError
from tools_builtin._replacement import replace_text


def refusal(text: str, old: str, new: str, every: bool = False) -> str:
    with pytest.raises(RefusalError) as refused:
        replace_text(text, old, new, every)
    return str(refused.value)


@pytest.mark.parametrize("every", [True, False])
def test_an_empty_old_text_is_refused(every: bool) -> None:
    assert "empty" in refusal("abab", "", "X", every)


def test_identical_texts_are_refused() -> None:
    assert "identical" in refusal("abab", "ab", "ab")
    assert "line endings" in refusal("a\r\nb", "a\r\n", "a\n")


def test_several_matches_are_named_with_their_lines() -> None:
    assert "2 matches, in lines 1, 1" in refusal("abab", "ab", "c")
    assert "3 matches, in lines 1, 3, 4" in refusal("x = 1\ny\nx = 1\nx = 1", "x = 1", "c")
    many = refusal("a\n" * 5_000, "a", "b")
    assert "at least 1000 matches" in many
    assert len(many) < 400


def test_overlapping_matches_are_not_unique() -> None:
    assert "2 matches" in refusal("ababa", "aba", "c")


def test_all_occurrences_are_replaced_from_left_to_right() -> None:
    done = replace_text("abab", "ab", "c", True)
    assert (done.text, done.count, done.lines) == ("cc", 2, (1, 1))
    done = replace_text("ababa", "aba", "c", True)
    assert (done.text, done.count) == ("cba", 1)


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_new_text_is_not_a_pattern(every: bool, end: str) -> None:
    new = "\\1 \\g<0> $& $$ $` {0} %s \\n"
    assert replace_text(f"aXb{end}", "X", new, every).text == f"a{new}b{end}"


def test_an_old_text_with_line_feeds_fits_a_crlf_file() -> None:
    done = replace_text("a = 1\r\nb = 2\r\nc = 3\r\n", "a = 1\nb = 2", "a = 1\nb = 22\nx = 9", False)
    assert done.text == "a = 1\r\nb = 22\r\nx = 9\r\nc = 3\r\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("a\nb\n", "a\r\nb", "a\r\nc\r\nd", "a\nc\nd\n"),  # an LF file stays LF
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),  # a new line takes its neighbour's ending
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
        ("a\r\nb\nc\r\n", "a\nb\nc", "A\nB\nC", "A\r\nB\nC\r\n"),  # each line keeps its own
        ("a\r\nb\nc\r\n", "b\n", "", "a\r\nc\r\n"),
        ("a\r\r\nb", "a\r\nb", "c", "a\r\r\nb"),  # a lone CR belongs to the text
        ("a\rb\rc", "a\rb", "x\ny", "x\ny\rc"),
        ("\r\n\r\n", "\n\n", "\n", "\r\n"),
        ("ab", "b", "b\r\nc", "ab\nc"),
    ],
)
def test_line_endings_belong_to_the_file(text: str, old: str, new: str, expected: str) -> None:
    if text == expected:
        assert "not found" in refusal(text, old, new)
    else:
        assert replace_text(text, old, new, False).text == expected


def test_all_occurrences_in_a_mixed_file_keep_their_endings() -> None:
    done = replace_text("a\nb\r\na\r\nb\na\n", "a\n", "x\n", True)
    assert (done.text, done.count, done.lines) == ("x\nb\r\nx\r\nb\nx\n", 3, (1, 3, 5))


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [("a\nb", "b", "c", "a\nc"), ("a\n\n\n", "a", "b", "b\n\n\n"), ("a\n", "a\n", "a", "a")],
)
def test_the_end_of_the_file_is_left_as_it_is(text: str, old: str, new: str, expected: str) -> None:
    assert replace_text(text, old, new, False).text == expected


def test_a_missing_final_newline_is_not_invented() -> None:
    assert "not found" in refusal("a\nb", "b\n", "c\n")


def test_not_found_says_where_only_white_space_differs() -> None:
    assert "line 2 has the same text, but white space differs" in refusal("all:\n\techo ho\n", "    echo ho", "x")
    assert "line 3" in refusal("\n\nif a:\n    b\n", "if a:\n\tb", "x")


def test_not_found_names_the_nearest_line() -> None:
    assert "nearest line is 2: value = compute(1)" in refusal("x\nvalue = compute(1)\n", "value = compute(2)", "y")
    assert "line 2 is like its beginning" in refusal("x\nfirst\nsecond\n", "first\nthird", "y")
    assert "no line resembles it" in refusal("x\n", "entirely different", "y")
    assert "empty" in refusal("", "a", "b")
    assert len(refusal("y" * 100_000, "x" + "y" * 99_999, "z")) < 600


def test_not_found_notices_line_numbers_from_read() -> None:
    assert "line numbers" in refusal("a\n\tb\n", "     1\ta\n     2\t\tb", "c")


def test_hints_are_quick_on_large_files() -> None:
    text = "".join(f"def function_{i}(argument): return {i}\n" for i in range(90_000))
    assert "nearest" in refusal(text, "def function_x(argument): return y", "z")
    assert "not found" in refusal("a" * 5_000_000, "b", "c")


BYTES = st.binary(max_size=60).filter(lambda data: b"\r" not in data)


@given(BYTES, BYTES.filter(bool), st.text(max_size=10).filter(lambda text: "\r" not in text), st.data())
def test_exactly_the_named_bytes_change(before: bytes, after: bytes, new: str, data: st.DataObject) -> None:
    old = data.draw(st.text(min_size=1, max_size=10).filter(lambda text: "\r" not in text))
    content = before + old.encode() + after
    assume(content.count(old.encode()) == 1)
    assume(encoding_of(content) is UTF_8)
    assume(old != new)
    assume(content.find(old.encode()) == content.rfind(old.encode()))  # not even overlapping ones
    done = replace_text(UTF_8.decode(content), old, new, False)
    assert UTF_8.encode(done.text) == content.replace(old.encode(), new.encode())


@given(st.binary(max_size=80))
@example(b"\xff\xfe\x00")
@example(b"\xef\xbb\xbf\xef\xbb")
def test_decoding_and_encoding_gives_the_same_bytes_or_fails(data: bytes) -> None:
    encoding = encoding_of(data)
    try:
        text = encoding.decode(data)
    except UnicodeDecodeError:
        assert encoding.codec != "utf-8"
        return
    assert encoding.encode(text) == data


LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "a\r\n", "b\r\n", "\r\n", "a"]), max_size=12).map("".join)


@given(LINES, LINES.filter(bool), LINES)
def test_in_any_mix_of_line_endings_only_the_matches_change(text: str, old: str, new: str) -> None:
    try:
        done = replace_text(text, old, new, True)
    except RefusalError:
        return
    plain = [part.replace("\r\n", "\n") for part in (text, old, new)]
    assert done.text.replace("\r\n", "\n") == plain[0].replace(plain[1], plain[2])
    assert done.count == plain[0].count(plain[1])
    if "\r\n" not in text:
        assert "\r\n" not in done.text


def applied(old: str, new: str) -> str:
    """``old`` with the diff applied, or an assertion that it does not fit."""
    lines = old.split("\n")
    result: list[str] = []
    at = 0
    for line in diff_of("f", old, new).lines:
        if line.text.startswith("\\ No newline") or line.kind == "hunk":
            continue
        if line.kind == "add":
            assert line.line == len(result) + 1
            result.append(line.text)
            continue
        if line.kind == "context":
            while len(result) < line.line - 1:
                result.append(lines[at])
                at += 1
        else:
            while at < line.line - 1:
                result.append(lines[at])
                at += 1
        assert lines[at] == line.text
        at += 1
        if line.kind == "context":
            result.append(line.text)
    return "\n".join(result + lines[at:])


TEXT = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=25).map(lambda lines: "".join(f"{x}\n" for x in lines))


@given(TEXT, TEXT)
def test_a_diff_leads_from_the_old_text_to_the_new_one(old: str, new: str) -> None:
    assert applied(old, new) == new


def test_a_diff_is_bounded_in_lines_and_width() -> None:
    diff = diff_of("f", "", "x" * 10_000 + "\n" + "y\n" * 100_000)
    assert len(diff.lines) == MAX_LINES + 1
    assert "99602 more lines" in diff.lines[-1].text
    assert all(len(line.text) <= 500 for line in diff.lines)
    both = diff_of("f", "x\n" * 50_000, "y\n" * 50_000)
    assert len(both.lines) == MAX_LINES + 1


def test_a_diff_shows_a_final_newline_that_comes_or_goes() -> None:
    texts = [(line.kind, line.text) for line in diff_of("f", "a\nb", "a\nb\n").lines]
    assert texts[1:] == [
        ("context", "a"),
        ("remove", "b"),
        ("context", "\\ No newline at end of file"),
        ("add", "b"),
    ]


def test_a_diff_holds_no_lone_surrogates() -> None:
    diff = diff_of("f", UTF_8.decode(b"caf\xe9\n"), "x\n")
    "".join(line.text for line in diff.lines).encode()


def test_no_change_is_an_empty_diff() -> None:
    assert diff_of("f", "a\nb\n", "a\nb\n").lines == ()
