from pathlib import Path

import pytest
from promise_bindings import Bindings
from promise_rows import DOCUMENTS, ManifestError, Row, load_manifest, summary_lines

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    return load_manifest(HERE)


# The manifest of this repository


def test_every_row_of_the_manifest_is_well_formed(rows: tuple[Row, ...]) -> None:
    assert {row.document for row in rows} == set(DOCUMENTS)
    assert len({row.id for row in rows}) == len(rows)


def test_every_kept_promise_is_bound_to_tests_that_run(rows: tuple[Row, ...]) -> None:
    bindings = Bindings(ROOT)
    problems = [
        f"{row.place}: {test} {problem}"
        for row in rows
        for test in row.tests
        if (problem := bindings.problem_with_test(test)) is not None
    ]
    assert problems == []


def test_every_divergence_is_shown_somewhere(rows: tuple[Row, ...]) -> None:
    bindings = Bindings(ROOT)
    problems = [
        f"{row.place}: {reference} {problem}"
        for row in rows
        for reference in row.shown_by
        if (problem := bindings.problem_with_place(reference)) is not None
    ]
    assert problems == []


def test_the_summary_counts_every_row(rows: tuple[Row, ...]) -> None:
    lines = summary_lines(rows)
    assert [line.split("  ")[0] for line in lines] == [*DOCUMENTS.values(), "together"]
    assert f"{len(rows)} in all" in lines[-1]
    for state in ("kept", "open", "diverging"):
        assert f"{sum(row.state == state for row in rows)} {state}" in lines[-1]


# Reading

HEAD = 'sections = ["Quick start"]\n'
GOOD = '[[row]]\nid = "mimik.quick-start.1"\npromise = "It starts."\nopen = "agent"\n'


def manifest(folder: Path, text: str) -> Path:
    """A manifest whose second document holds ``text``."""
    for document in DOCUMENTS:
        (folder / document).mkdir()
        own = text if document == "mimik" else (HEAD + GOOD).replace("mimik", document)
        (folder / document / "a.toml").write_text(own, encoding="utf-8")
    return folder


def test_a_row_is_read_with_its_document_and_section(tmp_path: Path) -> None:
    text = GOOD.replace('open = "agent"', 'tests = ["tests/a/test_a.py::test_a"]\nnote = "more"')
    row = load_manifest(manifest(tmp_path, HEAD + text))[1]
    assert (row.id, row.document, row.section, row.state) == ("mimik.quick-start.1", "mimik", "Quick start", "kept")
    assert (row.promise, row.tests, row.note) == ("It starts.", ("tests/a/test_a.py::test_a",), "more")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD + GOOD + GOOD, "row 2"),
        (HEAD + GOOD + GOOD.replace(".1", ".3"), "row 2 is quick-start.3 where quick-start.2 belongs"),
        ('sections = ["Quick start", "Agent"]\n' + GOOD + GOOD.replace("quick-start", "agent"), "sorted by section"),
        ('sections = ["Quick start", "Agent"]\n' + GOOD, "the section 'Agent' has no row"),
        (HEAD + GOOD.replace("quick-start", "slow-start"), "no section whose title would be written 'slow-start'"),
        (HEAD + GOOD.replace("mimik", "robota"), "an id is mimik.<section>.<number>"),
        (HEAD + GOOD.replace(".1", ""), "an id is mimik.<section>.<number>"),
        (HEAD + GOOD.replace("id =", "name ="), "row 1 (without id): 'id'"),
        (HEAD + GOOD + 'colour = "red"\n', "row 1 (mimik.quick-start.1): unknown key 'colour'"),
        (HEAD + GOOD + 'tests = ["a"]\n', "has tests and open; give one of tests, open, diverges"),
        (HEAD + GOOD.replace('open = "agent"', ""), "has no state"),
        (HEAD + GOOD.replace("agent", "moon"), "unknown part 'moon'"),
        (HEAD + GOOD.replace('"agent"', "true"), "'open' has to be text"),
        (HEAD + GOOD.replace("It starts.", " "), "'promise' has to be text"),
        (HEAD + GOOD.replace("It starts.", ""), "'promise' has to be text"),
        (HEAD + GOOD.replace('open = "agent"', "tests = []"), "'tests' has to be a list"),
        (HEAD + GOOD.replace('open = "agent"', 'tests = ["a", "a"]'), "names something twice"),
        (HEAD + GOOD.replace('open = "agent"', 'diverges = "why"'), "'diverges' and 'shown_by' come together"),
        (HEAD + GOOD + 'shown_by = ["README.md"]\n', "'diverges' and 'shown_by' come together"),
        (HEAD + GOOD + 'open = "mcp"\n', "a.toml: "),
        (HEAD + "[row]\n", "'row' has to be an array of tables"),
        (HEAD, "'row' has to be an array of tables"),
        (GOOD, "'sections' has to be a list"),
        ("rows = 1\n" + HEAD + GOOD, "unknown key 'rows'"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_row(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ManifestError) as caught:
        load_manifest(manifest(tmp_path, text))
    assert "mimik/a.toml" in str(caught.value)
    assert says in str(caught.value)


def test_an_id_is_taken_once_in_all_files(tmp_path: Path) -> None:
    folder = manifest(tmp_path, HEAD + GOOD)
    (folder / "mimik" / "b.toml").write_text(HEAD + GOOD, encoding="utf-8")
    with pytest.raises(ManifestError, match=r"mimik/b\.toml: row 1 .* taken by mimik/a\.toml: row 1"):
        load_manifest(folder)


def test_a_document_without_promises_is_noticed(tmp_path: Path) -> None:
    folder = manifest(tmp_path, HEAD + GOOD)
    (folder / "mimik" / "a.toml").unlink()
    with pytest.raises(ManifestError, match="no promises of mimik agent-kit"):
        load_manifest(folder)


# Bindings

MODULE = """
import sys
import pytest

NAMES = ("one", "two")

async def test_plain(): ...

@pytest.mark.parametrize("name", NAMES)
def test_named(name): ...

@pytest.mark.parametrize(("a", "b"), [(1, 2)])
def test_numbers(a, b): ...

class TestGroup:
    def test_inside(self): ...

class Other:
    def test_inside(self): ...

def helper(): ...

@pytest.mark.skip(reason="later")
def test_skipped(): ...

@pytest.mark.skip
def test_skipped_without_a_reason(): ...

@pytest.mark.skipif(True, reason="later")
def test_skipped_by_a_constant(): ...

@pytest.mark.skipif(sys.platform == "win32", reason="elsewhere")
def test_skipped_elsewhere(): ...

@pytest.mark.xfail
def test_that_fails(): ...

def test_that_gives_up():
    pytest.skip("later")

def test_that_may_give_up(a):
    if a:
        pytest.skip("not here")

class TestSkipped:
    pytestmark = [pytest.mark.skip]
    def test_inside(self): ...
"""


@pytest.fixture
def bindings(tmp_path: Path) -> Bindings:
    (tmp_path / "tests" / "a").mkdir(parents=True)
    (tmp_path / "tests" / "a" / "test_a.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "tests" / "a" / "conftest.py").write_text("def test_plain(): ...", encoding="utf-8")
    (tmp_path / "tests" / "test_off.py").write_text("pytestmark = pytest.mark.skip\ndef test_a(): ...\n")
    (tmp_path / "tests" / "test_out.py").write_text("pytest.skip('x', allow_module_level=True)\ndef test_a(): ...\n")
    (tmp_path / "page.md").write_text("# A page\n\n## What's `new`?\n", encoding="utf-8")
    (tmp_path / "code.py").write_text("class A:\n    def b(self): ...\n", encoding="utf-8")
    return Bindings(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "test_plain", "test_named", "test_named[two]", "test_numbers[1-2]", "TestGroup::test_inside",
        "test_skipped_elsewhere", "test_that_may_give_up",
    ],
)  # fmt: skip
def test_a_test_that_is_run_is_found(bindings: Bindings, name: str) -> None:
    assert bindings.problem_with_test(f"tests/a/test_a.py::{name}") is None


@pytest.mark.parametrize(
    ("node_id", "problem"),
    [
        ("tests/a/test_a.py::test_gone", "has no test test_gone"),
        ("tests/a/test_a.py::helper", "has no test helper"),
        ("tests/a/test_a.py::test_named[three]", "'three' is none of its parameters"),
        ("tests/a/test_a.py::test_plain[one]", "test_plain has no parameters"),
        ("tests/a/test_a.py::TestGroup::test_gone", "has no test TestGroup::test_gone"),
        ("tests/a/test_a.py::TestGone::test_inside", "has no test class TestGone"),
        ("tests/a/test_a.py::Other::test_inside", "has no test class Other"),
        ("tests/a/test_gone.py::test_plain", "there is no tests/a/test_gone.py"),
        ("tests/a/conftest.py::test_plain", "is not of the form"),
        ("tests/a/test_a.py", "is not of the form"),
        ("src/test_a.py::test_plain", "is not of the form"),
        ("tests/a/test_a.py::test_skipped", "is always skipped"),
        ("tests/a/test_a.py::test_skipped_without_a_reason", "is always skipped"),
        ("tests/a/test_a.py::test_skipped_by_a_constant", "is always skipped"),
        ("tests/a/test_a.py::test_that_gives_up", "is always skipped"),
        ("tests/a/test_a.py::TestSkipped::test_inside", "is always skipped"),
        ("tests/a/test_a.py::test_that_fails", "is expected to fail"),
        ("tests/test_off.py::test_a", "is always skipped"),
        ("tests/test_out.py::test_a", "is always skipped"),
    ],
)
def test_a_test_that_is_missing_or_never_run_is_told(bindings: Bindings, node_id: str, problem: str) -> None:
    assert problem in (bindings.problem_with_test(node_id) or "")


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("page.md", None),
        ("page.md#whats-new", None),
        ("page.md#whats-old", "has no such heading"),
        ("gone.md#whats-new", "there is no gone.md"),
        ("code.py::A", None),
        ("code.py::A.b", None),
        ("code.py::A.c", "defines no A.c"),
        ("code.py::A.b.c", "defines no A.b.c"),
        ("tests/a/test_a.py::test_plain", None),
        ("tests/a/test_a.py::test_skipped", "is always skipped"),
    ],
)
def test_a_divergence_may_be_shown_by_a_test_a_definition_or_a_page(
    bindings: Bindings, reference: str, problem: str | None
) -> None:
    found = bindings.problem_with_place(reference)
    assert found is None if problem is None else problem in (found or "")
