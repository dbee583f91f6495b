import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from gatekit import Bench
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentframework.permissions.scripts import awk_only_prints, sed_only_prints

RUN: tuple[str, ...] = (
    "ls", "ls -la src", "ls *.txt", "ls -l -- src/*", "dir", "pwd", "cd src", "cd src && ls",
    "cd src && cat ../a.txt", "true", ":", "false || true", "echo hi", "echo $HOME", 'echo "$(date)" x',
    "echo *.txt", "printf '%s\\n' a", 'printf "%s" "$X"', "cat a.txt", "cat < a.txt", "cat -n a.txt src/k.py",
    "cat - < a.txt", "tac a.txt", "rev a.txt", "head -n 2 a.txt", "head -2 a.txt", "tail -n +2 a.txt",
    "tail -c 5 a.txt", "wc -l a.txt", "wc -l src/*", "nl a.txt", "fold -w 3 a.txt", "cut -d: -f1 a.txt",
    "cut -d/ -f1 a.txt", "cut -d '/' -f 2 a.txt", "tr a-z A-Z < a.txt", "sort a.txt", "sort -k2,2 -t/ a.txt",
    "sort -rn -- *.txt", "uniq -c a.txt", "comm a.txt src/k.py", "paste -d, a.txt a.txt", "join a.txt a.txt",
    "column -t a.txt", "expand a.txt", "od -c a.txt", "hexdump -C a.txt", "xxd a.txt", "base64 a.txt",
    "strings a.txt", "iconv -f utf-8 a.txt", "md5sum a.txt", "sha256sum a.txt", "cksum a.txt", "cmp a.txt a.txt",
    "diff a.txt src/k.py", "diff -u a.txt a.txt", "stat a.txt", "stat -c %s a.txt", "file a.txt", "du -sh .",
    "du -h -d 1 src", "df -h /", "tree -L 1", "realpath a.txt", "readlink -f a.txt", "basename /x/y", "dirname /x/y",
    "seq 3", "expr 1 + 1", "test -f a.txt", "[ -f a.txt ]", "sleep 0", "[[ -f a.txt ]] && ls", "ps aux", "id",
    "whoami", "uname -a", "nproc", "uptime", "free -m", "hostname", "date", "date +%s", "date -d yesterday +%F",
    "date -u", "which ls", "type ls", "command -v ls", "whereis ls", "env", "printenv PATH", "locale",
    "grep x a.txt", "grep -rn x src", "grep -rn x .", "grep -e /api/ -r src", "grep '/api' a.txt", "grep -c x src/*",
    "ls *.*", "egrep 'a|b' a.txt", "grep --include='*.py' -r x .", "rg x", "rg -n --type py x src",
    "rg -e /x -g '*.py'", "rg --files", "fd k", "fd -e py . src", "find . -name '*.py'",
    "find . -type f -name '*.py' -print0", "find src -newer a.txt", "find . -maxdepth 1 -not -name x",
    "find -name x", "find . \\( -name a -o -name b \\) -prune -o -print", "find . -printf '%p\\n'",
    "find src -empty -ls", "sed -n 1,3p a.txt", "sed 's/a/b/g' a.txt", "sed -e 's/a/b/' -e 5d a.txt",
    "sed -E 's#(a)|b#\\1#' a.txt", "sed '/x/d;s/y/z/' a.txt", "sed '$!N;s/\\n/ /' a.txt", "sed -n '/a/,/b/p' a.txt",
    "sed 'y/abc/xyz/' a.txt", "sed -n '$=' a.txt", "sed 5q a.txt", "awk '{print $1}' a.txt",
    "awk -F: '{print $1, $2}' a.txt", "awk 'NR>2' a.txt", "awk '/x/{n++} END{print n/2}' a.txt",
    "awk -v n=3 'NR==n{print; exit}' a.txt", "awk '{s+=$1} END {printf \"%d\\n\", s}' a.txt",
    "awk '$2 > 5 {print $1}' a.txt", "awk 'length($0) > 80' a.txt", "awk '{print \"a > b | c\"}' a.txt",
    "jq . d.json", "jq -r '.a | .b' d.json", "jq --arg x 1 -n '$x'", "jq '.a > 1' d.json", "cat d.json | jq .",
    "yq '.a' d.yml", "yq -r .a d.yml", "git status", "git status -s", "git log -p", "git log --oneline -5",
    "git log --graph --all -- src", "git diff", "git diff --stat", "git diff main..HEAD -- src",
    "git diff HEAD~1 a.txt", "git show HEAD", "git show HEAD:src/k.py", "git blame a.txt", "git shortlog -sn",
    "git --no-pager log", "git -C src status", "git --no-optional-locks status", "git rev-parse --show-toplevel",
    "git ls-files", "git ls-tree HEAD", "git cat-file -p HEAD", "git describe --tags", "git merge-base main HEAD",
    "git branch", "git branch -a", "git branch -vv", "git branch --show-current", "git branch --list 'x*'",
    "git branch --contains HEAD", "git tag", "git tag -l 'v*'", "git tag -n5", "git remote", "git remote -v",
    "git remote get-url origin", "git stash list", "git stash show -p", "git reflog", "git config --get user.name",
    "git config user.name", "git config --list", "git config -l --show-origin", "git worktree list", "git grep x",
    "git grep -n x -- src", "git for-each-ref", "git rev-list --count HEAD", "git symbolic-ref HEAD", "git version",
    "git notes list", "git check-ignore a.txt", "git cherry main", "git name-rev HEAD", "git show-ref", "ls | head",
    "cat a.txt | sort | uniq -c | sort -rn | head -5", "ls; pwd", "ls || true", "ls 2>/dev/null",
    "ls >/dev/null 2>&1", "ls 2>&1 | cat", "LC_ALL=C sort a.txt", "NO_COLOR=1 ls", "timeout 5 ls", "nohup ls",
    "env ls", "env -u X NO_COLOR=1 ls", "stdbuf -oL ls", "xargs echo < a.txt", "nice ls", "command ls", "time ls",
    "! ls x", "ls &", "for f in *.txt; do echo $f; done", "if [ -f a.txt ]; then cat a.txt; fi",
    "while false; do ls; done", "(cd src; ls)", "{ ls; pwd; }", "cat <<'EOF'\nx; rm -rf /\nEOF", "cat <<< hi",
    "echo $(git rev-parse HEAD)", "set -euo pipefail; ls", "cat in/k.py", "/bin/ls", "/usr/bin/env",
    "python3 --version", "node --version", "git --version", "ls -la && git status && grep -rn x src | head",
)  # fmt: skip

ASKED: Mapping[str, tuple[str, ...]] = {
    "programs that are not in it": (
        "rm a.txt", "touch x", "npm test", "make", "python3 x.py", "node x", "./ls", "src/ls", "/tmp/ls", "~/bin/ls",
        "sh -c ls", "bash x", "source x", "xargs cat", "xargs -a l cat", "xargs -a /etc/passwd echo",
        "xargs -0a /etc/passwd echo", "xargs --arg-f=l echo", "env -C / ls", "xargs rm", "tee", "tee x",
        "env A=1 ls", "env -i", "exec ls", "eval ls", "less a.txt", "man ls", "curl http://x", "ssh h ls",
        "tar tf x", "export X=1", "read PATH", "kill 1", "unset x", "watch ls", "docker ps", "python3 -V x",
        "python3 -c 1", "busybox ls", "alias x=ls", "trap ls EXIT", "hostname x", "$X", "$(echo ls)",
        "ls() { rm x; }; ls",
    ),
    "what writes": (
        "ls > x", "ls >> x", "ls &> x", "ls >| x", "ls 2> x", "ls 1<> a.txt", "echo x > /dev/sda",
        "cat a.txt | tee x", "> x", "echo > $X", "sort -o x a.txt", "sort -oa.txt a.txt", "sort --output=x a.txt",
        "sort --out x a.txt", "sort -T . a.txt", "uniq a.txt x", "sort --compress-program=./p a.txt",
        "sort --comp ./p a.txt", "tree -o x", "tree -R -o x", "xxd -r a.txt x", "xxd a.txt x", "file -C -m x",
        "iconv -o x a.txt", "date -s x", "date --set=x", "date 010203042020", "date -I 010203042020", "date -u 0102",
        "split a.txt", "csplit a.txt 1", "shuf -o x a.txt", "set -o vi", "printf -v X a", "printf \"$X\" a",
        "sort *", "set -x", "hostname -F x", "diff -l a.txt a.txt", "diff --paginate a.txt a.txt",
    ),
    "what searches and runs": (
        "find . -delete", "find . -exec touch {} +", "find . -execdir x \\;", "find . -ok rm {} \\;",
        "find . -okdir rm {} \\;", "find . -fprint x", "find . -fprintf x %p", "find . -fprint0 x", "find . -fls x",
        "find . -name *.py -delete", "find . $X", "find . -name $X", "find -L .", "find . -follow",
        "find . -files0-from x", "find * -name x", "find . -name x -newfangled", "find .. -name x", "find / -name x",
        "find . ../x", "find src /etc -name x", "find . -newer ../x", "find -D exec .", "rg --pre ./p.sh x",
        "rg --pre=./p x", "rg --hostname-bin ./x y", "rg -z x", "rg --search-zip x", "rg -L x", "rg -uuLn x",
        "rg x *", "rg --files /etc", "rg -f /etc/passwd", "rg x /etc", "fd -x rm", "fd . -X rm", "fd --exec rm",
        "fd -HIx rm", "fd -L x", "grep -R x .", "grep x /etc/passwd", "grep -f /etc/passwd a.txt",
        "grep --file=/etc/passwd a.txt", "grep x ../b", "grep -rn x ~", "fd x /etc",
    ),
    "scripts that write or run": (
        "sed -i s/a/b/ a.txt", "sed -i.bak s/a/b/ a.txt", "sed -ni p a.txt", "sed --in-place p a.txt",
        "sed --in p a.txt", "sed -n 'w out' a.txt", "sed 's/a/b/w out' a.txt", "sed 's/a/b/e' a.txt",
        "sed '1e id' a.txt", "sed 'e' a.txt", "sed 'r /etc/passwd' a.txt", "sed -f x a.txt",
        "sed 's/a/b/;w out' a.txt", "sed -e p -e 'w out' a.txt", "sed '/x/w out' a.txt", "sed 'W out' a.txt",
        "sed '$r x' a.txt", "sed \"$X\" a.txt", "sed p /etc/passwd", "sed '{w out\n}' a.txt",
        "sed 's/[/w out/' a.txt", "sed 'a\\\nx' a.txt", "sed -s 'F;w x' a.txt", "awk 'BEGIN{system(\"id\")}'",
        "awk '{print > \"x\"}' a.txt", "awk '{print >> \"x\"}' a.txt", "awk '{print | \"sh\"}' a.txt",
        "awk '{\"id\" | getline}' a.txt", "awk '{while ((getline l < \"x\") > 0) print l}' a.txt", "awk -f x a.txt",
        "awk -i inplace 1 a.txt", "awk '{printf \"%s\", $0 > $1}' a.txt", "awk \"$X\" a.txt",
        "awk '@load \"x\"' a.txt", "awk 1 /etc/passwd", "awk '{a / b | \"id\" / c}' a.txt",
        "awk '{print length / 2 > \"x\" }' a.txt", "awk -E x", "awk --file=x a.txt",
        "awk '{f() /\"/; print | \"id\" #\"/}' a.txt", "gawk -l x 1", "jq -f x d.json", "jq -L x . d.json",
        "jq --rawfile x /etc/passwd -n '$x'", "jq . /etc/passwd", "jq --from-file x", "jq $X d.json",
        "yq -i .a=1 d.yml", "yq --inplace .a=1 d.yml", "yq -s .a d.yml", "yq '.a = load(\"/etc/passwd\")' d.yml",
        "yq -ri .a=1 d.yml",
    ),
    "git that writes or runs": (
        "git commit -m x", "git add .", "git push", "git pull", "git fetch", "git checkout x", "git stash",
        "git stash pop", "git stash drop", "git -c core.pager=./p.sh -p log", "git -c core.fsmonitor=./x status",
        "git -p log", "git --paginate log", "git --git-dir=/o/.git status", "git --git-dir=.git status",
        "git --work-tree=/ status", "git -C /o status", "git -C .. status", "git --exec-path=. status",
        "git log --output=f", "git log --outp f", "git diff --output f", "git diff --ext-diff", "git diff --ext",
        "git show --textconv HEAD", "git log --show-signature", "git diff --no-index /etc/passwd a.txt",
        "git diff --no-index a.txt d.json", "git branch -D x", "git branch x", "git branch -m a b",
        "git branch -d x", "git branch --edit-description", "git branch -u x", "git branch --unset-upstream",
        "git tag v1", "git tag -d v1", "git tag -a v1 -m x", "git config user.name x", "git config --unset x.y",
        "git config --add x.y z", "git config -e", "git config --replace-all x.y z", "git remote add o u",
        "git remote show origin", "git remote update", "git remote set-url o u", "git reflog expire --all",
        "git reflog delete x", "git worktree add x", "git worktree prune", "git grep -Oless x", "git grep -O x",
        "git grep --open-files-in-pager=./p x", "git bisect start", "git notes add -m x",
        "git symbolic-ref HEAD refs/heads/x", "git help log", "git submodule status", "git ls-remote",
        "git cat-file --textconv HEAD:a", "git cat-file --filters HEAD:a", "git blame --contents /etc/passwd a.txt",
        "git lg", "git x", "git $X", "git log $X", "git diff *", "git log -- ~/x", "git blame ../x", "git",
        "git archive HEAD", "git gc", "git clean -n", "GIT_PAGER=./x git log", "GIT_DIR=/o git status",
        "GIT_EXTERNAL_DIFF=./x git diff", "GIT_CONFIG_COUNT=1 git log", "PAGER=./x git -p log",
    ),
    "places elsewhere": (
        "cat /etc/passwd", "cat ../x", "cat ~/x", "cat ~other/x", "cat out/x", "cat dangling", "cat ou*/x",
        "cat */../../x", "ls /", "ls ..", "ls ~", "head -c 9 /etc/passwd", "cat < /etc/passwd", "cat < ../x",
        "cd /etc", "cd ..", "cd", "cd -", "cd ~", "cd .. && ls", "cd /etc; cat passwd", "cd $X && ls",
        "cd out && ls", "wc -l /etc/*", "diff a.txt /etc/passwd", "stat /etc/passwd", "file -m ../x a.txt",
        "file -f /etc/passwd", "du -L .", "du -X /etc/passwd .", "tree -l", "date -f /etc/passwd",
        "date -r /etc/passwd", "cat /proc/self/root/etc/passwd", "cat /proc/self/environ", "cat src/../../x",
        "cat ../ws-evil/x", "ls ../ws-evil", "wc --files0-from=/etc/passwd", "wc --files0-from=a.txt",
        "sort --files0-from=a.txt", "du --files0=a.txt", "od -w /etc/passwd", "fd -g x /etc", "yq -N . /etc/passwd",
        "sort -c /etc/passwd", "nl -p /etc/passwd", "cut -s /etc/passwd", "xxd -e /etc/passwd",
        "uniq -i /etc/passwd", "rg -o x /etc", "grep -o x /etc/passwd", "head -q /etc/passwd",
        "awk -F: 1 /etc/passwd", "jq -r . /etc/passwd", "sed -n p /etc/passwd", "diff -u a.txt /etc/passwd",
        "column -t /etc/passwd", "strings -a /etc/passwd", "base64 -d /etc/passwd", "tail -f /etc/passwd",
        "stat -f /etc/passwd", "tree -a /etc", "ls -1 /etc", "du -s /etc", "join -i a.txt /etc/passwd",
        "paste -s /etc/passwd", "cmp -s a.txt /etc/passwd", "hexdump -C /etc/passwd", "tac -b /etc/passwd",
        "fold -s /etc/passwd", "md5sum -b /etc/passwd", "wc -l < /etc/passwd", "grep -c x a.txt ../x",
        "rg -l x ../x", "find src ../x", "cat $X", 'cat "$X"', "cat $(ls)", "ls -d $X", "HOME=/etc; cat ~/passwd",
        "(cd ..; ls)", "cd src && cat ../../x", "tail -f /var/log/x", "echo ~/.ssh/*", "echo /etc/*",
        "diff -r . ../x",
    ),
    "variables": (
        "PATH=. ls", "PATH=.; ls", "LD_PRELOAD=./x ls", "X=1 ls", "x=1 ls", "BASH_ENV=x ls", "IFS=x; ls",
        "export PATH=.; ls", "declare X=1; ls", "X=1", "for PATH in .; do ls; done", "LESSOPEN=x ls",
        "TMPDIR=/x sort a.txt", "RIPGREP_CONFIG_PATH=x rg y",
    ),
    "lines that cannot be read": ("ls \"", "ls $(", "eval \"$X\"; ls", "ls )", "bash -c \"$X\" | cat"),
}  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a link out, and a place beside it."""
    home = tmp_path_factory.mktemp("home")
    root = home / "ws"
    (root / "src").mkdir(parents=True)
    (home / "ws-evil").mkdir()
    (home / "x").write_text("secret\n")
    (root / "a.txt").write_text("b 1\na 2\n")
    (root / "d.json").write_text('{"a": {"b": 1}}')
    (root / "d.yml").write_text("a: 1\n")
    (root / "src" / "k.py").write_text("x = 1\n")
    (root / "out").symlink_to(home)
    (root / "dangling").symlink_to(home / "not-there")
    (root / "in").symlink_to("src")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "GIT_CONFIG_GLOBAL": "/dev/null"}
    for command in (
        "git init -q -b main && git add a.txt src",
        "git -c user.name=x -c user.email=x@example.org commit -qm one",
    ):
        subprocess.run(["bash", "-c", command], cwd=root, env=environment, check=True, timeout=60)
    return root


@pytest.fixture(scope="module")
def bench(project: Path) -> Bench:
    return Bench(project, home=project.parent, read_only_commands=True)


@pytest.mark.parametrize("command", RUN)
def test_what_only_reads_runs_unasked(command: str, bench: Bench) -> None:
    found = bench.explain("Bash", command=command)
    assert (found.outcome, found.stage, found.reason) == ("allow", "read-only", "it only reads"), found.message


@pytest.mark.parametrize(("why", "command"), [(why, one) for why, commands in ASKED.items() for one in commands])
def test_everything_else_is_asked(why: str, command: str, bench: Bench) -> None:
    assert bench.bash(command) == "ask", why


def _snapshot(root: Path) -> dict[str, bytes | str]:
    kept = [path for path in root.rglob("*") if ".git" not in path.relative_to(root).parts]
    return {
        str(path): str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        for path in kept
    }


def test_what_runs_unasked_changes_nothing(project: Path) -> None:
    before = _snapshot(project.parent)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(project.parent), "GIT_PAGER": "cat"}
    for command in RUN:
        subprocess.run(
            ["bash", "-c", command],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert _snapshot(project.parent) == before


def test_it_is_off_unless_the_host_turns_it_on(project: Path) -> None:
    assert Bench(project).bash("ls") == "ask"
    assert Bench(project, mode="plan").bash("ls") == "deny"


def test_it_also_runs_in_plan_and_nothing_else_does(project: Path) -> None:
    bench = Bench(project, mode="plan", allow=["Bash(npm test)"], read_only_commands=True)
    for command in ("ls", "git status", "cat a.txt | sort", "Bash"):
        expected = "deny" if command == "Bash" else "allow"
        assert bench.bash(command) == expected, command
    for command in ("npm test", "ls && npm test", "ls > x", "git push", "cat /etc/passwd", "ls $X"):
        assert bench.bash(command) == "deny", command
    assert bench.outcome("Write", file_path="a", content="") == "deny"


def test_rules_stay_above_it(project: Path) -> None:
    bench = Bench(project, deny=["Bash(git log:*)", "Read(src/**)"], ask=["Bash(ls:*)"], read_only_commands=True)
    assert bench.bash("git log") == "deny"
    assert bench.bash("cat src/k.py") == "deny"
    assert bench.bash("ls") == "ask"
    assert bench.bash("git status") == "allow"
    assert bench.bash("grep -r x .") == "ask"


def test_it_completes_what_rules_allow(project: Path) -> None:
    bench = Bench(project, allow=["Bash(npm test:*)", "Edit(log)"], read_only_commands=True)
    for command in (
        "npm test | tail -20",
        "cd src && npm test",
        "ls; npm test 2>&1 | grep x",
        "npm test > log",
        "ls > log",
    ):
        found = bench.explain("Bash", command=command)
        assert (found.outcome, found.stage) == ("allow", "allow"), command
    assert bench.explain("Bash", command="npm test | tail -20").rule == "Bash(npm test:*)"
    for command in ("npm test | tee x", "npm test < /etc/passwd | cat", "ls > x", "cd / && npm test"):
        assert bench.bash(command) == "ask", command


def test_a_folder_that_only_looks_like_a_repository_is_none(tmp_path: Path) -> None:
    (tmp_path / "ws" / "sub").mkdir(parents=True)
    bench = Bench(tmp_path / "ws", read_only_commands=True)
    assert bench.bash("git status") == "allow"
    for name in ("objects", "refs"):
        (tmp_path / "ws" / "sub" / name).mkdir()
    (tmp_path / "ws" / "sub" / "HEAD").write_text("ref: refs/heads/x\n")
    assert bench.bash("cd sub && git status") == "ask"
    assert bench.bash("git -C sub status") == "ask"
    assert bench.bash("git status") == "allow"


def test_a_repository_inside_the_project_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub" / "deeper").mkdir(parents=True)
    bench = Bench(tmp_path, read_only_commands=True)
    assert bench.bash("cd sub/deeper && git status") == "allow"
    (tmp_path / "sub" / ".git").mkdir()
    for command in ("cd sub/deeper && git status", "git -C sub status", "cd sub; git log"):
        assert bench.bash(command) == "ask", command
    assert bench.bash("git status") == "allow"


def test_an_unknown_directory_is_not_inside(project: Path) -> None:
    bench = Bench(project, shell_directory=lambda: None, read_only_commands=True)
    assert bench.bash("ls") == "ask"
    assert bench.bash("cat a.txt") == "ask"
    assert bench.bash("echo x") == "allow"
    outside = Bench(project, shell_directory=lambda: "/", read_only_commands=True)
    assert outside.bash("ls") == "ask"


AWK_PIECES = ["print ", '"x"', "/x/", "|", ">", "a", "(", ")", "{", "}", ";", "1", "/", "$", '"', "\\"]


@settings(max_examples=300, deadline=None)
@given(st.text("/w[]\\;{}sape0,$!x\n '&", max_size=14))
def test_a_sed_script_that_passes_writes_nothing(script: str) -> None:
    if sed_only_prints(script):
        ran = subprocess.run(
            ["sed", "--sandbox", script], input=b"a/b\nw\n", capture_output=True, timeout=20, check=False
        )
        assert b"e/r/w commands disabled" not in ran.stderr


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(
        st.sampled_from(["print ", '"x"', "/x/", "|", ">", "a", "(", ")", "{", "}", ";", "1", "/", "$", '"', "\\"])
    )
)
def test_an_awk_program_that_passes_prints_to_nothing_but_its_output(
    parts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    program = "".join(parts)
    if awk_only_prints(program):
        place = tmp_path_factory.mktemp("awk")
        (place / "bin").mkdir()
        (place / "bin" / "x").write_text("#!/bin/sh\n: > ran\n")
        (place / "bin" / "x").chmod(0o755)
        subprocess.run(
            ["awk", program], input=b"x 1\n", cwd=place, env={"PATH": f"{place}/bin:/usr/bin:/bin"}, timeout=20,
            capture_output=True, check=False,
        )  # fmt: skip
        assert [path.name for path in place.iterdir()] == ["bin"]
