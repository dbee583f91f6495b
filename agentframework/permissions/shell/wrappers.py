"""Programs that run other programs: where in their arguments the inner command is found.

This is data. `unwrap.py` reads it; the few programs whose arguments no table describes are in
`unwrap_special.py`. Sources: POSIX XCU 4, the manuals of coreutils, util-linux, findutils, sudo, OpenBSD doas,
procps watch and bash. An option that is not listed is reported, never guessed: it might take an operand and so
shift the program name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Runs = Literal["words", "line", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """How one program finds the command it runs.

    Letters are one-letter options, the tuples hold whole options with their dashes.
    """

    flags: str = ""  # options without an operand
    operands: str = ""  # options whose operand is attached or the next word
    attached: str = ""  # options whose optional operand can only be attached
    long_flags: tuple[str, ...] = ()  # these may still have an attached `=operand`
    long_operands: tuple[str, ...] = ()
    numeric: bool = False  # `-5` is an option
    code: tuple[str, ...] = ()  # options whose operand is shell code
    ends: tuple[str, ...] = ()  # options with which no command is run
    positionals: int = 0  # operands before the command
    assignments: bool = False  # NAME=value words may precede the command
    runs: Runs = "words"  # the words of the command, one line that they form together, or only its `code`
    in_shell: bool = False  # the shell itself runs it: variables and directory stay
    moves: bool = False  # it runs somewhere else (another root, host or directory)
    directory: tuple[str, ...] = ()  # options whose operand is the directory it runs in
    moved_by: tuple[str, ...] = ()  # options with which it runs somewhere else
    shell_by_default: bool = False  # without a command it starts a shell that reads standard input
    shell_by: tuple[str, ...] = ()  # the same, but only with one of these options
    appends: bool = False  # adds arguments that are not on the line


_HELP = ("--help", "--version")

WRAPPERS: dict[str, Wrapper] = {
    "builtin": Wrapper(in_shell=True),
    "command": Wrapper(flags="p", ends=("-v", "-V"), in_shell=True),
    "exec": Wrapper(flags="cl", operands="a"),
    "nohup": Wrapper(ends=_HELP),
    "nice": Wrapper(operands="n", long_operands=("--adjustment",), numeric=True, ends=_HELP),
    "timeout": Wrapper(
        flags="vfp", operands="ks", long_flags=("--preserve-status", "--foreground", "--verbose"),
        long_operands=("--kill-after", "--signal"), positionals=1, ends=_HELP,
    ),
    "stdbuf": Wrapper(operands="ioe", long_operands=("--input", "--output", "--error"), ends=_HELP),
    "setsid": Wrapper(flags="cfw", long_flags=("--ctty", "--fork", "--wait"), ends=("-h", "-V", *_HELP)),
    "ionice": Wrapper(
        flags="t", operands="cn", long_flags=("--ignore",), long_operands=("--class", "--classdata"),
        ends=("-p", "-P", "-u", "--pid", "--pgid", "--uid", "-h", "-V", *_HELP),
    ),
    "chrt": Wrapper(
        flags="abdfioRv", operands="TPD", positionals=1, ends=("-p", "--pid", "-m", "--max", "-h", "-V", *_HELP),
        long_flags=(
            "--batch", "--deadline", "--fifo", "--idle", "--other", "--rr", "--reset-on-fork", "--verbose",
            "--all-tasks",
        ),
        long_operands=("--sched-runtime", "--sched-period", "--sched-deadline"),
    ),
    "taskset": Wrapper(
        flags="ac", long_flags=("--all-tasks", "--cpu-list"), positionals=1,
        ends=("-p", "--pid", "-h", "-V", *_HELP),
    ),
    "time": Wrapper(
        flags="apqv", operands="fo", long_flags=("--append", "--portability", "--quiet", "--verbose"),
        long_operands=("--format", "--output"), ends=("-V", *_HELP),
    ),
    "env": Wrapper(
        flags="i0v", operands="uC", long_operands=("--unset", "--chdir"), assignments=True, directory=("-C", "--chdir"),
        long_flags=(
            "--ignore-environment", "--null", "--debug", "--block-signal", "--default-signal", "--ignore-signal",
            "--list-signal-handling",
        ),
        ends=_HELP,
    ),
    "sudo": Wrapper(
        flags="ABbEHknNPSsi", operands="ghpuCTrtDR", assignments=True, directory=("-D", "--chdir"),
        moved_by=("-i", "--login", "-R", "--chroot"), shell_by=("-s", "-i", "--shell", "--login"),
        long_flags=(
            "--askpass", "--bell", "--background", "--preserve-env", "--set-home", "--login", "--non-interactive",
            "--preserve-groups", "--stdin", "--shell", "--reset-timestamp", "--no-update",
        ),
        long_operands=(
            "--group", "--host", "--prompt", "--user", "--close-from", "--command-timeout", "--role", "--type",
            "--chdir", "--chroot",
        ),
        ends=("-e", "--edit", "-l", "--list", "-v", "--validate", "-K", "--remove-timestamp", "-V", *_HELP),
    ),
    "doas": Wrapper(flags="nLs", operands="uaC", assignments=True, shell_by=("-s",)),
    "pkexec": Wrapper(
        long_flags=("--disable-internal-agent", "--keep-cwd"), long_operands=("--user",), moves=True,
        shell_by_default=True, ends=_HELP,
    ),
    "gosu": Wrapper(positionals=1, ends=("-h", "-v", *_HELP)),
    "xargs": Wrapper(
        flags="0optrx", operands="adEILnPs", attached="eil", appends=True, ends=_HELP,
        long_flags=(
            "--null", "--open-tty", "--interactive", "--no-run-if-empty", "--verbose", "--exit", "--eof", "--replace",
            "--max-lines", "--show-limits",
        ),
        long_operands=(
            "--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars", "--process-slot-var",
        ),
    ),
    "watch": Wrapper(
        flags="bcCdegprtwx", operands="nqs", runs="line",
        long_flags=(
            "--beep", "--color", "--no-color", "--differences", "--errexit", "--chgexit", "--precise", "--no-rerun",
            "--no-title", "--no-wrap", "--exec",
        ),
        long_operands=("--interval", "--equexit", "--shotsdir"), ends=("-h", "-v", *_HELP),
    ),
    "flock": Wrapper(
        flags="sxeunoFv", operands="wE", positionals=1, code=("-c", "--command"), ends=("-h", "-V", *_HELP),
        long_flags=(
            "--shared", "--exclusive", "--unlock", "--nonblock", "--nb", "--close", "--no-fork", "--verbose",
        ),
        long_operands=("--wait", "--timeout", "--conflict-exit-code"),
    ),
    "unshare": Wrapper(
        flags="fcr", attached="imnpuUCT", operands="RwSG", shell_by_default=True,
        moved_by=("-R", "--root", "-w", "--wd"),
        long_flags=(
            "--fork", "--map-root-user", "--map-current-user", "--map-auto", "--keep-caps", "--ipc", "--mount", "--net",
            "--pid", "--uts", "--user", "--cgroup", "--time", "--mount-proc", "--kill-child",
        ),
        long_operands=(
            "--map-user", "--map-group", "--map-users", "--map-groups", "--root", "--wd", "--setuid", "--setgid",
            "--setgroups", "--propagation", "--monotonic", "--boottime",
        ),
        ends=("-h", "-V", *_HELP),
    ),
    "nsenter": Wrapper(
        flags="aFZe", attached="muinpUCTrwW", operands="tSG", moves=True, shell_by_default=True,
        long_flags=(
            "--all", "--mount", "--uts", "--ipc", "--net", "--pid", "--user", "--cgroup", "--time", "--root", "--wd",
            "--wdns", "--no-fork", "--env", "--preserve-credentials", "--follow-context",
        ),
        long_operands=("--target", "--setuid", "--setgid"), ends=("-h", "-V", *_HELP),
    ),
    "chroot": Wrapper(
        positionals=1, moves=True, shell_by_default=True, long_flags=("--skip-chdir",),
        long_operands=("--groups", "--userspec"), ends=_HELP,
    ),
    "mapfile": Wrapper(flags="t", operands="dnOsuc", code=("-C",), runs="nothing", in_shell=True),
    "readarray": Wrapper(flags="t", operands="dnOsuc", code=("-C",), runs="nothing", in_shell=True),
    "compgen": Wrapper(
        flags="abcdefgjksuv", operands="oAGFPSWX", code=("-C",), runs="nothing", in_shell=True,
    ),
}  # fmt: skip

SHELLS = frozenset({"sh", "bash", "rbash", "dash", "ash", "ksh", "mksh", "zsh"})
OTHER_SHELLS = frozenset({"fish", "csh", "tcsh", "nu", "elvish", "pwsh"})
MULTICALL = frozenset({"busybox", "toybox"})

# The options of ssh, of shells and of containers: letters and long options that take an operand or none.
SSH = Wrapper(flags="46AaCfGgKkMNnqsTtVvXxYy", operands="BbcDEeFIiJLlmOoPpQRSWw")
SHELL = Wrapper(
    flags="abefhiklmnprstuvxBCDEHPT",
    long_flags=(
        "--login", "--norc", "--noprofile", "--posix", "--restricted", "--verbose", "--noediting", "--debugger",
        "--no-rcs", "--dump-strings", "--dump-po-strings", "--pretty-print",
    ),
    long_operands=("--rcfile", "--init-file"),
    ends=_HELP,
)  # fmt: skip
SU = Wrapper(
    flags="flmpP", operands="gGsTuw", code=("-c", "--command", "--session-command"),
    long_flags=("--fast", "--login", "--preserve-environment", "--pty", "--no-pty"),
    long_operands=("--group", "--supp-group", "--shell", "--whitelist-environment", "--user"),
    ends=("-h", "-V", *_HELP),
)  # fmt: skip
CONTAINER_GLOBAL = Wrapper(
    flags="D", operands="cHl", long_flags=("--debug", "--tls", "--tlsverify", "--remote"), ends=("-v", *_HELP),
    long_operands=(
        "--config", "--context", "--host", "--log-level", "--tlscacert", "--tlscert", "--tlskey", "--url",
        "--connection", "--root", "--runroot", "--storage-driver", "--cgroup-manager",
    ),
)  # fmt: skip
CONTAINER_EXEC = Wrapper(
    flags="diTt", operands="euw", positionals=1, moves=True, ends=("--help",),
    long_flags=("--detach", "--interactive", "--privileged", "--tty", "--latest", "--no-TTY"),
    long_operands=("--detach-keys", "--env", "--env-file", "--user", "--workdir", "--preserve-fds", "--index"),
)  # fmt: skip
CONTAINER_RUN = Wrapper(
    flags="dTtiPq", operands="aceuhlmpvw", positionals=1, moves=True, ends=("--help",),
    long_flags=(
        "--detach", "--interactive", "--tty", "--rm", "--init", "--privileged", "--read-only", "--publish-all",
        "--no-healthcheck", "--oom-kill-disable", "--sig-proxy", "--quiet", "--disable-content-trust",
        "--use-api-socket", "--replace", "--tls-verify", "--env-host", "--http-proxy", "--no-hosts", "--no-deps",
        "--service-ports", "--build", "--remove-orphans", "--no-TTY", "--use-aliases",
    ),
    long_operands=(
        "--add-host", "--annotation", "--attach", "--blkio-weight", "--blkio-weight-device", "--cap-add", "--cap-drop",
        "--cgroup-parent", "--cgroupns", "--cidfile", "--cpu-count", "--cpu-percent", "--cpu-period", "--cpu-quota",
        "--cpu-rt-period", "--cpu-rt-runtime", "--cpu-shares", "--cpus", "--cpuset-cpus", "--cpuset-mems",
        "--detach-keys", "--device", "--device-cgroup-rule", "--device-read-bps", "--device-read-iops",
        "--device-write-bps", "--device-write-iops", "--dns", "--dns-option", "--dns-search", "--domainname",
        "--entrypoint", "--env", "--env-file", "--expose", "--gpus", "--group-add", "--health-cmd",
        "--health-interval", "--health-retries", "--health-start-interval", "--health-start-period",
        "--health-timeout", "--hostname", "--io-maxbandwidth", "--io-maxiops", "--ip", "--ip6", "--ipc",
        "--isolation", "--kernel-memory", "--label", "--label-file", "--link", "--link-local-ip", "--log-driver",
        "--log-opt", "--mac-address", "--memory", "--memory-reservation", "--memory-swap", "--memory-swappiness",
        "--mount", "--name", "--network", "--net", "--network-alias", "--oom-score-adj", "--pid", "--pids-limit",
        "--platform", "--publish", "--pull", "--restart", "--runtime", "--security-opt", "--shm-size",
        "--stop-signal", "--stop-timeout", "--storage-opt", "--sysctl", "--tmpfs", "--ulimit", "--user", "--userns",
        "--uts", "--volume", "--volume-driver", "--volumes-from", "--workdir", "--arch", "--os", "--pod",
        "--authfile", "--timezone", "--tz", "--secret", "--umask", "--systemd",
    ),
)  # fmt: skip
COMPOSE = Wrapper(
    operands="fp", ends=("-v", *_HELP), long_flags=("--all-resources", "--compatibility", "--dry-run", "--verbose"),
    long_operands=(
        "--ansi", "--env-file", "--file", "--parallel", "--profile", "--progress", "--project-directory",
        "--project-name",
    ),
)  # fmt: skip
PARALLEL = Wrapper(
    flags="0kmqtuvxX", operands="aCdEIjLnPS", appends=True, runs="line",
    long_flags=(
        "--keep-order", "--bar", "--progress", "--eta", "--dry-run", "--no-notice", "--will-cite", "--null",
        "--quote", "--group", "--ungroup", "--line-buffer", "--lb", "--verbose", "--no-run-if-empty", "--xargs",
        "--pipe", "--tag", "--link", "--halt-on-error",
    ),
    long_operands=(
        "--jobs", "--max-procs", "--arg-file", "--colsep", "--delimiter", "--delay", "--halt", "--joblog",
        "--max-args", "--results", "--retries", "--timeout", "--load", "--memfree", "--nice", "--sshlogin",
        "--tmpdir", "--workdir",
    ),
    ends=("--version", "--help", "--citation", "-V", "-h"),
)  # fmt: skip
