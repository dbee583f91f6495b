import json

import pytest
from mcpkit import Raw, Watch, manager_of

from agentframework import McpClientManager, McpOperationError, McpOptions
from agentframework.mcp import McpToolExecutor
from agentframework.testing import tool_context

JUNK = """
def start():
    write("Starting…\\n\\U0001F680\\n\\n[]\\n\\"x\\"\\n{\\"a\\": 1}\\n" + "j" * 1000000 + "\\n")
    sys.stdout.buffer.write(b"\\xff\\xfe\\x00 bytes\\n")
    sys.stdout.flush()
    sys.stderr.write("e" * 3000000)
    sys.stderr.flush()

def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\\r\\n")
    write("a banner in between\\n")
"""


async def test_a_server_that_prints_other_things_works_and_is_reported_once(raw: Raw) -> None:
    server = raw(JUNK)
    async with manager_of(server) as manager:
        result = await manager.call_tool("a", "echo", {"text": "héllo"})
        assert result.content[0].text == "héllo"  # type: ignore[union-attr]
        assert [problem for _, problem in manager.problems if "standard output" in problem] == [manager.problems[0][1]]
        assert len([line for line in server.heard() if line.startswith("start")]) == 1


async def test_a_burst_of_notices_is_answered_a_few_times_and_the_last_list_counts(raw: Raw) -> None:
    server = raw(
        """
        def call(request, name, arguments):
            for number in range(200):
                TOOLS[0]["name"] = "tool" + str(number)
                notify("notifications/tools/list_changed")
            reply(request, text("done"))
        """
    )
    async with manager_of(server, list_changed_debounce_s=0.2) as manager:
        watch = Watch(manager)
        before = server.heard().count("tools/list")
        await manager.call_tool("a", "echo", {})
        await watch.until(lambda: [tool.original_name for tool in manager.tools.all()] == ["tool199"])
        assert server.heard().count("tools/list") - before <= 3
    assert watch.of("mcp_tool_catalog_updated")[-1].added == ("mcp__a__tool199",)


async def test_a_server_that_answers_each_reading_with_a_notice_is_read_ever_more_rarely(raw: Raw) -> None:
    server = raw(
        """
        CAPABILITIES = {"tools": {}}
        def list_tools(request):
            reply(request, {"tools": TOOLS})
            notify("notifications/tools/list_changed")
        """
    )
    async with manager_of(server, list_changed_debounce_s=0.05) as manager:
        for _ in range(60):  # each takes a moment, together longer than many debounces
            await manager.ping("a")
            await manager.call_tool("a", "echo", {"text": "x"})
        assert server.heard().count("tools/list") <= 5


async def test_a_reading_that_fails_keeps_the_old_tools_and_is_reported(raw: Raw) -> None:
    server = raw(
        """
        listed = 0
        def list_tools(request):
            global listed
            listed += 1
            if listed > 1:
                fail(request, -32603, "no list today")
            else:
                reply(request, {"tools": TOOLS})

        def call(request, name, arguments):
            notify("notifications/tools/list_changed")
            reply(request, text("done"))
        """
    )
    async with manager_of(server, list_changed_debounce_s=0.01) as manager:
        watch = Watch(manager)
        await manager.call_tool("a", "echo", {})
        await watch.until(lambda: any("could not be read again" in problem for _, problem in manager.problems))
        assert [tool.original_name for tool in manager.tools.all()] == ["echo"]


ODD = {
    "plain": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
    "bare": {"type": "object"},
    "any_of": {
        "anyOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
        ]
    },
    "refs": {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    },
    "text": {"type": "string"},
    "empty": {},
    "nullable": {"type": ["object", "null"], "properties": {"x": True}},
    "draft7": {
        "type": "object",
        "properties": {"x": {"$ref": "#/definitions/x"}},
        "definitions": {"x": {"type": "string"}},
    },
    "huge": {
        "type": "object",
        "properties": {f"p{n}": {"type": "string", "description": "d" * 100} for n in range(1500)},
    },
    "odd_names": {"type": "object", "properties": {"a b": {"type": "string"}}},
}


async def test_one_odd_schema_costs_no_other_tool(raw: Raw) -> None:
    tools = [{"name": name, "inputSchema": schema} for name, schema in ODD.items()]
    tools += [{"name": "missing"}, {"name": ""}, {"inputSchema": {}}, {"name": 7, "inputSchema": {}}, "tool"]
    server = raw(f"TOOLS = json.loads({json.dumps(tools)!r})")
    async with manager_of(server) as manager:
        found = {tool.original_name: tool.spec.input_schema for tool in manager.tools.all()}
        assert set(found) == set(ODD) - {"text", "huge", "odd_names"} | {"missing"}
        assert found["plain"] == ODD["plain"]
        assert found["bare"] == found["empty"] == found["missing"] == {"type": "object", "properties": {}}
        assert set(found["any_of"]["properties"]) == {"a", "b"}
        assert "next" in found["refs"]["properties"]
        assert all(schema["type"] == "object" for schema in found.values())
        assert not any(key in schema for schema in found.values() for key in ("anyOf", "oneOf", "allOf", "$ref"))
        problems = " ".join(problem for _, problem in manager.problems)
        for name in ("'text'", "'huge'", "'odd_names'"):
            assert name in problems


BLOCKS = [
    {"type": "text", "text": "first"},
    {"type": "video", "data": "x" * 5000},
    {"type": "image", "data": "not base64!", "mimeType": "image/png"},
    {"type": "image", "data": "Qk0=", "mimeType": "image/bmp"},
    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a.txt", "name": "a"},
    {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "inside"}},
    {"type": "resource", "resource": {"uri": "file:///c.bin", "blob": "AAAA"}},
    {
        "type": "image",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==",
        "mimeType": "image/png",
        "annotations": {"audience": ["user"]},
    },
    {"type": "image"},
    "words",
    {"type": "text", "text": "last"},
]


async def test_every_kind_of_content_reaches_the_model_in_order(raw: Raw, tmp_path) -> None:
    body = f"BLOCKS = json.loads({json.dumps(BLOCKS)!r})\n"
    server = raw(body + "def call(request, name, arguments):\n    reply(request, {'content': BLOCKS})\n")
    async with manager_of(server) as manager:
        (tool,) = McpToolExecutor(manager).list_tools()
        result = await tool.run({}, tool_context(tmp_path))
        assert [image.mime_type for image in result.images] == ["image/png"]
        shown = ["first", "'video'", "damaged", "image/bmp", "audio/wav", "file:///a.txt", "file:///b.txt]\ninside"]
        places = [result.content.index(text) for text in [*shown, "file:///c.bin", "[image 1]", "words", "last"]]
        assert places == sorted(places)
        assert len(result.content) < 3000


async def test_a_result_off_its_own_schema_is_passed_on_with_a_note(raw: Raw) -> None:
    server = raw(
        """
        TOOLS[0]["outputSchema"] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        def call(request, name, arguments):
            reply(request, {"content": [], "structuredContent": {"n": "many"}})
        """
    )
    async with manager_of(server) as manager:
        result = await manager.call_tool("a", "echo", {})
        assert result.structured_content == {"n": "many"}
        assert any("output schema" in problem for _, problem in manager.problems)


@pytest.mark.parametrize("make", ["'z' * 31_000_000", "'\\n'.join('y' * 10_000 for _ in range(500))"])
async def test_a_huge_result_is_cut_and_kept_whole_in_a_file(raw: Raw, make: str, tmp_path) -> None:
    server = raw(f"def call(request, name, arguments):\n    reply(request, text({make}))\n")
    options = McpOptions(spill_directory=tmp_path / "spilled")
    async with McpClientManager({"a": server.server}, options=options) as manager:
        (tool,) = McpToolExecutor(manager).list_tools()
        result = await tool.run({}, tool_context(tmp_path))
        assert len(result.content.encode()) <= 100_000
        (kept,) = (tmp_path / "spilled").iterdir()
        assert str(kept) in result.content
        assert kept.read_text() == eval(make)
        assert kept.stat().st_mode & 0o777 == 0o600


async def test_a_message_over_the_limit_fails_its_call_and_no_other(raw: Raw) -> None:
    server = raw(
        "def call(request, name, arguments):\n    reply(request, text('x' * int(arguments['text'])))\n",
        max_buffer_size=100_000,
    )
    async with manager_of(server) as manager:
        with pytest.raises(McpOperationError, match="max_buffer_size"):
            await manager.call_tool("a", "echo", {"text": "200000"})
        result = await manager.call_tool("a", "echo", {"text": "10"})
        assert result.content[0].text == "x" * 10  # type: ignore[union-attr]


async def test_pages_are_read_up_to_a_limit(raw: Raw) -> None:
    server = raw(
        """
        def list_tools(request):
            number = int((request.get("params") or {}).get("cursor") or 0)
            reply(request, {"tools": [{"name": "t" + str(number), "inputSchema": LIST}], "nextCursor": str(number + 1)})
        """
    )
    async with manager_of(server, list_max_pages=3) as manager:
        assert [tool.original_name for tool in manager.tools.all()] == ["t0", "t1", "t2"]
        assert any("more than 3 pages" in problem for _, problem in manager.problems)


async def test_only_the_tools_that_the_host_wants_are_offered(raw: Raw) -> None:
    body = "TOOLS = [{'name': n, 'inputSchema': LIST} for n in ('read', 'write', 'delete')]"
    allowed = raw(body, allowed_tools=["read", "write"], denied_tools=["write"])
    denied = raw(body, denied_tools=["delete", "no_such"])
    async with manager_of(allowed, denied) as manager:
        assert [tool.name for tool in manager.tools.all()] == ["mcp__a__read", "mcp__b__read", "mcp__b__write"]
        assert any("no_such" in problem for _, problem in manager.problems)


async def test_a_server_that_never_answers_the_probe_is_greeted_in_the_old_way(raw: Raw) -> None:
    server = raw("def other(request):\n    pass\n")
    named = {"a": server.server}
    async with McpClientManager(named, protocol={"mode": "auto", "probe_timeout_s": 0.1}) as manager:
        assert manager.get_connection("a").era == "legacy"
        assert server.heard()[:3] == [f"start {server.pid}", "server/discover", "initialize"]


async def test_a_server_that_ends_at_the_probe_gets_one_chance_without_it(raw: Raw) -> None:
    server = raw("def other(request):\n    os._exit(2)\n")
    async with manager_of(server) as manager:
        assert manager.get_connection("a").status == "connected"
        assert server.heard().count("server/discover") == 1


async def test_the_old_era_can_be_enforced(raw: Raw) -> None:
    server = raw()
    async with McpClientManager({"a": server.server}, protocol="legacy") as manager:
        assert manager.get_connection("a").protocol_version == "2025-06-18"
        assert "server/discover" not in server.heard()
