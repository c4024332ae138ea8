#!/bin/sh
# Builds real programs from Debian's sources, natively and with `interloper cc` and `c++`, and checks that they
# behave the same, recorded or not. Not part of CI: it needs Debian or a descendant, the network and some minutes.
#
#   scripts/real.sh [pbzip2|memcached|axel]…       default: all of them
#
# Sources are taken from where the system's packages come from, with an apt configuration of our own below
# target/real; the system's is only read. Libraries to build with are installed if this is run as root.
# Exit status: 0 if all went well, 1 if anything failed or had to be skipped; the end says which.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
case $target in /*) ;; *) target=$root/$target ;; esac
interloper=${INTERLOPER:-$target/release/interloper}
case $interloper in /*) ;; *) interloper=$(pwd)/$interloper ;; esac
export INTERLOPER_INCLUDE="${INTERLOPER_INCLUDE:-$root/include}"
unset CC CXX CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS MFLAGS INTERLOPER_COMPILER INTERLOPER_BRANCHES || true

work=$target/real
helper=$root/scripts/real.py
server=
outcome=
is_bad=0

say() { printf 'real: %s\n' "$*"; }

fail() {
    say "FAILED: $*" >&2
    exit 1
}

# A reason not to try, for whoever waits for the subshell of a package.
skip() {
    printf '%s\n' "$*" >"$work/skipped"
    exit 3
}

# Ends what was started in the background, whatever happens.
cleanup() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; }
trap cleanup EXIT
trap 'exit 130' INT TERM

# Runs a command whose output matters only if it fails.
quietly() {
    log=$1
    shift
    "$@" >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        fail "$* (all of it in $log)"
    }
}

record() { "$interloper" record --no-progress "$@"; }

# --- Sources --------------------------------------------------------------------------------------

own_apt_get() {
    apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/apt/parts" \
        -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" \
        -o APT::Sandbox::User="$(id -un)" "$@"
}

# The system's sources with source packages switched on, in a copy.
prepare_apt() {
    [ ! -e "$work/apt/ready" ] || return 0
    for program in apt-get dpkg-source; do
        command -v "$program" >/dev/null || skip "no $program; on Debian it is in the packages apt and dpkg-dev"
    done
    rm -rf "$work/apt"
    mkdir -p "$work/apt/parts" "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    number=0
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ -r "$file" ] || continue
        number=$((number + 1))
        case $file in
            *.sources) sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/apt/parts/$number.sources" ;;
            *) sed -n 's/^deb\(-src\)\{0,1\} /deb-src /p' "$file" | sort -u >"$work/apt/parts/$number.list" ;;
        esac
    done
    [ "$number" -gt 0 ] || skip "the system has no apt sources"
    own_apt_get update >"$work/apt/update.log" 2>&1 ||
        skip "the lists of packages cannot be downloaded (see $work/apt/update.log)"
    : >"$work/apt/ready"
}

# Unpacks a source package, with Debian's patches, into $work/src/NAME.
provide_source() {
    name=$1
    [ ! -d "$work/src/$name" ] || return 0
    prepare_apt
    mkdir -p "$work/src" "$work/packages/$name"
    (cd "$work/packages/$name" && own_apt_get source --download-only "$name" >log 2>&1) ||
        skip "the source of $name cannot be downloaded: $(grep -m 1 '^E:' "$work/packages/$name/log" |
            sed 's|[a-z]*://[^ ]*/||; s| *\[IP:.*||' || true)"
    rm -rf "$work/src/$name.part"
    (cd "$work/packages/$name" && dpkg-source --no-check -x ./*.dsc "$work/src/$name.part" >>log 2>&1) ||
        fail "$name cannot be unpacked (see $work/packages/$name/log)"
    mv "$work/src/$name.part" "$work/src/$name"
    say "$name: unpacked $(cd "$work/packages/$name" && echo ./*.dsc | sed 's|^\./||; s|\.dsc$||')"
}

# Debian packages that a build needs.
provide_packages() {
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' && continue
        [ "$(id -u)" -eq 0 ] || skip "it needs $package to build; as root: apt-get install $package"
        say "installing $package with apt-get"
        export DEBIAN_FRONTEND=noninteractive
        apt-get install -q -y --no-install-recommends "$package" >"$work/install.log" 2>&1 ||
            {
                apt-get update -q && apt-get install -q -y --no-install-recommends "$package"
            } >"$work/install.log" 2>&1 ||
            skip "$package, which it needs to build, cannot be installed (see $work/install.log)"
    done
}

# A fresh copy of a source for one way to build it.
copy_source() {
    rm -rf "$work/$2"
    mkdir -p "$work/$2"
    cp -R "$work/src/$1/." "$work/$2"
}

# --- pbzip2, and with it all of bzip2's library ------------------------------------------------------

# $1: where to, $2: the C compiler, $3: the C++ compiler; both may be two words.
build_pbzip2() {
    rm -rf "$work/$1"
    mkdir -p "$work/$1"
    for source in blocksort huffman crctable randtable compress decompress bzlib; do
        $2 -g -O2 -D_FILE_OFFSET_BITS=64 -c "$work/src/bzip2/$source.c" -o "$work/$1/$source.o" || return 1
    done
    for source in pbzip2 BZ2StreamScanner ErrorContext; do
        $3 -g -O2 -D_FILE_OFFSET_BITS=64 -D_LARGEFILE64_SOURCE -D_REENTRANT -D_POSIX_PTHREAD_SEMANTICS \
            -DUSE_STACKSIZE_CUSTOMIZATION -I"$work/src/bzip2" -c "$work/src/pbzip2/$source.cpp" \
            -o "$work/$1/$source.o" || return 1
    done
    $3 "$work/$1"/*.o -pthread -o "$work/$1/pbzip2"
}

test_pbzip2() {
    provide_source bzip2
    provide_source pbzip2
    quietly "$work/pbzip2.log" build_pbzip2 pbzip2-native gcc g++
    quietly "$work/pbzip2.log" build_pbzip2 pbzip2-ours "$interloper cc" "$interloper c++"
    native=$work/pbzip2-native/pbzip2
    ours=$work/pbzip2-ours/pbzip2
    cd "$work"
    python3 "$helper" text 1000000 >text
    python3 "$helper" text 400000 >short
    for file in text short; do
        "$native" -k -c -p4 -b1 -1 "$file" >"$file.bz2"
        "$ours" -k -c -p4 -b1 -1 "$file" >"$file.ours.bz2" || fail "pbzip2: not recorded, it ended with status $?"
        cmp "$file.bz2" "$file.ours.bz2" || fail "pbzip2: not recorded, its output is not the native one"
    done
    round_trip text
    say "pbzip2: 1 MB: output as natively built, and back"
    seed=0
    while [ "$seed" -lt 20 ]; do
        seed=$((seed + 1))
        round_trip short --policy random --seed "$seed" --quantum 5000
    done
    say "pbzip2: 20 random schedules: output as natively built, and back"
}

# Compresses and decompresses a file while being recorded. $1: the file; then: options of record.
round_trip() {
    file=$1
    shift
    record -o pbzip2.ilt "$@" -- "$ours" -k -c -p4 -b1 -1 "$file" >"$file.recorded.bz2" 2>pbzip2.err ||
        fail "pbzip2 $*: compressing ended with status $?: $(cat pbzip2.err)"
    cmp "$file.bz2" "$file.recorded.bz2" || fail "pbzip2 $*: its output is not the native one"
    record -o pbzip2.ilt "$@" -- "$ours" -d -k -c -p4 "$file.bz2" >"$file.recorded" 2>pbzip2.err ||
        fail "pbzip2 $*: decompressing ended with status $?: $(cat pbzip2.err)"
    cmp "$file" "$file.recorded" || fail "pbzip2 $*: what was compressed does not come back"
    "$interloper" stats pbzip2.ilt >/dev/null || fail "pbzip2 $*: the trace cannot be read"
}

# --- memcached --------------------------------------------------------------------------------------

# $1: where, $2: the C compiler.
build_memcached() {
    cd "$work/$1"
    ./configure --disable-docs --disable-coverage CC="$2" CFLAGS="-g -O2" || return 1
    # Debian's patches touch what these would be run for.
    make ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=: memcached
}

test_memcached() {
    provide_source memcached
    provide_packages libevent-dev
    copy_source memcached memcached-native
    copy_source memcached memcached-ours
    quietly "$work/memcached-native.log" build_memcached memcached-native gcc
    quietly "$work/memcached-ours.log" build_memcached memcached-ours "$interloper cc"
    cd "$work"
    serve_memcached native "$work/memcached-native/memcached"
    serve_memcached unrecorded "$work/memcached-ours/memcached"
    # Clients come and go but once, so that one run must do.
    serve_memcached recorded "$interloper" record --no-progress --full -o memcached.ilt -- \
        "$work/memcached-ours/memcached"
    expected=$(cat memcached.native.status)
    for kind in unrecorded recorded; do
        cmp memcached.native.answers "memcached.$kind.answers" ||
            fail "memcached $kind: other answers than the native one"
        status=$(cat "memcached.$kind.status")
        [ "$status" = "$expected" ] || fail "memcached $kind: ended with status $status, natively built with $expected"
    done
    "$interloper" stats memcached.ilt >memcached.stats || fail "memcached: the trace cannot be read"
    say "memcached: same answers as natively built, stopped cleanly (status $(cat memcached.recorded.status)); $(
        sed -n 's/^events  *\([0-9]*\)$/\1 events/p' memcached.stats)"
}

# Starts it, has clients talk to it, stops it. $1: what to call this; then: the command.
serve_memcached() {
    kind=$1
    shift
    port=$(python3 "$helper" port)
    "$@" -l 127.0.0.1 -p "$port" -U 0 -t 4 -m 16 -u "$(id -un)" >"memcached.$kind.out" 2>&1 &
    server=$!
    python3 "$helper" memcached "$port" >"memcached.$kind.answers" ||
        fail "memcached $kind: the clients were not served as they should be: $(tail -n 3 "memcached.$kind.out")"
    kill -TERM "$server"
    status=0
    wait "$server" || status=$?
    server=
    echo "$status" >"memcached.$kind.status"
}

# --- axel -------------------------------------------------------------------------------------------

build_axel() {
    cd "$work/$1"
    if [ ! -x configure ]; then
        autoreconf -i || return 1
    fi
    ./configure --disable-nls CC="$2" CFLAGS="-g -O2" || return 1
    make
}

test_axel() {
    provide_source axel
    provide_packages libssl-dev pkg-config
    [ -x "$work/src/axel/configure" ] || provide_packages autoconf automake autoconf-archive gettext autopoint
    copy_source axel axel-native
    copy_source axel axel-ours
    quietly "$work/axel-native.log" build_axel axel-native gcc
    quietly "$work/axel-ours.log" build_axel axel-ours "$interloper cc"
    cd "$work"
    python3 "$helper" text 2000000 >served
    rm -f served.port
    python3 "$helper" serve served served.port 2>axel.server.log &
    server=$!
    waited=0
    until [ -s served.port ]; do
        waited=$((waited + 1))
        [ "$waited" -lt 100 ] || fail "axel: the local server does not start: $(tail -n 3 axel.server.log)"
        sleep 0.1
    done
    address=http://127.0.0.1:$(cat served.port)/served
    fetch native "$work/axel-native/axel"
    fetch unrecorded "$work/axel-ours/axel"
    # The server is another process and answers anew every time, so that one run must do.
    fetch recorded "$interloper" record --no-progress --full -o axel.ilt -- "$work/axel-ours/axel"
    kill "$server"
    wait "$server" || true
    server=
    "$interloper" stats axel.ilt >/dev/null || fail "axel: the trace cannot be read"
    say "axel: the file came as natively built, recorded and not"
}

# $1: what to call this; then: the command.
fetch() {
    kind=$1
    shift
    rm -f "fetched.$kind" "fetched.$kind.st"
    "$@" -q -n 4 -o "fetched.$kind" "$address" >"axel.$kind.out" 2>&1 ||
        fail "axel $kind: ended with status $?: $(tail -n 3 "axel.$kind.out")"
    cmp served "fetched.$kind" || fail "axel $kind: the file is not the one that was served"
}

# ----------------------------------------------------------------------------------------------------

[ -x "$interloper" ] || fail "no $interloper; make build"
command -v python3 >/dev/null || fail "no python3, which plays the clients and the server"
mkdir -p "$work"
[ $# -gt 0 ] || set -- pbzip2 memcached axel
for name in "$@"; do
    case $name in
        pbzip2 | memcached | axel) ;;
        *) fail "unknown program $name" ;;
    esac
    status=0
    # `set -e` does not hold in a command that is tested, so the subshell is not.
    set +e
    (
        set -e
        trap cleanup EXIT
        "test_$name"
    )
    status=$?
    set -e
    case $status in
        0) outcome="$outcome
  $name: all as expected" ;;
        3) outcome="$outcome
  $name: SKIPPED, nothing was checked: $(cat "$work/skipped")" is_bad=1 ;;
        130) exit 130 ;;
        *) outcome="$outcome
  $name: FAILED" is_bad=1 ;;
    esac
done
printf '\nreal programs:%s\n' "$outcome"
exit "$is_bad"
