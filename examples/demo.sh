#!/bin/sh
# The main job on a small program with a bug: build it, record a run that goes well, predict what another
# schedule could do, find such a schedule, and follow it. Then a trace that was written by hand.
set -eu
exec 2>&1
here=$(cd "$(dirname "$0")" && pwd)
interloper=${INTERLOPER:-$here/../target/release/interloper}
case $interloper in /*) ;; *) interloper=$(pwd)/$interloper ;; esac
export INTERLOPER_INCLUDE="${INTERLOPER_INCLUDE:-$here/../include}"
[ -x "$interloper" ] || {
    printf 'demo: no %s; make build\n' "$interloper"
    exit 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
cp "$here/account.c" "$folder"
ln -s "$here/traces" "$folder/traces"
cd "$folder"

say() {
    printf '\n'
    printf '# %s\n' "$@"
}

# Shows a command as one would type it, and runs it.
show() {
    printf '\n$ interloper %s\n' "$*"
    "$interloper" "$@"
}

# The same where exit code 1 says that something was found.
find_something() {
    status=0
    show "$@" || status=$?
    [ "$status" -eq 1 ] || {
        printf 'demo: expected exit code 1, which says that something was found, not %s\n' "$status"
        exit 1
    }
}

say "account.c: two tellers, one account. A deposit reads the balance in one critical section" \
    "and writes it in another. Every access is locked, and the program nearly always goes well."
show cc -g -pthread -ffile-prefix-map="$folder"=. account.c -o account
printf '\n$ ./account\n'
./account
show record -o well.ilt -- ./account

say "What could another schedule of the same events have done?"
find_something analyze well.ilt --limit 1

say "The accesses that this is about, as they were in this run:"
printf '\n$ interloper dump well.ilt | grep -w account.balance\n'
"$interloper" dump well.ilt | grep -w account.balance

say "Random schedules come upon one that does it, sooner or later:"
seed=0
status=0
while [ "$status" -eq 0 ]; do
    seed=$((seed + 1))
    [ "$seed" -le 200 ] || {
        printf 'demo: none of 200 random schedules makes the program fail\n'
        exit 1
    }
    "$interloper" record --policy random --quantum 4 --seed "$seed" -o badly.ilt -- ./account \
        >printed 2>said || status=$?
done
[ "$status" -eq 1 ] || {
    cat printed said
    exit 1
}
printf '\n$ interloper record --policy random --quantum 4 --seed %s -o badly.ilt -- ./account\n' "$seed"
cat printed said
printf '\n$ interloper dump badly.ilt | grep -w account.balance\n'
"$interloper" dump badly.ilt | grep -w account.balance

say "That run has a schedule: which thread takes how many steps, turn by turn."
schedule=$("$interloper" stats badly.ilt | sed -n 's/^schedule\.[0-9]* *//p' | tr -d '\n')
printf '\n%s\n' "$schedule"

say "Following it, the program fails again, and every time:"
show replay "$schedule" -- ./account
again=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
    "$interloper" replay "$schedule" -- ./account >printed_again 2>said
    if cmp -s printed printed_again; then again=$((again + 1)); fi
done
printf '\nthe same in %s of 10 more runs\n' "$again"
[ "$again" -eq 10 ]

say "A trace may come from elsewhere, too. This one is text:"
find_something analyze traces/bank-transfer.std --limit 1
