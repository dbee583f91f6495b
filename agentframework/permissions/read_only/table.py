"""The programs of the read-only set whose options a table describes.

Sources: POSIX XCU 4, the manuals of coreutils, grep, diffutils, util-linux, procps, ripgrep, fd, tree and file. For
each program it lists the options that take an operand, so that these are not taken for something else, and those that
write a file, run a program, follow links or set something: with one of them the command is not in the set.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from agentframework.permissions.argv import Syntax


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One program.

    ``letters`` and ``long`` are options whose operand is no file (``attached``: only if it is attached), ``files`` and
    ``long_files`` those that name a file to read; ``refused`` and ``refused_long`` take a command out of the set.
    ``text``: the operands are no files. ``pattern``: the first operand is none either, unless one of these options is
    given. ``most`` operands are allowed. ``bare``: only without arguments. ``loose``: words that are known only at run
    time do no harm.
    """

    letters: str = ""
    long: tuple[str, ...] = ()
    attached: str = ""
    files: str = ""
    long_files: tuple[str, ...] = ()
    refused: str = ""
    refused_long: tuple[str, ...] = ()
    text: bool = False
    pattern: tuple[str, ...] | None = None
    most: int | None = None
    bare: bool = False
    loose: bool = False

    @property
    def syntax(self) -> Syntax:
        """How its arguments are read."""
        return Syntax(self.letters + self.files, self.long + self.long_files, self.attached)


_FILES = Reader()
_TEXT = Reader(text=True)
_LOOSE = Reader(text=True, loose=True)
_DIGEST = Reader(letters="al", long=("--algorithm", "--length"))
_GREP = Reader(
    letters="ABCDdem", files="f", refused="R", refused_long=("--dereference-recursive",),
    long=(
        "--regexp", "--max-count", "--context", "--after-context", "--before-context", "--include", "--exclude",
        "--exclude-dir", "--label", "--binary-files", "--devices", "--directories",
    ),
    long_files=("--file", "--exclude-from"), pattern=("-e", "-f", "--regexp", "--file"),
)  # fmt: skip
_FD = Reader(
    letters="cdeEjoSt", files="C", refused="xXL", pattern=(),
    refused_long=("--exec", "--exec-batch", "--follow", "--list-details"),
    long=("--color", "--max-depth", "--min-depth", "--extension", "--exclude", "--size", "--type", "--threads"),
    long_files=("--base-directory", "--search-path", "--ignore-file"),
)  # fmt: skip

READERS: Mapping[str, Reader] = {
    # what they are given is text, or nothing at all
    ":": _TEXT, "true": _TEXT, "false": _TEXT, "pwd": _TEXT, "test": _LOOSE, "[": _LOOSE, "expr": _TEXT, "seq": _TEXT,
    "sleep": _TEXT, "basename": _TEXT, "dirname": _TEXT, "realpath": _TEXT, "readlink": _TEXT, "numfmt": _TEXT,
    "tr": _TEXT, "which": _TEXT, "whereis": _TEXT, "type": _TEXT, "ps": _TEXT, "pgrep": _TEXT, "id": _TEXT,
    "groups": _TEXT, "whoami": _TEXT, "uname": _TEXT, "arch": _TEXT, "nproc": _TEXT, "uptime": _TEXT, "free": _TEXT,
    "df": _TEXT, "getconf": _TEXT, "locale": _TEXT, "cal": _TEXT, "users": _TEXT, "who": _TEXT, "tty": _TEXT,
    "echo": _LOOSE,
    "read": Reader(text=True, letters="adinNptu"),  # which variables it may set is judged with all assignments
    "printf": Reader(text=True, refused="v"),
    "env": Reader(bare=True),
    "printenv": _TEXT,
    "hostname": Reader(bare=True),
    "date": Reader(
        letters="d", attached="I", long=("--date",), files="rf", long_files=("--reference", "--file"), refused="s",
        refused_long=("--set",), text=True,
    ),
    # they read the files they are given, and print
    "cat": _FILES, "tac": Reader(letters="s", long=("--separator",)), "rev": _FILES,
    "wc": Reader(refused_long=("--files0-from",)),
    "head": Reader(letters="cn", long=("--bytes", "--lines")),
    "tail": Reader(letters="cns", long=("--bytes", "--lines", "--sleep-interval", "--pid", "--max-unchanged-stats")),
    "ls": Reader(letters="ITw", long=("--ignore", "--hide", "--tabsize", "--width", "--block-size")),
    "dir": Reader(letters="ITw", long=("--ignore", "--hide")),
    "du": Reader(
        letters="Bdt", long=("--block-size", "--max-depth", "--threshold", "--exclude"), files="X", refused="L",
        long_files=("--exclude-from",), refused_long=("--dereference", "--files0-from"),
    ),
    "stat": Reader(letters="c", long=("--format", "--printf")),
    "file": Reader(
        letters="FeP", long=("--separator", "--exclude", "--parameter"), files="fm", refused="C",
        long_files=("--files-from", "--magic-file"), refused_long=("--compile",),
    ),
    "tree": Reader(letters="LPITH", refused="olR", long=("--filelimit", "--charset", "--sort", "--timefmt")),
    "cut": Reader(letters="bcdf", long=("--bytes", "--characters", "--delimiter", "--fields", "--output-delimiter")),
    "paste": Reader(letters="d", long=("--delimiters",)),
    "join": Reader(letters="12aejotv"),
    "comm": Reader(long=("--output-delimiter",)),
    "uniq": Reader(letters="fsw", long=("--skip-fields", "--skip-chars", "--check-chars"), most=1),
    "sort": Reader(
        letters="kSt", long=("--key", "--buffer-size", "--field-separator", "--parallel", "--batch-size", "--sort"),
        refused="oT",
        refused_long=("--output", "--compress-program", "--temporary-directory", "--files0-from"),
    ),
    "nl": Reader(letters="bdfhilnsvw"),
    "fold": Reader(letters="w", long=("--width",)),
    "fmt": Reader(letters="gpw"),
    "expand": Reader(letters="t"), "unexpand": Reader(letters="t"),
    "column": Reader(letters="cEHilNnOopRrsTW"),
    "iconv": Reader(letters="ft", long=("--from-code", "--to-code"), refused="o", refused_long=("--output",)),
    "strings": Reader(letters="nteTs"),
    "od": Reader(letters="AjNSt", attached="w"),
    "hexdump": Reader(letters="ens", files="f"), "hd": Reader(letters="ens", files="f"),
    "xxd": Reader(letters="cglosR", refused="r", refused_long=("-revert",), most=1),
    "base64": Reader(letters="w", long=("--wrap",)), "base32": Reader(letters="w", long=("--wrap",)),
    "cksum": _DIGEST, "sum": _FILES, "md5sum": _FILES, "b2sum": _DIGEST, "sha1sum": _FILES, "sha224sum": _FILES,
    "sha256sum": _FILES, "sha384sum": _FILES, "sha512sum": _FILES, "shasum": Reader(letters="a"),
    "cmp": Reader(letters="in", long=("--ignore-initial", "--bytes")),
    "diff": Reader(
        letters="CDFILUWx", long=("--label", "--exclude", "--ignore-matching-lines", "--width", "--horizon-lines"),
        files="XS", long_files=("--exclude-from", "--from-file", "--to-file"), refused="lr",
        refused_long=("--paginate", "--recursive"),
    ),
    # they search
    "grep": _GREP, "egrep": _GREP, "fgrep": _GREP,
    "rg": Reader(
        letters="ABCEMTdegjmrt", files="f", refused="zL", pattern=("-e", "-f", "--regexp", "--file"),
        refused_long=("--pre", "--hostname-bin", "--search-zip", "--follow"), long_files=("--file", "--ignore-file"),
        long=(
            "--regexp", "--glob", "--iglob", "--type", "--type-not", "--type-add", "--max-count", "--context",
            "--after-context", "--before-context", "--max-depth", "--max-columns", "--max-filesize", "--sort",
            "--sortr", "--replace", "--threads", "--encoding", "--engine", "--color", "--colors", "--pre-glob",
        ),
    ),
    "fd": _FD, "fdfind": _FD,
}  # fmt: skip

# None of their options writes or runs anything, so that a wildcard may stand for names with a dash in front.
SAFE_OPTIONS = frozenset({"du", "egrep", "fgrep", "grep", "wc"}).union(
    name for name, reader in READERS.items() if not (reader.refused or reader.refused_long)
)
# With nothing but one of these words they only tell their version.
VERSION_OPTIONS = frozenset({"--version", "-V"})
OWN_VERSION_WORDS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("docker", "make", "node", "npm", "npx", "perl", "php", "pnpm", "ruby"), frozenset({"-v"})),
    "go": frozenset({"version"}), "java": frozenset({"-version"}), "javac": frozenset({"-version"}),
}  # fmt: skip
VERSIONED = frozenset({
    "bash", "bun", "cargo", "clang", "cmake", "deno", "docker", "dotnet", "g++", "gcc", "gh", "git", "go", "java",
    "javac", "jq", "kubectl", "make", "mypy", "node", "npm", "npx", "perl", "php", "pip", "pip3", "pnpm", "poetry",
    "psql", "pytest", "python", "python3", "rg", "ruby", "ruff", "rustc", "rustup", "terraform", "tsc", "uv", "yarn",
})  # fmt: skip
