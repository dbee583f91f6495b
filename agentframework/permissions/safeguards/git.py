"""Git commands that throw work away, or that make Git run something else than Git.

Sources: the manuals of the subcommands, git-config(1) for the settings that name programs.
"""

import re
from collections.abc import Sequence

from agentframework.permissions.argv import Arguments, Syntax, read_arguments
from agentframework.permissions.git_words import split_git
from agentframework.permissions.safeguards.alarm import Alarm, unclear
from agentframework.permissions.shell.model import SimpleCommand, Word

_LOSS = "it throws away commits or uncommitted work"
_CONFIGURES = "it changes which programs Git runs, or its settings outside the repository"
# Settings that name a program, a file with further settings, or another place for the repository.
_TELLING_SETTING = re.compile(
    r"alias\..*|include(if)?\..*|.*\.(cmd|command|driver|helper|path|process|program|smudge|clean|textconv|trustexitcode)"
    r"|core\.(alternaterefscommand|askpass|attributesfile|editor|fsmonitor|gitproxy|hookspath|pager|sshcommand|worktree)"
    r"|credential\..*|diff\.external|extensions\..*|gpg\..*|init\.templatedir|interactive\.difffilter|pager\..*"
    r"|protocol\..*|remote\..*\.(uploadpack|receivepack|vcs)|safe\..*|sendemail\..*|sequence\.editor|submodule\..*\.update"
    r"|uploadpack\..*|url\..*|web\.browser|browser\..*|hook\..*",
    re.IGNORECASE,
)
_CONFIG = Syntax("ft", ("--file", "--blob", "--type", "--default", "--get", "--get-all", "--get-regexp", "--value"))
_READING_CONFIG = (
    "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "-l", "--list",
)  # fmt: skip
_CHANGING_CONFIG = (
    "--add", "--replace-all", "--unset", "--unset-all", "--rename-section", "--remove-section",
)  # fmt: skip
_ACTIONS = frozenset({"edit", "get", "list", "remove-section", "rename-section", "set", "unset"})
_ELSEWHERE = ("--global", "--system", "-f", "--file")
_PUSH = Syntax("o", ("--push-option", "--receive-pack", "--exec", "--repo", "--recurse-submodules"))
_CLEAN = Syntax("e", ("--exclude",))
_SWITCH = Syntax("bBcC", ("--orphan", "--conflict", "--pathspec-from-file"))


def git_alarm(command: SimpleCommand) -> Alarm | None:
    """Why this call of git is asked about, if it is."""
    leading, subcommand, words = split_git(command.arguments)
    if subcommand is None:
        return None
    if subcommand.value is None or any(word.value is None and word.splits for word in leading):
        return unclear(f"git {subcommand.text}")
    check = _CHECKS.get(subcommand.value)
    return None if check is None else check(words)


def _loss(words: Sequence[Word]) -> Alarm:
    return Alarm(_LOSS, " ".join(word.text for word in words)[:200])


def _push(words: Sequence[Word]) -> Alarm | None:
    found = read_arguments(words, _PUSH)
    rewriting = found.has(
        "-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "-d", "--delete", "--prune"
    )
    if rewriting or any((word.value or "").startswith(("+", ":")) for word in found.operands):
        return _loss(words)
    return _unknown(found)


def _reset(words: Sequence[Word]) -> Alarm | None:
    found = read_arguments(words, Syntax("U", ("--pathspec-from-file",)))
    return _loss(words) if found.has("--hard", "--merge") else _unknown(found)


def _clean(words: Sequence[Word]) -> Alarm | None:
    found = read_arguments(words, _CLEAN)
    if found.has("-n", "--dry-run"):
        return None
    return _loss(words) if found.has("-f", "--force") else _unknown(found)


def _checkout(words: Sequence[Word]) -> Alarm | None:
    found = read_arguments(words, _SWITCH)
    if found.has("-f", "--force", "--discard-changes") or _is_everything(found):
        return _loss(words)
    return None


def _restore(words: Sequence[Word]) -> Alarm | None:
    found = read_arguments(words, Syntax("s", ("--source", "--pathspec-from-file")))
    staged_only = found.has("-S", "--staged") and not found.has("-W", "--worktree")
    return _loss(words) if _is_everything(found) and not staged_only else None


def _is_everything(found: Arguments) -> bool:
    return any(word.value in (".", "./", ":/", ":", "*", ":/*", ":(top)") for word in found.operands)


def _config(words: Sequence[Word]) -> Alarm | None:
    found = read_arguments(words, _CONFIG)
    operands = found.operands
    action = (operands[0].value or "") if operands else ""
    if action in _ACTIONS:
        operands = operands[1:]
    if action in ("get", "list") or found.has(*_READING_CONFIG):
        return None
    edits = found.has("-e", "--edit") or action == "edit"
    changes = len(operands) > 1 or found.has(*_CHANGING_CONFIG) or action in _ACTIONS
    if not (edits or changes):  # a name alone is shown
        return None
    telling = any(word.value is None or _TELLING_SETTING.fullmatch(word.value) for word in operands[:1])
    if edits or telling or found.has(*_ELSEWHERE):
        return _configures(words)
    return None


def _template(words: Sequence[Word]) -> Alarm | None:
    """Hooks come with the template of a new repository."""
    found = read_arguments(words, Syntax("", ("--template",)))
    return _configures(words) if any(word.value != "" for word in found.values("--template")) else None


def _configures(words: Sequence[Word]) -> Alarm:
    return Alarm(_CONFIGURES, " ".join(word.text for word in words)[:200])


def _unknown(found: Arguments) -> Alarm | None:
    """An unknown word may be the option that is asked about."""
    words = found.operands if found.plain is None else found.operands[: found.plain]
    unknown = next((word for word in words if word.value is None), None)
    return None if unknown is None else unclear(unknown.text)


_CHECKS = {
    "push": _push,
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "switch": _checkout,
    "restore": _restore,
    "config": _config,
    "init": _template,
    "clone": _template,
}
