import tempfile
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentframework.testing import tool_context
from tools_builtin._ledger import FileLedger
from tools_builtin.edit import edit_tool
from tools_builtin.multi_edit import multi_edit_tool

pieces = st.sampled_from([b"a", b"b", b"\n", b"\r\n", b"\r", b"\t", b"\0", b"\xff", b"\xe9", b"\xc3\xa9", b"\x1b"])
noise = st.one_of(st.binary(max_size=40), st.lists(pieces, max_size=20).map(b"".join))
names = st.text("xyzé\t $\\", min_size=1, max_size=6)


def plain(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@settings(max_examples=150, deadline=None)
@given(noise, names, st.text(max_size=12).filter(lambda text: "\r" not in text and "\n" not in text), noise)
def test_exactly_the_named_bytes_change(before: bytes, old: str, new: str, after: bytes) -> None:
    data = before + old.encode() + after
    assume(not data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")))
    assume(plain(data).count(old) == 1 and len(plain(data).replace(old, "", 1)) == len(plain(data)) - len(old))
    assume(old != new and data.count(old.encode()) == 1)
    assume(plain(data).find(old, plain(data).find(old) + 1) < 0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        context = tool_context(folder)
        for tool, arguments in (
            (edit_tool(FileLedger()), {"old_string": old, "new_string": new}),
            (multi_edit_tool(FileLedger()), {"edits": [{"old_string": old, "new_string": new}]}),
        ):
            path.write_bytes(data)
            result = tool.run({"file_path": "file", **arguments}, context)
            assert not result.is_error, result.content
            assert path.read_bytes() == before + new.encode() + after
