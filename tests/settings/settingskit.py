"""What tests of settings share: a project under Git, files of settings, and sessions on them."""

import json
import subprocess
from pathlib import Path
from typing import Any

from agentframework import InteractiveSession, ProjectAccess, WorkspaceTrustService, create_workspace_trust_service
from agentframework.testing import ScriptedProvider

PATHS = (
    {"scope": "project", "relative_path": ".claude/settings.json"},
    {"scope": "local", "relative_path": ".claude/settings.local.json"},
)


def git(*words: str, cwd: Path) -> None:
    """Run Git, quietly and without the machine's own configuration."""
    environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(cwd), "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *words], cwd=cwd, env=environment, check=True, capture_output=True, timeout=60)


def repository(path: Path) -> Path:
    """An empty working tree."""
    path.mkdir(parents=True, exist_ok=True)
    git("init", "-q", cwd=path)
    return path.resolve()


def write(path: Path, value: Any) -> Path:
    """A settings file; text is written as it stands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2), encoding="utf-8")
    return path


def service(tmp_path: Path) -> WorkspaceTrustService:
    """A trust service with a store of the test."""
    return create_workspace_trust_service(tmp_path / "home" / "trusted.json")


def session_in(cwd: Path, access: ProjectAccess | None, *steps: Any, **options: Any) -> InteractiveSession:
    """A session that reads the two usual settings files of the project."""
    options.setdefault("project_settings_paths", PATHS)
    return InteractiveSession(cwd=cwd, provider=ScriptedProvider(*steps), project_access=access, **options)
