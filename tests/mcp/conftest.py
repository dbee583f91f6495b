"""Servers below the test's directory."""

from pathlib import Path

import pytest
from mcpkit import Raw


@pytest.fixture
def raw(tmp_path: Path) -> Raw:
    return Raw(tmp_path)
