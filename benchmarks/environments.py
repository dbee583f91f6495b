"""Environments of the other frameworks: one each, with the versions pinned here, made on first use."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PLACE = Path(__file__).parent / ".environments"


@dataclass(frozen=True)
class Peer:
    """An API it is measured on, and what is installed."""

    api: str
    packages: tuple[str, ...]


PEERS = {
    "peer_agno": Peer("anthropic", ("agno==3.1.10", "anthropic==2.14.0")),
    "peer_langchain": Peer("anthropic", ("langchain==1.5.2", "langchain-anthropic==1.7.10")),
    "peer_openai_agents": Peer("responses", ("openai-agents==0.24.0", "openai==3.57.0")),
    "peer_pydantic_ai": Peer("anthropic", ("pydantic-ai-slim[anthropic]==2.68.0", "anthropic==2.14.0")),
    "peer_strands": Peer("anthropic", ("strands-agents[anthropic]==1.62.0",)),
}


def python_of(subject: str) -> str:
    """The interpreter that a subject runs in; ours and the bare SDKs share this one."""
    peer = PEERS.get(subject)
    if peer is None:
        return sys.executable
    place = PLACE / subject
    python = place / "bin" / "python"
    stamp = place / "installed"
    wanted = "\n".join(peer.packages)
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"  installing {', '.join(peer.packages)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        subprocess.run([*pip, *peer.packages], check=True)
        stamp.write_text(wanted)
    return str(python)
