"""Which variables a program that we start may inherit.

Keys and tokens live in environment variables, and no list of their names is ever complete; so this is a list of what
programs need to find other programs, files and their language, and everything else stays with the host.
"""

from collections.abc import Mapping

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
INHERITED = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR",
    "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
    "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "NVM_DIR", "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME",
    "RUSTUP_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
})  # fmt: skip


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """What of ``environment`` (usually ``os.environ``) a program gets: `INHERITED`, ``LC_*``, and always a PATH."""
    passed = {name: value for name, value in environment.items() if name in INHERITED or name.startswith("LC_")}
    return {"PATH": DEFAULT_PATH, **passed}
