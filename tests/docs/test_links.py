import re
from pathlib import Path

import pytest
from pagekit import PAGES, ROOT

TEXTS = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(path: Path) -> set[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_to_something_in_the_repository(path: Path) -> None:
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_stands_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    listed = {link for link in LINK.findall(index) if link.endswith(".md")}
    assert listed == {path.name for path in PAGES} - {"README.md"}


def test_the_rules_for_contributors_name_tests_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\btest_\w+\.py", text))
    assert named
    assert named - {path.name for path in (ROOT / "tests").rglob("test_*.py")} == set()
