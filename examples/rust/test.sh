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
# What is shipped has nothing of Lambada in it.
if cargo tree --locked -p shipped -e normal | grep -q lambada; then
    echo "error: the program that is shipped depends on lambada" >&2
    exit 1
fi
