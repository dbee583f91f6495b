"""The syntax of bash, line by line, compared with what bash really runs (see `test_shell_evasions.py`)."""

from pathlib import Path

import pytest
from shellkit import Machine, entries

WORDS = r"""
$'\x61\x31'
$'\141\u0031'
a$'1'
$"a1"
a\1
a\⏎1
{a1,x}
{b,a}1
a{1..1}
b2 {x,'y;a1'}
[a]1
a1\ x; c3
a1 {1..3} {a,b}{c,d} {a,{b,c}} {} {a} {,} "{a,b}" \{a,b} {3..1} {01..03} {a..c} {1..9..3} x{,}y }{ {a,b
a1 ~ ~/x x~ "~" \~ x=~ --y=~/z a:~ x=a:~
a1 $(echo x y) "$(echo x y)" `echo x` $? $# $$ "$@" "$*" ${#X} ${#} $((1+1)) $[2+2]
a1 \a \\ \' \" \$ "\a\\\"\$\`" '\a' $'\a\n\'\"\\' $'\x41\101\u0041' a$'\t'b a$'b\0c'd
a1 !x ! !! a=b a+=b a[1]=2 if then fi do done { } time function [[ ]] $ "$" a$ $% "$%"
a1 é "é" 日本 $'é' *.nope d? [d] "*" \* '?' "" '' $''
b2 "x\⏎y" 'z\⏎w' $'q\⏎r'
X=a1; $X\⏎Y
b2 $\⏎(a1)
b2 "`a\⏎1`"
b2 ;\⏎; a1
b2 &\⏎& a1
b2 2\⏎>f; a1
b2 <\⏎<E⏎x⏎E⏎a1
i\⏎f a1; then :; fi
[\⏎[ x ]]; a1
$\⏎'a1'
b2 \⏎a1
b2 x\
"""

SUBSTITUTIONS = r"""
b2 '$(a1)' "$(b2 '$(c3)' "$(a1)")"
b2 "`b2 \"\`a1\`\"`"
b2 `b2 \`a1\``
b2 ${x:-$(a1)} ${x-`a1`} "${x:=$(c3)}"
b2 ${x#$(a1)} "${y/a/$(c3)}"
b2 "${x:-'$(a1)'}"
b2 "${x:-"${y:-"$(a1)"}"}"
b2 ${x:-'$(c3)'}
x=q; b2 "${x%"'"}$(a1)'"
b2 $(( $(a1) + 1 )) $[ $(a1) + 1 ]
b2 $((a1) )
b2 $((a1); (c3))
((a1); c3)
((a1))
[[ $(a1) ]]
[[ a =~ ]] ]] ; a1
[[ a == "]]" ]] ; a1
[[ (a) ]] && a1
b2 $(case x in x) a1;; esac)
b2 $(case x in (x) a1;; esac; c3)
b2 <(a1) >(c3)
b2 a<(a1) 2>(a1)
b2 ${x:-<(a1)}
b2 > >(a1) 2> >(c3)
x=(c3 $(a1) "`c3`")
x=(⏎a # )⏎$(a1) # c⏎)
x=([$(a1)]=1)
x[$(a1)]=1
x[ 1 ]=2 a1
x["a]"]=2; a1
b2 $(a1 # )⏎)
b2 "$(a1 '"')" '⏎a1⏎'
b2 $(echo \)) ; a1
b2 "$(echo ")")"; a1
b2 "${Z:-$((c3 $'x\x3b a1') )}"
"""

HERE_DOCUMENTS = r"""
b2 <<'E'⏎$(c3)⏎E
b2 <<E⏎$(a1) `a1` ${x:-$(a1)} \$(c3) \`c3\` "$(a1)" '$(a1)'⏎E
b2 <<-E⏎	x⏎	E⏎a1
b2 <<E⏎ E⏎E x⏎E⏎a1
b2 <<E; a1⏎x⏎E
b2 <<E && a1 <<F⏎x⏎E⏎y⏎F⏎c3
b2 <<''⏎x⏎⏎a1
b2 <<' E'⏎x⏎ E⏎a1
b2 <<E\⏎F⏎x⏎EF⏎a1
b2 <<E"F"⏎$(c3)⏎EF⏎a1
b2 <<E⏎x\⏎E⏎E⏎a1
b2 <<E⏎EO\⏎F⏎E⏎a1
b2 <<'E'⏎x\⏎E⏎a1
b2 <<E⏎$(⏎a1⏎)⏎E
b2 "$(c3 <<E⏎)⏎E⏎a1)"
b2 `c3 <<E⏎x⏎E⏎a1`
b2 <<E "$(a1⏎)"⏎x⏎E⏎c3
b2 <<E "x⏎y"⏎z⏎E⏎a1
b2 <<E 'E⏎E⏎a1'⏎x⏎E⏎c3
b2 <<<x <<E⏎E⏎a1
b2 <<E⏎x⏎a1
b2 <<$E⏎x⏎$E⏎a1
b2 <<E⏎E⏎a1
b2 "$(c3 <<E⏎x⏎E⏎a1; b2 q)"
b2 "$(c3 <<E; a1; b2 q⏎x⏎E⏎)"
b2 "$(c3 <<E | (a1; b2 q)⏎x⏎E⏎)"
b2 <(c3 <<E⏎x⏎E⏎until a1; b2 q; do break; done)
b2 "$(c3 <<E⏎x⏎E⏎a1⏎b2 q && c3 r)"
b2 `c3 <<E⏎x⏎E⏎a1; b2 q`
((c3 x <<-\E⏎`a1`⏎E⏎) ; (b2))
"""

REDIRECTIONS = r"""
b2 > f$(a1)
>f >g a1
2>&1 a1 2>&-
a1>f 2>&1>g
a1>&-b2 c3
a1 2>& -"b2" <&-$(c3)
a1 3>&1-x
a1 <( ) >() x<()
a1 &>f; a1&>>g
a1 >& f
a1 1<>f
a1 {fd}>f
x=1 >f a1
>f x=1 a1
X='f g'; a1 > "$X"
a1 > {f,g}
exec > f; a1
a1 3>f >&3
X=f; a1 >& $X
X=2; a1 >& $X
a1 >&$(echo f)
a1 > d/f; cd d; a1 > g
cd d && a1 > g
(cd d && a1 > g); b2 > h
{ cd d; a1; } > g
while cd d; do a1; break; done > g
if cd d; then a1 > h; fi > g
f() { cd d; a1 > h; } > g; f
cd d && bash -c 'cd e && a1 > g'
env -C d bash -c 'a1 > g'
[[ a ]] > f; (( 1 )) > g; a1
for x in 1; do a1; done > f < g
> f
if > f; then > g; fi
"""

DIRECTORIES = r"""
cd d; a1
cd nope; a1
cd d || a1
cd d/.. && cd ./d/e/.. && a1
(cd d); a1
cd d | a1
cd d & a1
{ cd d; } & a1
if cd d; then a1; else c3; fi
until cd nope; do a1; break; done; c3
for x in d ..; do cd $x; a1; done
for x in d; do cd $x; a1; done; c3
cd $(echo d); a1
cd -; a1
cd; a1
cd d e; a1
cd -P d && a1
pushd d && popd && a1
command cd d; a1
eval 'cd d'; a1
\cd d; a1
{cd,d}; a1
X=cd; $X d; a1
for i in 1 2; do a1; {cd,d}; done
X=cd; for i in 1 2; do a1; $X d; done
CDPATH=/; cd tmp; a1
f() { cd d; }; cd d; f; a1
f() { cd /; }; cd d; f; a1
trap 'cd /' DEBUG; cd d; a1
f() { {cd,d}; }; f; a1
f() { a1 "$(cd d && a1)"; }; f; a1
for i in 1 2; do a1 "$(cd d && a1)"; done
! cd d || a1
! time cd d || a1
! { cd d; } || a1
cd d <nope; a1
coproc { cd d; a1; }; c3
coproc cd d; a1
x=1 cd d; a1
"""

STRUCTURE = r"""
case x in x) a1 esac
case x in x) ;& y) a1;; esac
case x in⏎x | y⏎) a1⏎esac
case in in in) a1;; esac
case x in x)a1;;esac
if false; then :; elif a1; then :; else c3; fi
if { a1; } then (b2) fi
for x⏎do c3; done; a1
for x do c3; done; a1
for ((i=0; i<2; i++)) do a1; done
select x in $(a1); do c3; break; done <<< 1
f() (a1); f
f() if a1; then :; fi; f
function f { a1; }; f
f () { a1; } > $(c3); f
b2 |& a1 | c3
b2 & a1 &
b2 &&⏎⏎a1 ||⏎c3
b2 # \⏎a1
b2 x#a1 '#' ; a1
# c⏎a1
! ! a1
{ a1⏎}
( ( (a1) ); b2 )
a1;;c3
then a1
a1 ( b2 )
b2 @(a1)
if a1
{ a1; } }
time { a1; }
coproc a1 {b2,c3}
coproc a1 { b2; }
coproc a1 while b2; do break; done
coproc a1 while
coproc a1 (b2)
a1 | b2 | \⏎c3 | b2⏎⏎⏎a1 &&⏎c3
for x⏎⏎in a1⏎⏎do⏎⏎c3⏎⏎done⏎⏎a1
case x⏎⏎in⏎⏎a|⏎⏎x)⏎⏎a1⏎⏎;;⏎⏎(d)⏎c3⏎⏎esac⏎⏎b2
f()⏎⏎{⏎⏎a1⏎⏎}⏎⏎f
function f ()⏎⏎(⏎a1⏎)⏎⏎f
"""

WHOLE = {
    "words": WORDS,
    "substitutions": SUBSTITUTIONS,
    "here-documents": HERE_DOCUMENTS,
    "redirections": REDIRECTIONS,
    "directories": DIRECTORIES,
    "structure": STRUCTURE,
}


@pytest.mark.parametrize("topic", WHOLE)
def test_a_complete_view_agrees_with_bash(topic: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    untold = {line: found for line in entries(WHOLE[topic]) if (found := machine.untold(line))}
    assert not untold
