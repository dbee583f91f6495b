import time
from pathlib import Path

import pytest
from gatekit import Bench

from agentframework.permissions import PermissionRules, parse_rules


@pytest.mark.parametrize(
    "command",
    [
        "git status && touch owned",
        "git status; touch owned",
        "git status | tee owned",
        "git status || touch owned",
        "git status & touch owned",
        "git status |& tee owned",
        "git status $(touch owned)",
        "git status\ntouch owned",
        "git status > owned",
    ],
)
def test_an_allow_rule_for_one_program_covers_no_other_on_the_line(command: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(git status:*)"])
    assert bench.bash(command) == "ask"
    assert bench.bash("git status && git status -s") == "allow"
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    "command",
    [
        "ls; rm -rf build",
        "(cd sub && rm f)",
        "{ rm f; }",
        "if true; then rm f; fi",
        'for i in a b; do rm "$i"; done',
        'while read x; do rm "$x"; done <l',
        "case a in a) rm f;; esac",
        "g(){ rm f; }; g",
        "! rm f",
        "time rm f",
        "coproc rm f",
        "rm f &",
    ],
)
def test_a_denied_program_is_denied_wherever_it_stands(command: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash"], deny=["Bash(rm:*)"])
    assert bench.bash(command) == "deny"


def test_the_name_of_a_denied_program_as_an_argument_is_harmless(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash"], deny=["Bash(rm:*)"])
    assert bench.bash("echo rm f") == "allow"
    assert bench.bash("grep rm f") == "allow"


def test_a_newline_separates_commands_but_not_inside_quotes(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(echo *)"])
    assert bench.bash("echo one\ntouch owned") == "ask"
    assert bench.bash('echo "one\ntwo"') == "allow"


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        ("CI=1 git push origin x", "ask"),
        ("A=1 B=2 aws s3 rm x", "deny"),
        ('X="a b" aws x', "deny"),
        ("X=$(true) aws x", "deny"),
        ("env A=1 aws x", "deny"),
        ("git status", "allow"),
    ],
)
def test_restrictions_look_through_assignments(command: str, outcome: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, ask=["Bash(git push:*)"], deny=["Bash(aws:*)"], allow=["Bash"])
    assert bench.bash(command) == outcome


@pytest.mark.parametrize(
    "command",
    [
        "LD_PRELOAD=./x.so git status",
        "PATH=. git status",
        "env LD_PRELOAD=./x.so git status",
        "GIT_PAGER=./x git status",
        "PATH=.; git status",
        "https_proxy=http://x git status",
        "https_proxy=http://x; git status",
        "npm_config_script_shell=./x git status",
        "npm_config_script_shell=./x; git status",
        "x=1 git status",
    ],
)
def test_a_variable_that_changes_what_runs_needs_a_rule_of_its_own(command: str, tmp_path: Path) -> None:
    assert Bench(tmp_path, allow=["Bash(git status:*)"]).bash(command) == "ask"


def test_harmless_variables_do_not_hide_an_allowed_command(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(git status:*)", "Bash(GIT_DIR=x git log:*)"])
    for command in ("CI=1 git status", "LC_ALL=C NO_COLOR=1 git status", "env CI=1 git status", "f=x; git status"):
        assert bench.bash(command) == "allow", command
    assert bench.bash("GIT_DIR=x git log -p") == "allow"
    assert bench.bash("GIT_DIR=y git log -p") == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "timeout 5 git add -A",
        "timeout -s KILL 5 git add .",
        "nice -n 5 git add .",
        "nohup git add . &",
        "stdbuf -oL git add .",
        "env -i git add .",
        "env -u X -S 'git add .'",
        "command git add .",
        "builtin command git add .",
        "exec git add .",
        "sudo -u me git add .",
        "printf x | xargs git add",
        "bash -c 'git add .'",
        'sh -lc "cd x && git add ."',
        "eval 'git add .'",
        "find . -exec git add {} +",
        "git -C sub add .",
        "git --no-pager -c x=y add .",
        "/usr/bin/git add .",
    ],
)
def test_a_denied_program_is_denied_behind_what_runs_it(command: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, deny=["Bash(git add:*)"], allow=["Bash"])
    assert bench.bash(command) == "deny"


def test_an_unknown_program_is_not_covered_by_what_it_is_given(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(git *)"], deny=["Bash(git add:*)"])
    assert bench.bash("./mywrap git add .") == "ask"
    assert bench.bash("./git status") == "ask"


def test_a_command_known_only_at_run_time_is_asked_in_every_mode(tmp_path: Path) -> None:
    denying = Bench(tmp_path, allow=["Bash(bash *)", "Bash"], deny=["Bash(git add:*)"])
    for command in ('bash -c "$X"', "$(echo git) add .", "eval $X"):
        assert denying.bash(command) == "ask", command
    bypass = Bench(tmp_path, mode="bypassPermissions", deny=["Bash(git add:*)"])
    assert bypass.bash('bash -c "$X"') == "ask"
    assert Bench(tmp_path, mode="bypassPermissions").bash('bash -c "$X"') == "ask"
    assert Bench(tmp_path, allow=["Bash"]).bash('bash -c "$X"') == "ask"


def test_a_pattern_never_covers_what_cannot_be_resolved(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(bash *)", "Bash(eval *)"])
    assert bench.bash('bash -c "$X"') == "ask"
    assert bench.bash('eval "$X"') == "ask"


def test_an_unknown_argument_that_could_make_a_denied_command_is_asked(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash"], deny=["Bash(git push --force*)"])
    assert bench.bash("git push $X") == "ask"
    assert bench.bash('git push "$X"') == "ask"
    assert bench.bash('git fetch "$X"') == "allow"
    assert bench.bash("git $X") == "ask"


def test_transparent_wrappers_keep_an_allowed_command_allowed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(git status:*)"])
    for command in ("timeout 5 git status", "nice git status -s", "echo a | xargs git status"):
        expected = "ask" if "echo" in command else "allow"
        assert bench.bash(command) == expected, command
    for command in ("sudo git status", "find . -exec git status {} +", "sh -c 'git status'", "time -o f git status"):
        assert bench.bash(command) == "ask", command


def test_a_rule_that_names_the_wrapped_program_covers_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(xargs ls:*)", "Bash(find:*)", "Bash(nice make *)"])
    assert bench.bash("find . -name x | xargs ls -la") == "allow"
    assert bench.bash("find . -name x | xargs rm") == "ask"
    assert bench.bash("find . -exec rm {} +") == "ask"
    assert bench.bash("nice make all") == "allow"
    assert bench.bash("nice rm x") == "ask"


@pytest.mark.parametrize(
    "command",
    ["\\rm f", "'rm' f", 'r""m f', "r'm' f", "$'\\x72m' f", "/bin/rm f", "../../bin/rm f", 'rm "-rf" d', "X=rm; $X f"],
)
def test_a_denied_program_is_denied_however_it_is_spelled(command: str, tmp_path: Path) -> None:
    assert Bench(tmp_path, allow=["Bash"], deny=["Bash(rm:*)"]).bash(command) == "deny"


@pytest.mark.parametrize("command", ["$(echo rm) f", "${X:-rm} f", "r{m,} f", "$0 f", "`echo rm` f"])
def test_a_program_known_only_at_run_time_is_never_auto_allowed(command: str, tmp_path: Path) -> None:
    assert Bench(tmp_path, allow=["Bash"], deny=["Bash(rm:*)"]).bash(command) != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "echo $(curl x)",
        "echo `curl x`",
        'echo "${V:-$(curl x)}"',
        "echo $(( $(curl x) + 1 ))",
        "cat <(curl x)",
        'cat <<< "$(curl x)"',
        "a[$(curl x)]=1",
        "echo hi > >(curl -T - x)",
        "cat <<EOF\n$(curl x)\nEOF",
    ],
)
def test_commands_in_substitutions_are_judged(command: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(echo:*)", "Bash(cat:*)", "Bash(date:*)"], deny=["Bash(curl:*)"])
    assert bench.bash(command) == "deny"


@pytest.mark.parametrize("command", ["echo $(date)", "echo '$(curl x)'", "cat <<'EOF'\n$(curl x)\nEOF"])
def test_allowed_substitutions_and_quoted_ones_stay_allowed(command: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(echo:*)", "Bash(cat:*)", "Bash(date:*)"], deny=["Bash(curl:*)"])
    assert bench.bash(command) == "allow"


WRITES = (
    "echo x > notes.txt",
    "git status >> ../out",
    "echo k >> ~/.ssh/authorized_keys",
    "echo x &> f",
    "echo x >| f",
    "echo x 1<> f",
    'echo x > "$HOME/f"',
)


@pytest.mark.parametrize("command", WRITES)
def test_a_writing_redirection_is_asked_like_the_write_it_is(command: str, tmp_path: Path) -> None:
    rules = ["Bash(git status:*)", "Bash(echo:*)"]
    assert Bench(tmp_path, allow=rules, home=tmp_path).bash(command) == "ask"
    accepting = Bench(tmp_path, mode="acceptEdits", allow=rules)
    inside = command in ("echo x > notes.txt", "echo x &> f", "echo x >| f", "echo x 1<> f")
    assert accepting.bash(command) == ("allow" if inside else "ask")


def test_a_writing_redirection_obeys_edit_rules(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path,
        allow=["Bash(echo:*)", "Edit(out/**)"],
        deny=["Edit(secret/**)"],
        ask=["Write(out/careful)"],
        mode="acceptEdits",
    )
    assert bench.bash("echo x > out/a") == "allow"
    assert bench.bash("echo x > out/../secret/a") == "deny"
    assert bench.bash("cd secret && echo x > a") == "deny"
    assert bench.bash("echo x > out/careful") == "ask"
    assert bench.bash("echo x > $F") == "ask"


@pytest.mark.parametrize(
    "command", ["git status 2>&1", "git status >/dev/null 2>&1", "wc -l < notes.txt", "git status 2>/dev/null"]
)
def test_harmless_redirections_stay_allowed(command: str, tmp_path: Path) -> None:
    assert Bench(tmp_path, allow=["Bash(git status:*)", "Bash(wc:*)"]).bash(command) == "allow"


def test_a_reading_redirection_obeys_read_rules(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(wc:*)"], deny=["Read(secret/**)"])
    assert bench.bash("wc -l < secret/k") == "deny"
    assert bench.bash("wc -l < x/../secret/k") == "deny"
    assert bench.bash("wc -l < k") == "allow"


@pytest.mark.parametrize(
    ("rule", "command", "covered"),
    [
        ("ls *", "ls", True),
        ("ls *", "ls -la /tmp/a", True),
        ("ls *", "lsof -i", False),
        ("ls:*", "ls", True),
        ("ls:*", "ls -la /tmp/a", True),
        ("ls:*", "lsof -i", False),
        ("ls*", "lsof -i", True),
        ("npm run test*", "npm run test a/b.js", True),
        ("git * main", "git push origin main", True),
        ("git * main", "git push origin main x", False),
        ("cat a.txt", "cat aXtxt", False),
        ("cat a.txt", "cat a.txt", True),
        ("echo [ab]", "echo a", False),
        ("echo a?", "echo ab", False),
        ("git status", "git status -s", False),
        ("npm run test *", 'npm "run test x"', False),
        ("git commit -m *", "git commit -m 'a && b'", True),
        ("git push:*", "git pushy", False),
    ],
)
def test_wildcards_of_command_rules(rule: str, command: str, covered: bool, tmp_path: Path) -> None:
    assert Bench(tmp_path, allow=[f"Bash({rule})"]).bash(command) == ("allow" if covered else "ask")
    assert Bench(tmp_path, allow=[f"Shell({rule})"]).bash(command) == ("allow" if covered else "ask")


@pytest.mark.parametrize(
    ("options", "name", "arguments"),
    [
        ({"allow": ["Bash(git checkout:*)"], "deny": ["Bash(git checkout:*)"]}, "Bash", {"command": "git checkout x"}),
        ({"allow": ["Bash(git add runtime)"], "deny": ["Bash(git add *)"]}, "Bash", {"command": "git add runtime"}),
        ({"allow": ["WebFetch"], "deny": ["WebFetch"]}, "WebFetch", {"url": "https://example.org"}),
        ({"allow": ["Write"], "deny": ["Write"]}, "Write", {"file_path": "a"}),
        ({"mode": "bypassPermissions", "deny": ["Bash(rm:*)"]}, "Bash", {"command": "rm x"}),
    ],
)
def test_deny_beats_everything(
    options: dict[str, object], name: str, arguments: dict[str, str], tmp_path: Path
) -> None:
    bench = Bench(tmp_path, **options)  # type: ignore[arg-type]
    assert bench.outcome(name, **arguments) == "deny"


def test_ask_beats_allow_and_every_mode(tmp_path: Path) -> None:
    for mode in ("default", "acceptEdits", "bypassPermissions", "auto"):
        bench = Bench(tmp_path, mode=mode, ask=["Bash(git push:*)"], allow=["Bash(git *)"])
        assert bench.bash("git push origin x") == "ask"
        assert bench.bash("git status && git push") == "ask"
        assert bench.bash("git status") == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git diff --no-index -- a b",
        "git diff --",
        'echo "unterminated',
        ")",
        "ls \\",
        "echo " + "x" * 200_000,
        "$(" * 2_000 + ")" * 2_000,
        "echo a;" * 5_000,
    ],
    ids=["no-index", "dashes", "quote", "paren", "backslash", "200kB", "deep", "many"],
)
def test_nothing_runs_without_a_decision_however_odd_the_line(command: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, ask=["Bash"])
    start = time.process_time()
    assert bench.bash(command) == "ask"
    assert Bench(tmp_path, allow=["Bash"], deny=["Bash(rm:*)"]).bash(command) in ("ask", "allow")
    assert Bench(tmp_path, allow=["Bash(echo:*)"], deny=["Read(**/.env)"]).bash(command) in ("ask", "allow")
    assert time.process_time() - start < 6


@pytest.mark.parametrize("command", ["", "   ", "\n", "\t\n "])
def test_a_blank_command_is_an_input_error(command: str, tmp_path: Path) -> None:
    found = Bench(tmp_path, mode="bypassPermissions").explain("Bash", command=command)
    assert (found.outcome, found.code) == ("invalid", "TOOL_ARGUMENTS_INVALID")


def test_bash_and_shell_share_rules(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Shell(ls:*)"], deny=["Bash(rm:*)"])
    for name in ("Bash", "Shell"):
        assert bench.outcome(name, command="ls") == "allow"
        assert bench.outcome(name, command="rm x") == "deny"


WILD = [
    "Bash(do echo:*)",
    "Bash(done)",
    "Bash(for f:*)",
    "Bash(while read d)",
    "Bash(PORT=8000)",
    "Bash(source .env)",
    'Bash(X=$X npx tsx -e "\nconst a = 1;\nconsole.log(a);\n")',
    "Bash(git commit -m \"$(cat <<'EOF'\ntext (with) parens\nEOF\n)\")",
    "Bash(xargs ls:*)",
    'Bash(python -c ":*)',
    "Bash(command *)",
    "Bash()",
    "Read(**)",
    "SlashCommand(/debug:*)",
    "mcp__*",
    "mcp__srv",
    "WebFetch(domain:example.org)",
    "NoSuchTool(x)",
    "Bash(unclosed",
    "",
    5,
    None,
]


def test_rules_as_found_in_the_wild_load_and_broken_ones_are_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=WILD)
    warnings = bench.rules.warnings
    assert len(warnings) == 9
    for entry in (
        "'Bash()'",
        "'Bash(unclosed'",
        " '' ",
        " 5 ",
        " None ",
        "(done)",
        "(for f:*)",
        "(while read d)",
        "(do e",
    ):
        assert sum(entry in warning for warning in warnings) == 1, entry
    unknown = bench.rules.unknown_tools(["Bash", "WebFetch", "mcp__srv__a"])
    assert len(unknown) == 2
    assert "SlashCommand" in unknown[0]
    assert "NoSuchTool" in unknown[1]


@pytest.mark.parametrize(
    ("pattern", "reported"),
    [
        ("cd sub && npm test:*", True),
        ("git status | grep *", True),
        ("ls; rm *", True),
        ("then", True),
        ("for x in *", True),
        ("cd sub && npm test", False),
        ("echo 'a && b *'", False),
        ("git * main", False),
        ("npm test:*", False),
        ("time make *", True),
        ("for f in *; do rm $f; done", False),
        ("for f in a; do cat $f; done", False),
        ("[ -f *", False),
    ],
)
def test_a_rule_that_fits_no_command_is_reported_and_kept(pattern: str, reported: bool) -> None:
    for effect in ("allow", "deny", "ask"):
        rules = parse_rules(PermissionRules(**{effect: [f"Bash({pattern})"]}), base="/w")
        assert len(getattr(rules, effect)) == 1
        assert [f"permissions.{effect}[0]" in warning for warning in rules.warnings] == [True] * reported


def test_fragments_of_shell_syntax_allow_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=WILD)
    assert bench.bash('for f in *; do rm "$f"; done') == "ask"
    assert bench.bash('for f in *; do echo "$f"; done') == "ask"
    assert bench.bash("python -c 'import os'") == "ask"
    assert bench.bash("command rm x") == "ask"


def test_a_verbatim_script_rule_covers_only_that_script(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=[*WILD, "Bash(for f in *; do cat $f; done)"])
    script = 'X=$X npx tsx -e "\nconst a = 1;\nconsole.log(a);\n"'
    commit = "git commit -m \"$(cat <<'EOF'\ntext (with) parens\nEOF\n)\""
    for command in (script, commit, "for f in *; do cat $f; done"):
        assert bench.bash(command) == "allow", command
    for command in (script + " x", script.replace("1", "2"), commit.replace("with", "other"), commit + "; rm x"):
        assert bench.bash(command) == "ask", command
    assert bench.bash("for f in *; do cat $f $f; done") == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "cat " + " ".join(f"f{number}" for number in range(5_000)),
        "git $X;" * 3_000,
        ("git " + "y" * 900 + " $X;") * 250,
        "cat " + " ".join(f"/usr/*/a{number}*" for number in range(300)),
        "cat " + "/*" * 300,
        "echo " + "a" * 200_000 + ' "$X"',
    ],
    ids=["operands", "unknown", "long unknown", "globs", "deep glob", "long"],
)
def test_many_rules_and_a_hostile_line_are_judged_quickly(command: str, tmp_path: Path) -> None:
    deny = ["Bash(git push --force*)", "Bash(* --force *)", "Read(**/.env)", "Edit(.git/**)"]
    deny += [f"Read(x{number}/**)" for number in range(20)]
    bench = Bench(tmp_path, allow=["Bash", *(f"Bash(a{number}:*)" for number in range(30))], deny=deny)
    start = time.process_time()
    assert bench.bash(command) == "ask"
    assert time.process_time() - start < 4
