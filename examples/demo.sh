#!/bin/sh
# Analyses the example traces: what could have happened, and what did.
set -eu
interloper=${INTERLOPER:-target/release/interloper}
traces=$(dirname "$0")/traces

# Exit code 1 says that something was found, which is what these traces are for.
show() {
    printf '\n$ interloper %s\n' "$*"
    "$interloper" "$@" || [ $? -eq 1 ]
}

for trace in string-buffer bank-transfer; do
    show analyze "$traces/$trace.std" --model lockset
    show analyze "$traces/$trace.std" --property serial
done
