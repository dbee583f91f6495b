"""Build hook: ships the two bundled folders inside the package, in wheels only.

A checkout keeps ``tools_builtin/`` and ``commands/`` as packages of their own. Names that general must not
be installed for everybody: a folder ``commands/`` of a stranger would be imported in place of ours, or ours
in place of theirs. So a wheel carries them under ``agentframework/_bundled/``, where ``bundled.py`` looks
first. An editable install is left alone: there the folders stay where they are.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLED_FOLDERS = ("tools_builtin", "commands")


class BundledFoldersHook(BuildHookInterface):
    """Moves every file of the bundled folders below ``agentframework/_bundled/``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "standard":
            return
        root = Path(self.root)
        # File by file: hatchling leaves a forced file out of its usual place only when it is named exactly.
        for folder in BUNDLED_FOLDERS:
            for file in sorted((root / folder).rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    relative = file.relative_to(root).as_posix()
                    build_data["force_include"][relative] = f"agentframework/_bundled/{relative}"
