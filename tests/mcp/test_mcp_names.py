import re

from hypothesis import given
from hypothesis import strategies as st

from agentframework import qualify_model_tool_name
from agentframework.mcp.config import SERVER_ID
from agentframework.tools.names import server_prefix

GOOD = re.compile(r"[a-zA-Z0-9_-]{1,64}")
IDS = st.from_regex(SERVER_ID, fullmatch=True)
TOOLS = st.text(min_size=1, max_size=140).filter(str.strip)


def test_an_ordinary_tool_is_called_by_its_server_and_name() -> None:
    assert qualify_model_tool_name("filesystem", "read_file") == "mcp__filesystem__read_file"
    assert qualify_model_tool_name("a-b", "create-issue") == "mcp__a-b__create-issue"


def test_names_that_no_api_takes_are_changed_and_stay_apart() -> None:
    tools = ["admin.tools.list", "admin_tools_list", "admin/tools/list", "検索", "a" * 128, "a" * 127 + "b", "é"]
    names = [qualify_model_tool_name("x.y", tool) for tool in tools]
    assert all(GOOD.fullmatch(name) for name in names)
    assert len(set(names)) == len(tools)


def test_a_long_server_and_a_long_tool_share_the_room() -> None:
    server, tool = "enterprise-database-management", "synchronize_all_customer_data_across_multiple_systems"
    name = qualify_model_tool_name(server, tool)
    assert len(name) <= 64
    assert name.startswith("mcp__enterprise-database-management__synchronize_al")
    assert name != qualify_model_tool_name(server, tool + "_2")


def test_two_underscores_do_not_make_one_name_of_two_servers() -> None:
    assert qualify_model_tool_name("x__y", "z") != qualify_model_tool_name("x", "y__z")
    assert qualify_model_tool_name("x_", "y") != qualify_model_tool_name("x", "_y")
    assert not qualify_model_tool_name("x__y", "z").startswith("mcp__x__")


@given(IDS, TOOLS)
def test_every_name_fits_and_begins_with_its_servers_prefix(server: str, tool: str) -> None:
    name = qualify_model_tool_name(server, tool)
    assert GOOD.fullmatch(name)
    assert name.startswith(server_prefix(server) + "__")
    assert name == qualify_model_tool_name(server, tool)


@given(st.tuples(IDS, TOOLS), st.tuples(IDS, TOOLS))
def test_different_tools_have_different_names(one: tuple[str, str], other: tuple[str, str]) -> None:
    same = qualify_model_tool_name(*one) == qualify_model_tool_name(*other)
    assert same == (one == other)


@given(IDS, IDS, TOOLS)
def test_no_tool_begins_with_the_prefix_of_another_server(one: str, other: str, tool: str) -> None:
    if one != other:
        assert not qualify_model_tool_name(one, tool).startswith(server_prefix(other) + "__")
