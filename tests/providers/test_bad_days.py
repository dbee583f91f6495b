"""The example of bad days on each API: the vendor's own client, a server with real faults, one conversation."""

import asyncio
import importlib.util
from pathlib import Path

import httpx2
import pytest
from apikit import APIS, QUICK, provider_for

from agentframework.testing.strict_server import StrictModelServer, call, cut, error, hold, text

EXAMPLE = Path(__file__).parents[2] / "examples" / "07_bad_days.py"


@pytest.mark.parametrize("api", APIS)
async def test_a_conversation_outlives_limits_overload_a_cut_and_an_abort(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    never = asyncio.Event()
    async with StrictModelServer() as server, httpx2.AsyncClient(verify=False) as client:
        server.reply(error(429, "slow down", retry_after=0))
        server.reply(error(529, "Overloaded"))
        server.reply(text("A fox lived here."))
        server.reply(text("One day"), call("Write", {"file_path": "half.txt", "content": "x"}, done=False), cut())
        server.reply(text("It began"), hold(never))
        server.reply(text("Well."))
        provider = provider_for(api, server.url, retry=QUICK, http_client=client)
        spec = importlib.util.spec_from_file_location("bad_days", EXAMPLE)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        diary = await asyncio.wait_for(module.main(provider), 60)
        await provider.aclose()
        assert server.rejections == []
        assert len(server.requests) == 6
        last = server.requests[-1].raw.decode()
    assert diary == [
        "again in 0 s",
        "again in 0 s",
        "'A fox lived here.'",
        "MODEL_STREAM_INTERRUPTED after 'One day'",
        "stopped at 'It began'",
        "'Well.'",
    ]
    for said in ("A fox lived here.", "One day", "It began"):
        assert last.count(said) == 1
    assert "half.txt" not in last
    assert not (tmp_path / "half.txt").exists()
