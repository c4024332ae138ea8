#!/bin/sh
# Provides the JSON Schema of SARIF 2.1.0, which a test holds our output against, below target/tools. It is OASIS's,
# not ours to hand on, and so not kept here: it is taken from the package serde-sarif, which carries it, and checked
# by its hash. Nothing that is shipped uses it.
set -eu
cd "$(dirname "$0")/.."

version=0.8.0
hash=af47e7b67f24efe74076621fd3a5fbe7398add9e84fe820c971219a385895cea
tools="${CARGO_TARGET_DIR:-target}/tools"
schema="$tools/sarif-schema-2.1.0.json"

is_right() { printf '%s  %s\n' "$hash" "$1" | sha256sum -c - >/dev/null 2>&1; }

[ -n "${INTERLOPER_NO_SARIF_SCHEMA:-}" ] && exit 0
is_right "$schema" && exit 0
mkdir -p "$tools"
printf 'sarif-schema: taking the schema of SARIF from the package serde-sarif %s\n' "$version"
# Asking about a package downloads it, and it alone.
cargo info --quiet "serde-sarif@$version" >/dev/null 2>&1 || :
for package in "${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"serde-sarif-$version.crate"; do
    tar -xzOf "$package" "serde-sarif-$version/src/schema.json" >"$schema.new" 2>/dev/null || continue
    if is_right "$schema.new"; then
        mv "$schema.new" "$schema"
        exit 0
    fi
done
rm -f "$schema.new"
printf 'sarif-schema: it cannot be had. INTERLOPER_NO_SARIF_SCHEMA=1 does without its test.\n' >&2
exit 1
