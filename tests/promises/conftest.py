"""Says at the end of every whole run how the promises stand."""

from pathlib import Path

import pytest
from promise_rows import ManifestError, load_manifest, summary_lines


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("promises")
    try:
        lines = summary_lines(load_manifest(Path(__file__).parent))
    except ManifestError as error:
        lines = [f"the manifest cannot be read: {error}"]
    for line in lines:
        terminalreporter.write_line(line)
