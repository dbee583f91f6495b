"""Where in a call of git the subcommand stands, and which subcommands Git has (git(1))."""

from collections.abc import Sequence

from agentframework.permissions.shell.model import Word

_WITH_VALUE = frozenset({
    "-C", "-c", "--attr-source", "--config-env", "--git-dir", "--list-cmds", "--namespace", "--super-prefix",
    "--work-tree",
})  # fmt: skip
# Any other word in its place is an alias, or a program whose name starts with `git-`.
SUBCOMMANDS = frozenset(
    """add am annotate apply archive backfill bisect blame branch bugreport bundle cat-file check-attr check-ignore
    check-mailmap check-ref-format checkout checkout-index cherry cherry-pick citool clean clone column commit
    commit-graph commit-tree config count-objects credential credential-cache credential-store daemon describe diagnose
    diff diff-files diff-index diff-pairs diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch
    fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc grep gui hash-object help hook imap-send index-pack
    init init-db instaweb interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge
    merge-base merge-file merge-index merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects
    pack-redundant pack-refs patch-id prune prune-packed pull push range-diff read-tree rebase reflog refs remote
    repack replace replay request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack shortlog
    show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule svn switch
    symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info var verify-commit
    verify-pack verify-tag version whatchanged worktree write-tree""".split()  # noqa: SIM905 - a list of 150 strings
)


def split_git(words: Sequence[Word]) -> tuple[Sequence[Word], Word | None, Sequence[Word]]:
    """The options in front of the subcommand, the subcommand (None: there is none), and its arguments."""
    at = 0
    while at < len(words):
        value = words[at].value
        if value is None or not value.startswith("-"):
            return words[:at], words[at], words[at + 1 :]
        at += 2 if value in _WITH_VALUE else 1
    return words, None, ()
