import fnmatch
import glob
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools_builtin._paths import RefusalError
from tools_builtin._patterns import MAX_ALTERNATIVES, PathPattern, expand_braces
from tools_builtin._walk import Unreadable, walk


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a", ["a"]),
        ("a{b,c}", ["ab", "ac"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("a{b,c{d,e}}f", ["abf", "acdf", "acef"]),
        ("{a,{b,{c,d}}}", ["a", "b", "c", "d"]),
        ("*.{js,ts{,x}}", ["*.js", "*.ts", "*.tsx"]),
        ("{a}", ["a"]),
        ("a{b", ["a{b"]),
        ("a}b", ["a}b"]),
        ("{a{b,c}", ["{ab", "{ac"]),
        ("a\\{b,c\\}", ["a\\{b,c\\}"]),
        ("{src,test}/**/*.py", ["src/**/*.py", "test/**/*.py"]),
        ("{a,a}", ["a"]),
    ],
)
def test_braces_stand_for_their_alternatives(pattern: str, expected: list[str]) -> None:
    assert expand_braces(pattern) == expected


def test_too_many_alternatives_are_refused() -> None:
    with pytest.raises(RefusalError, match=str(MAX_ALTERNATIVES)):
        expand_braces("{a,b}" * 40)
    with pytest.raises(RefusalError, match=str(MAX_ALTERNATIVES)):
        expand_braces("{" + "," * 1_000 + "}")


@given(st.text("{},\\a", max_size=14))
def test_any_braces_are_expanded_or_refused(pattern: str) -> None:
    try:
        assert expand_braces(pattern)
    except RefusalError:
        assert pattern.count(",") > 8


def accepts(pattern: str, name: str) -> bool:
    compiled = PathPattern([pattern])
    last = compiled.last_part(compiled.start)
    return last is not None and last.fullmatch(name) is not None


NAMES = st.text(st.sampled_from("abc.-[]!^\\\n"), min_size=1, max_size=8)


@given(st.text(st.sampled_from("abc.*?-"), min_size=1, max_size=8), NAMES)
def test_names_match_as_in_fnmatch(pattern: str, name: str) -> None:
    if pattern == "**":
        return
    assert accepts(pattern, name) == fnmatch.fnmatchcase(name, pattern)


@given(
    st.text(st.sampled_from("abc-*?"), max_size=3),
    st.sampled_from(["", "!", "^"]),
    st.text(st.sampled_from("abc-"), min_size=1, max_size=5),
    NAMES,
)
def test_character_classes_match_as_in_fnmatch(before: str, negation: str, members: str, name: str) -> None:
    # A caret negates in our patterns, as it does in shells and in .gitignore files; fnmatch takes it literally.
    reference = f"{before}[{negation.replace('^', '!')}{members}]"
    assert accepts(f"{before}[{negation}{members}]", name) == fnmatch.fnmatchcase(name, reference)


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("[ab].txt", "a.txt", True),
        ("[!ab].txt", "a.txt", False),
        ("[^ab].txt", "c.txt", True),
        ("[a-c]", "b", True),
        ("[]]", "]", True),
        ("[z-a]", "b", False),
        ("[!z-a]", "b", True),
        ("[a", "[a", True),
        ("\\*", "*", True),
        ("\\*", "a", False),
        ("a.b", "aXb", False),
        ("(a|b)+", "(a|b)+", True),
        ("*", ".hidden", True),
        ("?", "日", True),
    ],
)
def test_names_match_their_patterns(pattern: str, name: str, expected: bool) -> None:
    assert accepts(pattern, name) is expected


def test_no_pattern_takes_exponential_time() -> None:
    began = time.process_time()
    assert not accepts("*a" * 40 + "b", "a" * 255)
    assert time.process_time() - began < 1


def found(root: Path, pattern: str) -> set[str]:
    unreadable = Unreadable()
    patterns = [PathPattern([part for part in one.split("/") if part]) for one in expand_braces(pattern)]
    paths = [path for _, path in walk(str(root.resolve()), patterns, lambda: None, unreadable)]
    assert unreadable.count == 0
    assert len(paths) == len(set(paths))
    return set(paths)


TREE = [
    "a.py",
    ".hidden",
    "src/a.py",
    "src/b.txt",
    "src/.config/c.py",
    "src/deep/er/still/d.py",
    "src/deep/a.py",
    "a/a/a/a",
    "a/b/a/b.py",
    "test/a.py",
    "test/deep/x.py",
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for name in TREE:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "empty").mkdir()
    return root


def reference(root: Path, pattern: str) -> set[str]:
    every = glob.glob(pattern, root_dir=root, recursive=True, include_hidden=True)
    # It gives file/ for file/**, which nothing can be.
    return {path for path in every if (root / path).is_file() and not path.endswith("/")}


SEGMENTS = st.sampled_from(["**", "*", "a", "src", "deep", "*.py", "?", ".*", "[as]*", "test", "a.py"])


@settings(max_examples=150)
@given(st.lists(SEGMENTS, min_size=1, max_size=4))
def test_a_walk_finds_what_the_standard_library_finds(tree: Path, segments: list[str]) -> None:
    pattern = "/".join(segments)
    assert found(tree, pattern) == reference(tree, pattern)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", {"a.py"}),
        ("**/*.txt", {"src/b.txt"}),
        ("{src,test}/*.py", {"src/a.py", "test/a.py"}),
        ("src/**", {name for name in TREE if name.startswith("src/")}),
        ("**/deep/**/*.{py,txt}", {"src/deep/a.py", "src/deep/er/still/d.py", "test/deep/x.py"}),
        ("**", set(TREE)),
        ("**/**", set(TREE)),
        ("src", set()),
        ("**/.*", {".hidden"}),
        ("{a,a/**}/{a,b}.py", {"a/b/a/b.py"}),
    ],
)
def test_patterns_find_files(tree: Path, pattern: str, expected: set[str]) -> None:
    assert found(tree, pattern) == expected


def test_directories_where_nothing_can_match_are_not_entered(tree: Path) -> None:
    entered: list[str] = []
    unreadable = Unreadable()

    def check() -> None:
        entered.append("")

    list(walk(str(tree.resolve()), [PathPattern(["src", "*.py"])], check, unreadable))
    assert len(entered) == 2


def test_the_regular_expressions_are_valid_for_any_pattern() -> None:
    for pattern in ("[[a]", "[a-]", "[-a]", "[\\]", "a\\", "[!]", "[]", "[a&&b]", "[a||b]", "[~~]", "***", "*?*"):
        assert isinstance(accepts(pattern, "a"), bool), pattern
