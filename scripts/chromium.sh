#!/bin/sh
# Provides what the tests of the witness page need: Chromium, which they open it in, and axe-core, which looks for
# obstacles to people who use it with a keyboard or a screen reader. Uses what is there, or else installs Chromium as a
# package of the system if this is run as root, and axe-core below target/tools/axe. It says what it installs. Nothing
# that is shipped uses either.
set -eu
cd "$(dirname "$0")/.."

tools="${CARGO_TARGET_DIR:-target}/tools"

# The same file comes in a package for Python and, of another version, in one for Node.
wheel=axe-playwright-python==0.1.8
wheel_axe=84494fec757e4710dc751c8d7a636e457f4532f08f85c86dc9070133fbff53bc
node=axe-core@4.14.0
node_axe=20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878

fail() {
    printf 'chromium: %s\n' "$*" >&2
    exit 1
}

skip="INTERLOPER_NO_CHROMIUM=1 skips the tests that need it"

works() { "$1" --version >/dev/null 2>&1; }

# The same places as in crates/cli/tests/browser/chromium.rs.
has_chromium() {
    if [ -n "${INTERLOPER_CHROMIUM:-}" ]; then
        works "$INTERLOPER_CHROMIUM" || fail "INTERLOPER_CHROMIUM is $INTERLOPER_CHROMIUM, which does not run"
        return 0
    fi
    works chromium || works chromium-browser || works google-chrome
}

install_chromium() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
    printf 'chromium: installing the packages chromium and fonts-dejavu-core with apt-get\n'
    apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null &&
        works chromium
}

# $1: a file, $2: its SHA-256.
is() { [ -f "$1" ] && printf '%s  %s\n' "$2" "$1" | sha256sum -c --quiet - >/dev/null 2>&1; }

has_axe() { is "$tools/axe/axe.min.js" "$wheel_axe" || is "$tools/axe/axe.min.js" "$node_axe"; }

# Puts a file in place if it is what it should be. $1: the file, $2: its SHA-256.
place() {
    is "$1" "$2" || { printf 'chromium: %s is not what it should be\n' "$1" >&2; return 1; }
    mv "$1" "$tools/axe/axe.min.js"
}

axe_from_wheel() {
    command -v python3 >/dev/null 2>&1 || return 1
    printf 'chromium: fetching axe-core (%s) with pip into %s\n' "$wheel" "$tools/axe"
    {
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$tools/axe" "$wheel" ||
            { python3 -m venv "$tools/axe/venv" &&
                "$tools/axe/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$tools/axe" "$wheel"; }
    } >"$tools/axe/log" 2>&1 || return 1
    python3 -m zipfile -e "$tools"/axe/*.whl "$tools/axe/unpacked" >>"$tools/axe/log" 2>&1 || return 1
    place "$tools/axe/unpacked/axe_playwright_python/axe.min.js" "$wheel_axe"
}

axe_from_node() {
    command -v npm >/dev/null 2>&1 || return 1
    printf 'chromium: fetching %s with npm into %s\n' "$node" "$tools/axe"
    (cd "$tools/axe" && npm pack --silent "$node" && tar xzf axe-core-*.tgz package/axe.min.js) >>"$tools/axe/log" 2>&1 || return 1
    place "$tools/axe/package/axe.min.js" "$node_axe"
}

[ -z "${INTERLOPER_NO_CHROMIUM:-}" ] || exit 0
has_chromium || install_chromium ||
    fail "no Chromium, and only root can install it. Ask for the package (Debian, Ubuntu:
    sudo apt-get install chromium fonts-dejavu-core), or set INTERLOPER_CHROMIUM to one; $skip."
if [ -z "${INTERLOPER_AXE:-}" ] && ! has_axe; then
    rm -rf "$tools/axe"
    mkdir -p "$tools/axe"
    axe_from_wheel || axe_from_node ||
        fail "no axe-core. It takes python3 with pip or venv, or npm (Debian, Ubuntu:
    sudo apt-get install python3-venv), or set INTERLOPER_AXE to axe.min.js; $skip."
    rm -rf "$tools"/axe/*.whl "$tools"/axe/*.tgz "$tools/axe/unpacked" "$tools/axe/package" "$tools/axe/venv" "$tools/axe/log"
fi
