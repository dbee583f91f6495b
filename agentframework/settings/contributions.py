"""Where skills, agents, commands and plugins may come from: the project, if it is trusted, and the user's home."""

import os
from dataclasses import dataclass

from agentframework.settings.trust import ProjectAccess


@dataclass(frozen=True, slots=True)
class ContributionSources:
    """The two anchors of roots: relative ones belong to the project, those with ``~`` to ``home``."""

    access: ProjectAccess | None
    home: str | None

    @property
    def project_root(self) -> str | None:
        """The root of the project while it is trusted, else None: then nothing of it may be looked for."""
        return self.access.root if self.access is not None and self.access.trusted else None

    def place(self, root: str) -> str | None:
        """The folder that ``root`` means, absolute; None if it is the project's and that is not trusted."""
        if os.path.isabs(root):
            return root
        if root == "~" or root.startswith("~/"):
            return None if self.home is None else os.path.join(self.home, root[2:])
        return None if self.project_root is None else os.path.join(self.project_root, root)


def contribution_sources_for(
    project_access: ProjectAccess | None, home: str | os.PathLike[str] | None
) -> ContributionSources:
    """The sources that follow from an access and a home directory."""
    return ContributionSources(project_access, None if home is None else os.fspath(home))
