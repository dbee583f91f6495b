"""``agentframework sessions``: the stored sessions, to look at, to take elsewhere, to delete."""

import argparse
import asyncio
import os
from datetime import datetime
from typing import Any

from agentframework._base.bounded import printable
from agentframework.cli.keeping import session_store
from agentframework.cli.output import write_stderr, write_stdout
from agentframework.errors import AgentFrameworkError
from agentframework.stores import JsonlSessionStore
from agentframework.stores.export import as_html, as_json, as_markdown
from agentframework.stores.records import Restored, restore

_FORMATS = {"markdown": as_markdown, "json": as_json, "html": as_html}


def sessions_command(words: list[str]) -> int:
    """Run the command; returns the exit code."""
    asked = _parser().parse_args(words)
    store, problem = session_store(os.environ)
    if store is None:
        write_stderr(f"agentframework: {problem}\n".encode())
        return 2
    try:
        return asyncio.run(_COMMANDS[asked.command](store, asked))
    except AgentFrameworkError as error:
        write_stderr(f"agentframework: {printable(error.message)}\n".encode())
        return 2
    except OSError as error:
        write_stderr(f"agentframework: {printable(str(error))}\n".encode())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agentframework sessions", description="Look at stored sessions.")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="the sessions, the latest first")
    listing.add_argument("--search", help="only those whose id or title holds this")
    listing.add_argument("--limit", type=int, default=20, metavar="N", help="at most N (default: 20)")
    listing.add_argument("--all", action="store_true", help="those of other directories, too")
    show = commands.add_parser("show", help="print a session as Markdown")
    show.add_argument("id")
    export = commands.add_parser("export", help="write a session to a file, or to stdout")
    export.add_argument("id")
    export.add_argument("--format", choices=sorted(_FORMATS), default="markdown", help="default: markdown")
    export.add_argument("--output", metavar="FILE", help="default: stdout")
    delete = commands.add_parser("delete", help="delete sessions for good")
    delete.add_argument("id", nargs="+")
    return parser


async def _list(store: JsonlSessionStore, asked: Any) -> int:
    here = os.path.realpath(os.getcwd())
    listed = await store.list(limit=100_000 if not asked.all else asked.limit, search=asked.search)
    chosen = [item for item in listed if asked.all or item.cwd == here][: asked.limit]
    for item in chosen:
        moment = datetime.fromtimestamp(item.updated_at).astimezone().strftime("%Y-%m-%d %H:%M")
        line = f"{item.session_id}  {moment}  {item.turns:>4}  {item.status:<11}  {item.title}"
        write_stdout(f"{printable(line)}\n".encode())
    return 0


async def _whole(store: JsonlSessionStore, session_id: str) -> Restored:
    """All of a session, also what lies before a compaction."""
    restored = restore(session_id, await store.read(session_id))
    for problem in restored.problems:
        write_stderr(f"agentframework: {printable(problem)}\n".encode())
    return restored


async def _show(store: JsonlSessionStore, asked: Any) -> int:
    write_stdout(printable(as_markdown(await _whole(store, asked.id))).encode())
    return 0


async def _export(store: JsonlSessionStore, asked: Any) -> int:
    text = printable(_FORMATS[asked.format](await _whole(store, asked.id)))
    if asked.output is None:
        write_stdout(text.encode())
    else:
        descriptor = os.open(asked.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


async def _delete(store: JsonlSessionStore, asked: Any) -> int:
    for session_id in asked.id:
        known = store.path_of(session_id).is_file()
        await store.delete(session_id)
        if not known:
            write_stderr(f"agentframework: there was no session {session_id}\n".encode())
    return 0


_COMMANDS = {"list": _list, "show": _show, "export": _export, "delete": _delete}
