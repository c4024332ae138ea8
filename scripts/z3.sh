#!/bin/sh
# Provides Z3, which a test of crates/order-sat compares answers with and `make bench` races: uses the one that is
# there, or else installs one below target/tools/z3, which takes Python but no rights, or as a package of the system
# if this is run as root. It says what it installs. Nothing that is shipped uses it.
set -eu
cd "$(dirname "$0")/.."

version=5.4.0.0
tools="${CARGO_TARGET_DIR:-target}/tools"

fail() {
    printf 'z3: %s\n' "$*" >&2
    exit 1
}

works() { "$1" --version >/dev/null 2>&1; }

# A Python environment of its own, since the wheel brings the program along.
from_wheel() {
    command -v python3 >/dev/null 2>&1 || return 1
    printf 'z3: installing z3-solver %s with pip into %s\n' "$version" "$tools/z3"
    rm -rf "$tools/z3"
    if python3 -m venv "$tools/z3" >"$tools/z3.log" 2>&1 &&
        "$tools/z3/bin/pip" install --quiet --disable-pip-version-check "z3-solver==$version" >>"$tools/z3.log" 2>&1 &&
        works "$tools/z3/bin/z3"; then
        rm -f "$tools/z3.log"
        return 0
    fi
    printf 'z3: that did not work; see %s\n' "$tools/z3.log" >&2
    rm -rf "$tools/z3"
    return 1
}

from_package() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
    printf 'z3: installing the package z3 with apt-get\n'
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq z3 >/dev/null && works z3
}

[ -z "${INTERLOPER_NO_Z3:-}" ] || exit 0
# The same order as in crates/order-sat/tests/z3.rs and crates/bench/src/solver.rs.
if [ -n "${INTERLOPER_Z3:-}" ]; then
    works "$INTERLOPER_Z3" || fail "INTERLOPER_Z3 is $INTERLOPER_Z3, which does not run"
    exit 0
fi
if works z3 || works "$tools/z3/bin/z3"; then
    exit 0
fi
mkdir -p "$tools"
from_wheel || from_package ||
    fail "no Z3. With python3 and its venv module it installs itself. Else install it (Debian, Ubuntu:
    sudo apt-get install z3), or set INTERLOPER_Z3 to one; INTERLOPER_NO_Z3=1 skips its test."
