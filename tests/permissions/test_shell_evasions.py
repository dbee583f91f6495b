"""Lines that hide a command, or look as if they did, compared with what bash really runs.

Every line goes to bash in a scratch folder where `a1`, `b2` and `c3` are the only programs besides a few wrappers.
A view that claims to be complete has to list what was started, with its arguments and directory, and every
file that was written. A newline within a line is written as `⏎`.
"""

from pathlib import Path

import pytest
from shellkit import Machine, entries

from agentframework.permissions.shell import parse_command_line

EVALUATED = r"""
x='b[$(a1)]'; echo $((x))
x='b[$(a1)]'; y=x; echo $((y+1))
n=$(echo 'b[$(a1)]'); echo $((n))
echo $(( $(echo 'b[$(a1)]') ))
read n <<< 'b[$(a1)]'; (( n ))
printf -v n %s 'b[$(a1)]'; [[ n -eq 0 ]]
x='b[$(a1)]'; z=abc; echo "${z:x}"
x='b[$(a1)]'; z=(1 2); echo "${z[x]}"
x='b[$(a1)]'; z[x]=1
x='b[$(a1)]'; echo ${!x}
x='$(a1)'; echo "${x@P}"
test -v 'b[$(a1)]'
[ -v 'b[$(a1)]' ]
[[ -v 'b[$(a1)]' ]]
[[ 'b[$(a1)]' -eq 0 ]]
let 'b[$(a1)]=1'
b=(1); unset 'b[$(a1)]'
read 'b[$(a1)]' <<< 1
read -a 'b[$(a1)]' <<< 1
printf -v 'b[$(a1)]' x
declare 'b[$(a1)]=1'
declare -n r='b[$(a1)]'; echo $r
declare -i r; r='b[$(a1)]'
typeset -i r='b[$(a1)]'
RANDOM='b[$(a1)]'
for ((i=0; i<1; i+=1+x)); do x='b[$(a1)]'; done
b['$(a1)']=1
wc() { echo 'b[$(a1)]'; }; n=$(wc -l); echo $((n))
n=$(wc -l; echo 'b[$(a1)]'); echo $((n))
for i in 'b[$(a1)]'; do echo $((i)); done
i=0; for i in 1 'b[$(a1)]'; do echo $((i)); done
f() { echo $(($1)); }; f 'b[$(a1)]'
set -- 'b[$(a1)]'; echo $(($1))
declare -a x='($(a1))'
x=(1); declare x='($(a1))'
f(){ local -a x='($(a1))'; }; f
y='($(a1))'; declare -A x="$y"
declare -A x; declare x='([$(a1)]=1)'
y='$(a1)'; x=("$y"); declare -a z="(${x[@]})"
compgen -W '$(a1)'
x='b[$(a1)]'; a=(1); echo ${a[0]:x}
read x <<< '-vb[$(a1)]'; printf "$x" y
read x <<< '-v b[$(a1)] -o q'; [ $x = y ]
read x <<< '-v'; [ "$x" 'b[$(a1)]' ]
read x <<< '-v'; [ ! "$x" 'b[$(a1)]' -a q ]
x='-p b[$(a1)] -n'; true & wait $x
: {b['$(a1)']}>f
exec {b["$(a1)"]}>&1
echo x >& '$(a1)'
{ echo x; } 1>& '`a1`'
x=\$\(a1\); echo x >&"$x"
SRANDOM='b[$(a1)]'; BASHPID='b[$(a1)]'; EPOCHSECONDS='b[$(a1)]'; HISTCMD='b[$(a1)]'
x=b; x+='[$(a1)]'; echo $((x))
set -- 'b[$(a1)]'; echo ${@:$1} ${*:$1:1}
"""

ENVIRONMENT = r"""
set -x; PS4='$(a1)'; :
PS4='$(a1)' bash -xc :
echo a1 > f; BASH_ENV=f bash -c :
echo a1 > f; export BASH_ENV=./f; bash -c :
echo a1 > f; read BASH_ENV <<< ./f; export BASH_ENV; bash -c :
echo a1 > f; for BASH_ENV in ./f; do export BASH_ENV; bash -c :; done
echo a1 > f; printf -v BASH_ENV ./f; export BASH_ENV; bash -c :
echo a1 > f; : "${BASH_ENV:=./f}"; export BASH_ENV; bash -c :
env 'BASH_FUNC_b2%%=() { a1; }' bash -c b2
hash -p "$(type -p a1)" b2; b2
BASH_CMDS[zz]=a1; zz
shopt -s expand_aliases; alias zz=a1⏎zz
POSIXLY_CORRECT=1⏎alias zz=a1⏎zz
sh -c 'alias zz=a1⏎zz'
shopt -s cdable_vars; X=$PWD/d; cd X; a1
shopt -s lastpipe; X=b2; echo a1 | read X; $X
enable -n eval; eval a1
b2() { a1; }; b2
cd() { a1; }; cd x
function if { a1; }; \if
"""

TEXT_AS_CODE = r"""
trap a1 EXIT
trap 'a1' DEBUG; :
trap -- 'a1' EXIT
trap 'X=a1' DEBUG; X=b2; $X
echo a1 | bash
bash <<< a1
bash < <(echo a1)
. <(echo a1)
source /dev/stdin <<< a1
bash /dev/stdin <<< a1
bash <(echo a1)
eval "$(echo a1)"
eval a1
eval -- a1
eval 'X=a1'; $X
eval eval eval a1
eval 'b2 <<E⏎$(a1)⏎E'
eval "b2 \"\$(a1)\""
eval b2 \$\(a1\)
eval 'f() { a1; }'; f
eval "x=1; "$'\n'"a1"
compgen -C a1
mapfile -C a1 -c 1 z <<< x
X=a1 bash -c '$X'
export X=a1; bash -c '$X'
bash -ec a1
bash -c -e a1
bash +e -c a1
bash -eo pipefail -c a1
bash --rcfile f -c a1
bash -c -- a1
bash -c '$0' a1
bash -c '"$@"' _ a1
bash -s <<< a1
bash -s x <<'E'⏎a1 "$1"⏎E
bash -c "bash -c 'bash -c a1'"
sh -c a1
sh -c "$'a\'; a1; '"
sh -c '[[ x && a1 ]]'
sh -c '((a1))'
sh -c 'b2 &> f'
sh -c 'b2 {a1,x}'
"""

WRAPPED = r"""
env -S 'a1 x'
env -S'a1 x'
env -vS 'a1 x'
env --split-string='-i a1 x'
env -S 'X=1 a1' y
env - LOG=/dev/null /bin/true
env X=1 a1
env -- a1
env -uX a1
env --unset=X a1
env -C d a1
env --chdir=d a1
timeout -k 1 5 a1
timeout --kill-after=1 5 a1
timeout -- 5 a1
timeout --foregr 5 a1
nice -5 a1
nice -n5 a1
nice --adjustment=5 -- a1
nohup -- a1
stdbuf -o L a1
setsid --wait a1
command -p a1
command -- a1
builtin eval a1
command eval 'X=a1'; $X
exec -a zz a1
xargs a1 < /dev/null
echo x | xargs -n 1 a1
echo x | xargs -I{} a1 -{}-
echo x | xargs -i a1 {}
echo a1 | xargs -I{} {} x
echo a1 | xargs env
echo a1 | xargs -n1 timeout 5
echo a1 | xargs bash -c
echo 'x;a1' | xargs -d '\n' -I{} bash -c 'echo {}'
find . -maxdepth 0 -exec a1 {} \;
find . -maxdepth 0 -execdir a1 {} \;
find . -maxdepth 0 -exec bash -c a1 \;
find . -maxdepth 0 -exec echo {} \; -exec a1 \;
find . -maxdepth 0 \( -name . -exec a1 \; \)
find . -maxdepth 0 -exec echo + \; -exec a1 {} +
X=-exec; find . -maxdepth 0 $X a1 \;
X='-exec a1 ;'; find . -maxdepth 0 $X
find . -maxdepth 0 -exec sh -c '"$0"' a1 \;
time -p a1
time -- a1
! time ! a1
time time a1
coproc a1
coproc N { a1; }
jobs -x a1
"""

CHANGED_VARIABLES = r"""
X=a; X+=1; $X
X='a1 x'; $X
IFS=_; X=a1_x; $X
X=b2; X=a1 eval '$X'
X=b2; f() { X=a1; }; f; $X
X=b2; for i in 1 2; do $X; X=a1; done
X=b2; for i in 1 2; do $X; eval X=a1; done
X=b2; for i in 1 2; do $X; \read X <<< a1; done
X=b2; for i in 1 2; do $X; {read,X} <<< a1; done
X=b2; R=read; for i in 1 2; do $X; $R X <<< a1; done
X=b2; while $X; do X=a1; [ -n "$Q" ] && break; Q=1; done
while X=b2; do X=a1; break; done; $X
X=a1; false && X=b2; $X
X=a1; true || X=b2; $X
X=a1; (X=b2); $X
X=a1; X=b2 | true; $X
X=a1; { X=b2; } & $X
X=a1; if false; then X=b2; fi; $X
X=a1; case q in w) X=b2;; esac; $X
X=a1; b2 $(X=b2); $X
X=a1; readonly X; eval 'X=b2'⏎$X
X=a1; while false; do X=b2; done; $X
: ${X:=a1}; $X
X=; ${X:-a1}
declare -n r=X; X=b2; r=a1; $X
X=b2 a1 $X
X=a1 $X
set -- a1; "$@"
f() { "$@"; }; f a1
for x in a1; do $x; done
for x in a1 b2; do $x; done
export x=a1; $x
declare "x=a1"; $x
x=(a1 b2); "${x[@]}"
X=a1; Y=$X; Z=${Y}; "$Z"
X="a1;b2"; $X
X='*'; b2 $X "$X"
X=; $X a1
X=' '; $X a1
Y=X; X=a1; ${!Y}
echo X=a1 > s; X=b2; f() { {source,./s}; }; f; $X
echo X=a1 > s; X=b2; for i in 1 2; do $X; {source,./s}; done
X=a1; local X=b2; $X
X=a1; export -q X=b2; $X
X=B2; declare -l X=A1; $X
X=a1; declare -p X=b2; $X
"""

WHOLE = [EVALUATED, ENVIRONMENT, TEXT_AS_CODE, WRAPPED, CHANGED_VARIABLES]


@pytest.mark.parametrize(
    "lines",
    WHOLE,
    ids=["evaluated", "environment", "text as code", "wrapped", "changed variables"],
)
def test_a_complete_view_tells_everything_that_bash_does(lines: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    untold = {line: found for line in entries(lines) if (found := machine.untold(line))}
    assert not untold


@pytest.mark.parametrize("line", entries(EVALUATED))
def test_a_value_that_is_evaluated_as_an_expression_makes_the_view_incomplete(line: str) -> None:
    assert not parse_command_line(line).complete
