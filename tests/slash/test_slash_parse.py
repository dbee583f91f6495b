import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.slash import looks_like_command, normalise_name, split_line


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("help", "help"),
        ("/help", "help"),
        ("  //help  ", "help"),
        ("/mode plan", "mode"),
        ("db:migrate", "db:migrate"),
        ("", ""),
        (" / ", ""),
    ],
)
def test_a_name_is_trimmed_freed_of_slashes_and_cut_to_its_first_word(typed: str, name: str) -> None:
    assert normalise_name(typed) == name


@pytest.mark.parametrize(
    ("line", "name", "args"),
    [
        ("/help", "help", ""),
        (" /mode plan ", "mode", "plan"),
        ("/mode   plan", "mode", "plan"),
        ("/agent run this\nand that", "agent", "run this\nand that"),
        ("/mode\nplan", "mode", "plan"),
        ("/db:migrate up", "db:migrate", "up"),
        ("/Help", "Help", ""),
    ],
)
def test_a_command_line_is_a_name_and_the_rest_as_it_was_typed(line: str, name: str, args: str) -> None:
    assert split_line(line) == (name, args)


@pytest.mark.parametrize("line", ["", "help", "say /help", "/", "/ help", "//", "// note", "/usr/bin/env", "/*", "/ä"])
def test_other_lines_are_no_commands(line: str) -> None:
    assert not looks_like_command(line)
    assert split_line(line) is None


@given(st.text())
def test_every_line_is_a_prompt_or_a_command_with_a_name(line: str) -> None:
    found = split_line(line)
    assert (found is not None) == looks_like_command(line)
    if found is not None:
        assert found.name
        assert normalise_name(line) == found.name
