"""Programs that are asked about in every mode, by name and by what they are given."""

import re
from collections.abc import Callable, Sequence

from agentframework.permissions.argv import Syntax, read_arguments
from agentframework.permissions.safeguards.alarm import Alarm, unclear
from agentframework.permissions.safeguards.git import git_alarm
from agentframework.permissions.shell.model import SimpleCommand, Word

PRIVILEGED = frozenset({
    "doas", "gosu", "pkexec", "run0", "runuser", "setpriv", "su", "sudo", "sudoedit", "sudo-rs", "visudo",
})  # fmt: skip
DISK = frozenset({
    "badblocks", "blkdiscard", "cfdisk", "cryptsetup", "debugfs", "diskutil", "fdformat", "fdisk", "gdisk", "gparted",
    "hdparm", "losetup", "lvremove", "mdadm", "mke2fs", "mkswap", "mount", "newfs", "nvme", "parted", "partprobe",
    "pvremove", "resize2fs", "sfdisk", "sgdisk", "swapoff", "swapon", "tune2fs", "umount", "vgremove", "wipefs",
    "zfs", "zpool",
})  # fmt: skip
LATER = frozenset({"at", "batch", "crontab"})
_NO_CHANGE = {
    "crontab": ("-l",), "at": ("-l",), "mount": (), "fdisk": ("-l", "--list"), "parted": ("-l", "--list"),
    "sfdisk": ("-l", "--list"), "losetup": ("-a", "-l", "--all", "--list"), "swapon": ("-s", "--show", "--summary"),
}  # fmt: skip  # options with which they only show; without any arguments mount and losetup do too
_OPENING_MODE = re.compile(r"[0-7]*[2367]|[ugoa]*[ao][ugoa]*[+=].*w.*")
_NARROWING = re.compile(
    r"-i?(name|path|wholename|regex|lname)|-newer.*|-[acm](time|min)|-size|-empty|-perm|-user|-inum"
)
_PLAIN = Syntax()


def command_alarm(command: SimpleCommand) -> Alarm | None:
    """Why this one command is asked about, if it is."""
    name = command.name
    if name is None:
        return None
    if name in PRIVILEGED:
        return Alarm("it runs something with the rights of another user", command.text[:200])
    if name in DISK or name.startswith("mkfs"):
        return None if _only_shows(name, command) else Alarm("it works on disks or file systems", command.text[:200])
    if name in LATER and not _only_shows(name, command):
        return Alarm("it has something run later", command.text[:200])
    check = _CHECKS.get(name)
    return None if check is None else check(command)


def _only_shows(name: str, command: SimpleCommand) -> bool:
    if name not in _NO_CHANGE:
        return False
    found = read_arguments(command.arguments, _PLAIN)
    if not command.arguments:
        return name in ("mount", "losetup", "swapon")
    return bool(_NO_CHANGE[name]) and found.has(*_NO_CHANGE[name])


def _chmod(command: SimpleCommand) -> Alarm | None:
    """``-R 777`` and whatever else lets everybody write a whole folder."""
    # A mode such as -w,o+w starts like an option.
    found = read_arguments(command.arguments, Syntax("", ("--reference",)))
    if not (found.has("-R", "--recursive") or command.via[-1:] in (("find",), ("xargs",))):
        return None
    if not found.operands or found.has("--reference"):
        return None
    mode = found.operands[0]
    if mode.value is None:
        return unclear(mode.text)
    if any(_OPENING_MODE.fullmatch(one) for one in mode.value.split(",")):
        return Alarm("it opens a whole folder to everybody", command.text[:200])
    return None


def _dd(command: SimpleCommand) -> Alarm | None:
    for word in command.arguments:
        if (word.value or "").startswith("of=/dev/") and word.value not in ("of=/dev/null", "of=/dev/stdout"):
            return Alarm("it works on disks or file systems", command.text[:200])
    return None


_CHECKS: dict[str, Callable[[SimpleCommand], Alarm | None]] = {"chmod": _chmod, "dd": _dd, "git": git_alarm}


def is_recursive(command: SimpleCommand) -> bool:
    """True for a command that removes folders with everything in them."""
    if command.name == "find":
        return any(word.value == "-delete" for word in command.arguments)
    found = read_arguments(command.arguments, _PLAIN)
    if command.name == "rsync":
        return any(given.startswith("--del") for given, _ in found.options)
    return command.name == "rm" and found.has("-r", "-R", "--recursive")


def narrows(words: Sequence[Word]) -> bool:
    """True if find looks for something more special than everything, or than all files."""
    return any(_NARROWING.fullmatch(word.value or "") for word in words)
