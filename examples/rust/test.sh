#!/usr/bin/env bash
# Tests and runs the examples in Rust. It is no part of `.ci/run`: they depend on `argmin` and `nuts-rs`, which
# nothing else needs, and take some minutes to build.
#
#   examples/rust/test.sh
set -euo pipefail
cd "$(dirname "$0")"
cargo test --quiet --locked --release --workspace
for example in fit sample shipped; do
    cargo run --quiet --locked --release -p "$example"
done
# Of Lambada, what is shipped has the macro that includes the generated module, in a crate that depends on nothing.
found=$(cargo tree --locked -p shipped -e normal --prefix none --format '{p}' | grep '^lambada' | cut -d ' ' -f 1 | sort -u)
if [ "$found" != lambada-build ]; then
    echo "error: the program that is shipped depends on" $found >&2
    exit 1
fi
