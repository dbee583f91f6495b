"""Which Git working tree a directory belongs to. Looks at names only: no file is opened, no program is run.

Trust hangs on this, so whatever looks like the border of a working tree is one: what lies behind it is another project.
"""

import os
from collections.abc import Iterator

_MARK = ".git"


def worktree_root(directory: str | os.PathLike[str]) -> str | None:
    """The canonical root of the working tree around ``directory``; None without one, and inside its ``.git``.

    A linked worktree and a submodule have a ``.git`` file in place of the folder, and are trees of their own.
    """
    real = os.path.realpath(directory)
    if not os.path.isdir(real):
        return None
    for place in _upwards(real):
        mark = os.path.join(place, _MARK)
        if os.path.lexists(mark):
            # Anything of that name ends the search: a broken repository is not part of the one around it.
            return place if _is_repository(mark) and _MARK not in os.path.relpath(real, place).split(os.sep) else None
    return None


def _upwards(directory: str) -> Iterator[str]:
    while True:
        yield directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def _is_repository(mark: str) -> bool:
    if os.path.isfile(mark):
        return True
    return all(os.path.exists(os.path.join(mark, name)) for name in ("HEAD", "objects", "refs"))
