"""The programs that write files, as data: which of their operands and options name what they write.

Sources: the manuals of POSIX, coreutils, findutils, tar, zip, curl, wget and rsync. Read by `writes`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agentframework.permissions.argv import Arguments, Syntax


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Which operands a program writes: all, the last, all but the first, only the first or second, none.

    ``values`` and ``long`` are options whose operand is no file, ``files`` and ``long_files`` those that name a
    file it writes. ``here``: whether it writes files with names of its own into the working directory.
    """

    operands: Literal["all", "last", "rest", "first", "second", "none"]
    values: str = ""
    long: tuple[str, ...] = ()
    files: str = ""
    long_files: tuple[str, ...] = ()
    whole: bool = False
    here: Callable[[Arguments], bool] | None = None

    @property
    def syntax(self) -> Syntax:
        """How its arguments are read."""
        return Syntax(self.values + self.files, self.long + self.long_files)


TARGET = ("--target-directory",)
_ALL = Writer(operands="all")
_PACKER = Writer(operands="all", values="S", long=("--suffix",))
WRITERS: dict[str, Writer] = {
    "rm": Writer(operands="all", whole=True),
    "rmdir": Writer(operands="all", whole=True),
    "unlink": Writer(operands="all", whole=True),
    "shred": Writer(operands="all", values="ns", long=("--iterations", "--size", "--random-source"), whole=True),
    "mkdir": Writer(operands="all", values="m", long=("--mode",), whole=True),
    "mkfifo": Writer(operands="all", values="m", long=("--mode",)),
    "mknod": Writer(operands="first", values="m", long=("--mode",)),
    "touch": Writer(operands="all", values="dtr", long=("--date", "--time", "--reference"), whole=True),
    "truncate": Writer(operands="all", values="sr", long=("--size", "--reference"), whole=True),
    "fallocate": Writer(operands="all", values="lo", long=("--length", "--offset")),
    "mv": Writer(
        operands="all", values="S", long=("--suffix",), files="t", long_files=TARGET, whole=True
    ),
    "rename": Writer(operands="all"),
    "scp": Writer(operands="last", values="cDFiJloPSX"),
    "rsync": Writer(
        operands="last", values="efTBM", long_files=("--log-file", "--backup-dir", "--partial-dir"),
        long=(
            "--rsh", "--filter", "--exclude", "--exclude-from", "--include", "--include-from", "--files-from",
            "--rsync-path", "--temp-dir", "--compare-dest", "--copy-dest", "--link-dest", "--chmod", "--chown",
            "--suffix", "--port", "--password-file", "--bwlimit", "--max-size", "--min-size", "--timeout",
        ),
    ),
    "chmod": Writer(operands="rest", long=("--reference",), whole=True),
    "chown": Writer(operands="rest", long=("--reference", "--from"), whole=True),
    "chgrp": Writer(operands="rest", long=("--reference", "--from"), whole=True),
    "chattr": Writer(operands="rest", whole=True),
    "tee": Writer(operands="all", whole=True),
    "sponge": _ALL,
    "ed": _ALL, "ex": Writer(operands="all", values="cS"),
    "vi": Writer(operands="all", values="cS", whole=True),
    "vim": Writer(operands="all", values="cS", whole=True),
    "nvim": Writer(operands="all", values="cS", whole=True),
    "nano": Writer(operands="all", whole=True),
    "emacs": Writer(operands="all", values="lfu", long=("--eval", "--load", "--funcall"), whole=True),
    "gzip": _PACKER, "gunzip": _PACKER, "bzip2": _PACKER, "bunzip2": _PACKER, "xz": _PACKER, "unxz": _PACKER,
    "zstd": _PACKER, "unzstd": _PACKER,
    "zip": Writer(operands="first", values="bnstx"),
    "unzip": Writer(
        operands="none", values="xP", files="d", here=lambda given: not given.has("-d", "-l", "-p", "-t", "-v", "-Z")
    ),
    "sort": Writer(
        operands="none", values="kStT", files="o", long_files=("--output",),
        long=("--key", "--buffer-size", "--field-separator", "--temporary-directory", "--parallel", "--files0-from"),
    ),
    "uniq": Writer(operands="second", values="fsw", long=("--skip-fields", "--skip-chars", "--check-chars")),
    "xxd": Writer(operands="second", values="cglos"),
    "split": Writer(operands="second", values="abClnt", here=lambda given: len(given.operands) < 2),
    "csplit": Writer(
        operands="none", values="bn", files="f", long_files=("--prefix",),
        here=lambda given: not given.has("-f", "--prefix"),
    ),
    "patch": Writer(
        operands="first", values="DFgipVz", files="BdorY", long=("--strip", "--input", "--fuzz"),
        long_files=("--directory", "--output", "--prefix", "--basename-prefix", "--reject-file"),
        here=lambda given: not (given.operands or given.has("-d", "-o", "--directory", "--output", "--dry-run")),
    ),
    "curl": Writer(
        operands="none", values="AbCdeEFHhKmPQrtTuUwxXyYz", files="ocD",
        long_files=("--output", "--output-dir", "--cookie-jar", "--dump-header", "--trace", "--trace-ascii"),
        long=("--data", "--header", "--url", "--user", "--request", "--form", "--user-agent", "--max-time"),
        here=lambda given: given.has("-O", "-J", "--remote-name", "--remote-name-all", "--remote-header-name"),
    ),
    "wget": Writer(
        operands="none", values="etTUlAiRDXIBQw", files="OoaP",
        long_files=("--output-document", "--output-file", "--append-output", "--directory-prefix"),
        long=("--header", "--post-data", "--user", "--password", "--user-agent"),
        here=lambda given: not given.has("-O", "-P", "--output-document", "--directory-prefix", "--spider"),
    ),
}  # fmt: skip
