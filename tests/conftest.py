"""What every test gets: asyncio as the one backend, and no way out of this machine.

A whole run ends with how the promises stand; here, because only this file is read before the work is spread.
"""

import ipaddress
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Deadlines measure this machine's load, not our code.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


def _refuse_to_leave_this_machine(event: str, args: tuple[Any, ...]) -> None:
    if event != "socket.connect" or args[0].family not in (socket.AF_INET, socket.AF_INET6):
        return
    host = args[1][0]
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name: only one can be known without asking anybody
        loopback = host == "localhost"
    if not loopback:
        raise RuntimeError(f"A test tried to connect to {host}. Tests reach loopback addresses only.")


sys.addaudithook(_refuse_to_leave_this_machine)


PROMISES = Path(__file__).parent / "promises"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if Path.cwd() / "tests" not in {Path(argument).resolve() for argument in terminalreporter.config.args}:
        return
    sys.path.append(str(PROMISES.parent))
    from promises.promise_rows import ManifestError, load_manifest, summary_lines  # noqa: PLC0415 - found only now

    terminalreporter.section("promises")
    try:
        lines = summary_lines(load_manifest(PROMISES))
    except ManifestError as error:
        lines = [f"the manifest cannot be read: {error}"]
    for line in lines:
        terminalreporter.write_line(line)
