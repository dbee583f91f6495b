"""Programs that run other programs: the inner command is listed too, or the view is not complete."""

import pytest

from agentframework.permissions.shell import SimpleCommand, parse_command_line
from agentframework.permissions.shell.wrappers import WRAPPERS


def inner(line: str) -> list[tuple[str, tuple[str, ...]]]:
    """What the wrappers on a line lead to: each command's known words, and the wrappers."""
    return [
        (" ".join("?" if word.value is None else word.value for word in command.argv), command.via)
        for command in parse_command_line(line, cwd="/w").commands
        if command.via
    ]


@pytest.mark.parametrize(
    ("line", "via"),
    [
        ("timeout 5 git add .", "timeout"),
        ("timeout -s KILL --kill-after=3 5 git add .", "timeout"),
        ("nice -n 5 git add .", "nice"),
        ("nice -5 git add .", "nice"),
        ("nohup git add . &", "nohup"),
        ("stdbuf -oL git add .", "stdbuf"),
        ("setsid -w git add .", "setsid"),
        ("ionice -c 3 git add .", "ionice"),
        ("chrt -f 10 git add .", "chrt"),
        ("taskset -c 0,1 git add .", "taskset"),
        ("env git add .", "env"),
        ("env -i A=1 B=2 git add .", "env"),
        ("env -u X -S 'git add .'", "env"),
        ("env -S 'A=1 git' add .", "env"),
        ("env - A=1 git add .", "env"),
        ("command git add .", "command"),
        ("command -p git add .", "command"),
        ("builtin git add .", "builtin"),
        ("exec -a x git add .", "exec"),
        ("sudo git add .", "sudo"),
        ("sudo -u me -E A=1 git add .", "sudo"),
        ("sudo --user=me -- git add .", "sudo"),
        ("sudo A=1 -u me B=2 -E git add .", "sudo"),
        ("doas -u me git add .", "doas"),
        ("/usr/bin/time -v -o log git add .", "time"),
        ("eval 'git add .'", "eval"),
        ("eval git add .", "eval"),
        ("bash -c 'git add .'", "bash"),
        ("sh -lc 'git add .'", "sh"),
        ("zsh -c 'git add .'", "zsh"),
        ("dash -ec 'git add .'", "dash"),
        ("ksh -o errexit -c 'git add .'", "ksh"),
        ("/bin/bash -euo pipefail -c 'git add .' name arg", "bash"),
        ("bash <<'E'\ngit add .\nE", "bash"),
        ("bash -s <<< 'git add .'", "bash"),
        ("ssh -p 22 me@host git add .", "ssh"),
        ("ssh host -t 'git add .'", "ssh"),
        ("docker exec -it -u root web git add .", "docker"),
        ("docker run --rm -e A=1 -v /a:/b image git add .", "docker"),
        ("docker run --entrypoint git image add .", "docker"),
        ("docker --context x container exec web git add .", "docker"),
        ("docker compose -f x.yml run --rm web git add .", "docker"),
        ("podman exec web git add .", "podman"),
        ("watch -n 2 git add .", "watch"),
        ("watch -x git add .", "watch"),
        ("flock /tmp/lock git add .", "flock"),
        ("flock -w 5 /tmp/lock -c 'git add .'", "flock"),
        ("unshare -r --mount git add .", "unshare"),
        ("chroot --userspec=a /root git add .", "chroot"),
        ("su me -c 'git add .'", "su"),
        ("su - -c 'git add .'", "su"),
        ("runuser -u me -- git add .", "runuser"),
        ("busybox git add .", "busybox"),
        ("trap 'git add .' EXIT", "trap"),
        ("jobs -x git add .", "jobs"),
        ("bash -c 'X=git; $X add .'", "bash"),
    ],
)
def test_the_inner_command_is_found(line: str, via: str) -> None:
    assert inner(line) == [("git add .", (via,))]
    assert parse_command_line(line).complete


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("printf x | xargs git add", "git add ?"),
        ("xargs -0 -n 1 -a list git add", "git add ?"),
        ("xargs -I{} git add {} -n", "git add ? -n"),
        ("find . -exec git add {} +", "git add ?"),
        ("find . -name x -okdir git add {} ;", "git add ?"),
        ("parallel -j 4 git add {} ::: a b", "git add ? ?"),
    ],
)
def test_arguments_that_are_not_on_the_line_are_unknown_words(line: str, expected: str) -> None:
    assert [words for words, _ in inner(line.replace(" ;", " \\;"))] == [expected]


def test_wrappers_in_wrappers_are_followed() -> None:
    assert inner("sudo env A=1 timeout 5 bash -c 'nice git add . && eval \"rm f\"'") == [
        ('env A=1 timeout 5 bash -c nice git add . && eval "rm f"', ("sudo",)),
        ('timeout 5 bash -c nice git add . && eval "rm f"', ("sudo", "env")),
        ('bash -c nice git add . && eval "rm f"', ("sudo", "env", "timeout")),
        ("nice git add .", ("sudo", "env", "timeout", "bash")),
        ("git add .", ("sudo", "env", "timeout", "bash", "nice")),
        ("eval rm f", ("sudo", "env", "timeout", "bash")),
        ("rm f", ("sudo", "env", "timeout", "bash", "eval")),
    ]


def test_the_wrapper_itself_stays_listed_first() -> None:
    assert [command.name for command in parse_command_line("sudo rm f").commands] == ["sudo", "rm"]


def test_variables_given_by_a_wrapper_belong_to_the_inner_command() -> None:
    command: SimpleCommand = parse_command_line("env A=1 aws x").commands[1]
    assert [(item.name, item.value.value) for item in command.assignments] == [("A", "1")]


@pytest.mark.parametrize(
    "line",
    [
        'bash -c "$X"', 'eval "$X"', "eval $(cat f)", "curl x | sh", "bash < f", "bash -i", "sudo -s", "su me",
        'bash "$X"', "bash <(curl x)", ". <(curl x)", 'source "$X"', "ssh host", 'ssh host "$X"', "unshare -r",
        'timeout $T rm f', 'sudo "$@"', "xargs sh -c", "xargs env", "xargs -I{} sh -c 'rm {}'", 'find . $X rm {} \\;',
        'env -S "$X"', "env -S 'a \\x'", "sudo --new-option rm f", "docker run --new-option x image rm f",
        "ssh -o ProxyCommand='rm f' host ls", "parallel ::: 'rm a' 'rm b'", "fish -c 'rm f'", "zsh -c '=rm f'",
        "zsh -c 'noglob rm f'", "sh -c \"alias l=rm\nl f\"", 'jobs "$(a)"',
        "sh -c '[[ a && rm ]]'", 'trap "$X" EXIT', "cat f | xargs -I% %", "bash <<E\n$X\nE", "flock x -c \"$X\"",
        "bash -O extglob -c 'rm f'", "shopt -s expand_aliases", "hash -p /bin/rm ls", "enable -f ./x y",
        "BASH_ENV=x bash y", "env 'BASH_FUNC_ls%%=() { rm f; }' bash -c ls", "ls() { rm f; }; cd() { ls; }; cd",
    ],
)  # fmt: skip
def test_what_the_text_does_not_tell_is_marked(line: str) -> None:
    assert parse_command_line(line).unresolved


@pytest.mark.parametrize(
    "line",
    ["command -v rm", "sudo -l", "sudo -v", "env", "nice --version", "ionice -p 1", "taskset -p 1", "xargs", "find .",
     "docker ps -a", "docker run image", "bash script.sh rm f", "trap - EXIT", "trap", "exec 3>f", "ssh -O exit host",
     "bash --version", "command", "busybox --list"],
)  # fmt: skip
def test_a_wrapper_that_runs_nothing_adds_nothing(line: str) -> None:
    assert inner(line) == []
    assert parse_command_line(line).complete


def test_an_unknown_program_is_not_taken_for_a_wrapper() -> None:
    assert inner("./mywrap git add .") == []


@pytest.mark.parametrize("name", sorted(WRAPPERS))
def test_no_wrapper_lists_an_option_twice(name: str) -> None:
    wrapper = WRAPPERS[name]
    letters = wrapper.flags + wrapper.operands + wrapper.attached
    assert len(set(letters)) == len(letters)
    assert not set(wrapper.long_flags) & set(wrapper.long_operands)
    assert not {option for option in wrapper.ends if option in wrapper.long_flags + wrapper.long_operands}
