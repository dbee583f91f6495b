"""Files that decide what runs later, or open doors elsewhere: the table, and whether a path is among them.

Names are compared the way the most forgiving file system would (case, compatibility forms and invisible
characters do not count), and only below the working directories, so that a project may itself lie in such a folder.
"""

import unicodedata
from collections.abc import Iterable, Mapping

from agentframework.permissions.paths import PathForms
from agentframework.sandbox import is_within

_REPOSITORY = "the repository's own files"
_STARTUP = "a file that shells or programs read when they start"
_KEYS = "keys or credentials"
_AGENTS = "settings, hooks or agent configuration"
_EDITORS = "settings of an editor, which runs what they say"

FOLDERS: Mapping[str, str] = {
    ".git": _REPOSITORY, ".husky": _REPOSITORY,
    ".agentframework": _AGENTS, ".agents": _AGENTS, ".claude": _AGENTS, ".codex": _AGENTS, ".cursor": _AGENTS,
    ".gemini": _AGENTS,
    ".devcontainer": _EDITORS, ".idea": _EDITORS, ".vscode": _EDITORS,
    ".aws": _KEYS, ".azure": _KEYS, ".gnupg": _KEYS, ".kube": _KEYS, ".password-store": _KEYS, ".ssh": _KEYS,
}  # fmt: skip
FILES: Mapping[str, str] = {
    # A folder with this file, `objects` and `refs` is a repository, whose configuration Git obeys.
    "head": _REPOSITORY,
    ".gitmodules": _REPOSITORY,
    ".mcp.json": _AGENTS, ".claude.json": _AGENTS,
    **dict.fromkeys(
        (
            ".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".cshrc", ".curlrc", ".exrc",
            ".gdbinit", ".gitconfig", ".inputrc", ".kshrc", ".login", ".logout", ".npmrc", ".nvimrc", ".profile",
            ".ripgreprc", ".tcshrc", ".vimrc", ".wgetrc", ".xinitrc", ".xprofile", ".xsession", ".zlogin", ".zlogout",
            ".zprofile", ".zshenv", ".zshrc", "config.fish",
        ),
        _STARTUP,
    ),
    **dict.fromkeys(
        (
            ".dockercfg", ".git-credentials", ".my.cnf", ".netrc", "_netrc", ".pgpass", ".pypirc", ".vault-token",
            "authorized_keys", "id_dsa", "id_ecdsa", "id_ed25519", "id_rsa", "known_hosts",
        ),
        _KEYS,
    ),
}  # fmt: skip
PLACES: Mapping[str, str] = {
    ".config/fish": _STARTUP, ".config/gcloud": _KEYS, ".config/gh": _KEYS, ".config/git": _STARTUP,
    ".docker/config.json": _KEYS,
}  # fmt: skip


def protection(forms: PathForms, roots: Iterable[str], own: Iterable[str], whole: bool) -> str | None:
    """What the file is, if it is one of these; ``own`` are further places, named by the host.

    ``whole``: everything below the path is changed too.
    """
    for place in {*forms.spellings, forms.real}:
        if any(is_within(place, one) or (whole and is_within(one, place)) for one in own):
            return _AGENTS
        found = _named(_below(place, roots))
        if found is not None:
            return found
    return None


def _below(place: str, roots: Iterable[str]) -> list[str]:
    root = max((root for root in roots if is_within(place, root)), key=len, default="")
    return [plain(part) for part in place[len(root) :].split("/") if part]


def _named(parts: list[str]) -> str | None:
    for number, part in enumerate(parts):
        if part.endswith(".git"):
            return _REPOSITORY
        found = FOLDERS.get(part)
        if found is None and number == len(parts) - 1:
            found = FILES.get(part)
        if found is not None:
            return found
    path = f"/{'/'.join(parts)}/"
    return next((what for name, what in PLACES.items() if f"/{name}/" in path), None)


def plain(name: str) -> str:
    """``name`` without what some file systems and readers do not see."""
    if name.isascii():
        return name.lower()
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in folded if unicodedata.category(character) != "Cf")


def is_known_name(name: str) -> bool:
    """True for a name that is protected wherever it stands."""
    name = plain(name)
    return name in FOLDERS or name in FILES or name.endswith(".git")
