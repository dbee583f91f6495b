"""The programs, variables and settings through which a line runs more than it spells out, as data for `through`.

Programs whose arguments say for certain where the inner command starts are not here: these are the wrappers of
`agentframework.permissions.shell.wrappers`.
"""

import re

# Programs that run the words they are given, wherever in their arguments these start.
RUNNERS = frozenset({
    "abduco", "act", "annotate-output", "arch", "asdf", "aws-okta", "aws-vault", "bundle", "bunx", "bwrap", "cabal",
    "caffeinate", "capsh", "catchsegv", "chamber", "choom", "chpst", "chronic", "concurrently", "conda",
    "cpulimit", "cross-env", "daemonize", "dbus-launch", "dbus-run-session", "devbox", "direnv",
    "distrobox", "doppler", "dotenv", "dotenvx", "dtach", "dumb-init", "eatmydata", "entr", "envconsul", "envdir",
    "expect", "fakechroot", "fakeroot", "faketime", "fd", "fdfind", "firejail", "flatpak", "fly", "flyctl", "foreman",
    "forever", "gdb", "genv", "gnice", "gnohup", "gpg-agent", "gstdbuf", "gtimeout", "guix", "gxargs",
    "hatch", "heroku", "hivemind", "honcho", "hyperfine", "i386", "ifne", "infisical", "ip", "just", "kubectl",
    "lerna", "linux32", "linux64", "ltrace", "lxc", "lxc-attach", "lxc-execute", "machinectl", "mamba", "micromamba",
    "minijail0", "mise", "nc", "ncat", "netcat", "newrole", "nix", "nix-shell", "nodemon",
    "nox", "npx", "nsjail", "numactl", "nx", "op", "opam", "overmind", "parallel-ssh", "pdm", "perf", "pipenv", "pipx",
    "pixi", "pkgx", "pm2", "pnpm", "pnpx", "poetry", "prlimit", "proot", "proxychains", "proxychains4", "pssh",
    "reptyr", "rlwrap", "rtx", "run-parts", "runcon", "rush", "rvx", "rye", "s6-setuidgid", "saml2aws", "sandbox-exec",
    "schedtool", "screen", "script", "setarch", "setuidgid", "sg", "snap", "socat", "softlimit", "sops",
    "spack", "ssh-agent", "stack", "start-stop-daemon", "strace", "supervisord",
    "systemd-inhibit", "systemd-nspawn", "systemd-run", "task", "tcpdump", "teleport", "teller", "tini", "tmux",
    "toolbox", "torsocks", "tox", "trickle", "tsh", "tsocks", "turbo", "uclampset", "unbuffer", "uv", "uvx",
    "valgrind", "vault", "volta", "watchexec", "wsl", "x86_64", "xterm", "xvfb-run", "yarn",
})  # fmt: skip
# The same of programs that do so only after one of these words.
RUNNING = {
    "npm": ("exec", "x"), "bun": ("x",), "cargo": ("watch",), "rustup": ("run",), "go": ("tool",),
    "cmake": ("-E",), "terraform": ("console",),
}  # fmt: skip
LOADER = re.compile(r"ld(-linux.*|-musl.*|\.so.*|64\.so.*)")
# Variables whose value is run as a command line.
CODE_VARIABLE = re.compile(
    r"(GIT_|SUDO_|SSH_|MAN)?(ASKPASS|EDITOR|PAGER)|VISUAL|FCEDIT|BROWSER|LESSOPEN|LESSCLOSE|PROMPT_COMMAND|RSYNC_RSH"
    r"|CVS_RSH|GIT_(SSH|SSH_COMMAND|SEQUENCE_EDITOR|EXTERNAL_DIFF|PROXY_COMMAND)|GIT_CONFIG_(PARAMETERS|VALUE_\d+)"
)
UNREAD_VARIABLE = frozenset({"BASH_ENV", "ENV", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"})
CODE_SETTING = re.compile(
    r"core\.(pager|editor|sshcommand|askpass|fsmonitor|gitproxy)|pager\..*|sequence\.editor|gpg\.(.*\.)?program"
    r"|diff\.external|.*\.(cmd|command|textconv|driver|clean|smudge|process|helper|uploadpack|receivepack)"
    r"|interactive\.difffilter|sendemail\..*cmd|core\.alternaterefscommand",
    re.IGNORECASE,
)
UNREAD_SETTING = re.compile(
    r"core\.(hookspath|attributesfile|worktree)|include(if\..*)?\.path|init\.templatedir", re.IGNORECASE
)
# Interactive programs whose commands run others: `!rm x`, `\\! rm x`, `.shell rm x`.
ESCAPING = frozenset({
    "ed", "ftp", "gnuplot", "less", "lftp", "mail", "mailx", "mariadb", "more", "most", "mysql", "psql", "sftp",
    "sqlite3", "telnet", "tnftp",
})  # fmt: skip
ESCAPE = re.compile(r"(?:^|[\n;+])[ \t]*(?:\\?!|\\!|\.(?:shell|system)\b|(?:shell|system)\b)[ \t]*([^\n]+)")
SPAWN = re.compile(r"\b(?:spawn|exec|system)[ \t]+([^\n;]+)")
ADDRESS = re.compile(r"(?:exec|system|shell):([^,]+)", re.IGNORECASE)
