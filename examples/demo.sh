#!/bin/sh
# The main job on a small program with a bug: its run passes, ThreadSanitizer says nothing, and one command finds
# the violation and makes it happen; another makes it happen again. Then a trace that was written by hand.
set -eu
exec 2>&1
here=$(cd "$(dirname "$0")" && pwd)
interloper=${INTERLOPER:-$here/../target/release/interloper}
case $interloper in /*) ;; *) interloper=$(pwd)/$interloper ;; esac
export INTERLOPER_INCLUDE="${INTERLOPER_INCLUDE:-$here/../include}"
unset TSAN_OPTIONS COLUMNS || :

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
cp "$here/account.c" "$folder"
ln -s "$here/traces" "$folder/traces"

fail() {
    printf 'demo: %s\n' "$*"
    exit 1
}

say() {
    printf '\n'
    printf '# %s\n' "$@"
}

# Shows a command as one would type it, and runs it.
show() {
    printf '\n$ interloper %s\n' "$*"
    "$interloper" "$@"
}

# The same where exit code 1 says that something was found, or happened.
find_something() {
    status=0
    show "$@" || status=$?
    [ "$status" -eq 1 ] || fail "expected exit code 1, not $status"
}

# Runs what ThreadSanitizer built, without randomised addresses if it cannot bear them.
run_with_tsan() {
    ./account-tsan >tsan 2>&1 || :
    if grep -q 'FATAL: ThreadSanitizer' tsan; then
        setarch -R ./account-tsan >tsan 2>&1 || :
    fi
    ! grep -q 'FATAL: ThreadSanitizer' tsan && [ -s tsan ]
}

[ -x "$interloper" ] || fail "no $interloper; make build"
cd "$folder"

say "account.c: two tellers, one account. A deposit reads the balance in one critical section" \
    "and writes it in another. Every access is locked, and the program nearly always goes well."
show cc -g -pthread -ffile-prefix-map="$folder"=. account.c -o account
printf '\n$ ./account\n'
./account || say "That was the bug, by chance."

compiler=gcc
command -v gcc >/dev/null 2>&1 || compiler=clang
if "$compiler" -g -fsanitize=thread -pthread account.c -o account-tsan >/dev/null 2>&1 && run_with_tsan; then
    say "A race detector has nothing to say, and rightly so: there is no data race."
    printf '\n$ %s -g -fsanitize=thread -pthread account.c -o account-tsan\n$ ./account-tsan\n' "$compiler"
    cat tsan
    if grep -q ThreadSanitizer tsan; then fail "ThreadSanitizer was expected to be silent"; fi
else
    say "(There is no ThreadSanitizer here that works. It would be silent.)"
fi

say "Interloper runs the program, leads it along other schedules, and looks whether it gets in between:"
printf '\n$ interloper check -- ./account\n'
status=0
"$interloper" check -- ./account >result || status=$?
cat result
[ "$status" -eq 1 ] || fail "expected exit code 1, which says that a violation is confirmed, not $status"
id=$(sed -n 's/^ *Replay: interloper replay //p' result | head -n 1)
[ -n "$id" ] || fail "nothing was confirmed"

say "The source, at (1), (2) and (3):"
printf '\n'
number=0
for line in $(sed -n 's/.*account\.c:\([0-9]*\).*/\1/p' result | head -n 3); do
    number=$((number + 1))
    printf '(%s) %s: %s\n' "$number" "$line" "$(sed -n "${line}p" account.c)"
done

say "It happens again whenever one wants it to, with money lost:"
find_something replay "$id" -o again.ilt
printf '\n$ interloper dump again.ilt | grep -w account.balance\n'
"$interloper" dump again.ilt | grep -w account.balance
again=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
    status=0
    "$interloper" replay "$id" >printed 2>said || status=$?
    if [ "$status" -eq 1 ]; then again=$((again + 1)); fi
done
printf '\nit happened in %s of 10 more runs\n' "$again"
[ "$again" -eq 10 ] || fail "it should have happened every time"

say "A trace may come from elsewhere, too. There is no program to run then, but a schedule as proof:"
find_something analyze traces/string-buffer.std
