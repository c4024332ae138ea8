#!/bin/sh
# Checks that what a build needs is there, and says what to do if not.
# With the argument "lint" it also provides rustfmt and clippy, with "deny" cargo-deny; it says what
# it installs.
set -eu
cd "$(dirname "$0")/.."

least_minor=95
cargo_deny=0.20.2
tools="${CARGO_TARGET_DIR:-target}/tools"

fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

check_rust() {
    for program in rustc cargo; do
        command -v "$program" >/dev/null 2>&1 ||
            fail "no $program. Install Rust 1.$least_minor or newer, with rustup or from your system's packages."
        version=$("$program" --version | cut -d ' ' -f 2)
        minor=$(printf '%s' "$version" | cut -d . -f 2)
        [ "${version%%.*}" -gt 1 ] || [ "$minor" -ge "$least_minor" ] ||
            fail "$program is $version, but 1.$least_minor is needed. With rustup: rustup update stable"
    done
}

check_compiler() {
    compiler=${CC:-cc}
    command -v "${compiler%% *}" >/dev/null 2>&1 ||
        fail "no C compiler ($compiler). Install gcc or clang (Debian, Ubuntu: sudo apt-get install build-essential), or set CC."
}

# The solver is C++, and so is half of what is recorded.
check_cxx_compiler() {
    compiler=${CXX:-c++}
    command -v "${compiler%% *}" >/dev/null 2>&1 && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        printf 'setup: no C++ compiler; installing g++ with apt-get\n'
        apt-get update -qq && apt-get install -y --no-install-recommends g++ >/dev/null ||
            fail "apt-get could not install g++"
    else
        fail "no C++ compiler ($compiler). Install g++ or clang (Debian, Ubuntu: sudo apt-get install g++), or set CXX."
    fi
}

# $1: the cargo subcommand, $2: the rustup component that holds it.
provide_component() {
    cargo "$1" --version >/dev/null 2>&1 && return
    command -v rustup >/dev/null 2>&1 || fail "cargo $1 is missing. Install $2 from where your Rust comes from."
    printf 'setup: installing the component %s with rustup\n' "$2"
    rustup component add "$2"
}

provide_cargo_deny() {
    [ "$("$tools/bin/cargo-deny" --version 2>/dev/null)" = "cargo-deny $cargo_deny" ] && return
    printf 'setup: building cargo-deny %s into %s (once, some minutes)\n' "$cargo_deny" "$tools"
    # It runs for a second: not worth the time an optimised build takes. Its own target folder
    # would be thrown away after the build and is kept out of ours.
    CARGO_TARGET_DIR="$tools/build" cargo install --quiet --locked --debug --root "$tools" --version "$cargo_deny" cargo-deny
    rm -rf "$tools/build"
}

check_rust
check_compiler
check_cxx_compiler
case ${1:-} in
    '') ;;
    lint)
        provide_component fmt rustfmt
        provide_component clippy clippy
        ;;
    deny) provide_cargo_deny ;;
    *) fail "unknown argument $1" ;;
esac
