import pytest

from agentframework.tools import RiskClass, Tool
from agentframework.tools.schema import check_arguments
from tools_builtin._ledger import FileLedger
from tools_builtin.edit import edit_tool
from tools_builtin.glob import MAX_FILES, glob_tool
from tools_builtin.grep import grep_tool
from tools_builtin.read import DEFAULT_LINES, read_tool
from tools_builtin.write import write_tool

FILES = FileLedger()
TOOLS = [
    (read_tool(FILES), "Read", RiskClass.INSPECT, "file_path", {"file_path": "a"}),
    (write_tool(FILES), "Write", RiskClass.MODIFY, "file_path", {"file_path": "a", "content": ""}),
    (edit_tool(FILES), "Edit", RiskClass.MODIFY, "file_path", {"file_path": "a", "old_string": "", "new_string": ""}),
    (glob_tool(), "Glob", RiskClass.INSPECT, "pattern", {"pattern": "*"}),
    (grep_tool(), "Grep", RiskClass.INSPECT, "pattern", {"pattern": "x"}),
]


@pytest.mark.parametrize(("tool", "name", "risk", "key", "least"), TOOLS, ids=lambda value: getattr(value, "name", ""))
def test_a_file_tool_says_what_the_gate_must_know(
    tool: Tool, name: str, risk: RiskClass, key: str, least: dict[str, str]
) -> None:
    assert (tool.name, tool.risk, tool.permission_key) == (name, risk, key)
    assert key in tool.input_schema["properties"]
    assert check_arguments(tool.input_schema, least) is None
    for argument in least:
        assert check_arguments(tool.input_schema, {k: v for k, v in least.items() if k != argument}) is not None
    assert check_arguments(tool.input_schema, {**least, "other": 1}) is not None
    assert all(value["description"] for value in tool.input_schema["properties"].values())


def test_descriptions_name_the_limits_that_hold() -> None:
    assert str(DEFAULT_LINES) in read_tool(FILES).description
    assert str(MAX_FILES) in glob_tool().description


@pytest.mark.parametrize(
    "arguments",
    [
        {"pattern": "x", "output_mode": "other"},
        {"pattern": "x", "-A": -1},
        {"pattern": "x", "-C": 1_000_000},
        {"pattern": "x", "head_limit": -1},
        {"pattern": "x", "head_limit": "5"},
    ],
)
def test_bad_values_are_refused_before_a_search_begins(arguments: dict[str, object]) -> None:
    assert check_arguments(grep_tool().input_schema, arguments) is not None
