#!/usr/bin/env bash
# Tells whether all manifests, and the tag of the release if one is given, have one version.
#
#   packaging/version.sh [TAG]
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
wrong=0
same() { # PLACE, VERSION
    if [ "$2" != "$version" ]; then
        echo "$1 has the version $2, and Cargo.toml $version" >&2
        wrong=1
    fi
}
same crates/python/Cargo.toml "$(sed -n 's/^version = "\(.*\)"/\1/p' crates/python/Cargo.toml | head -n 1)"
for package in editors/vscode editors/tree-sitter-lambada; do
    same "$package/package.json" "$(sed -n 's/^  "version": "\(.*\)",/\1/p' "$package/package.json")"
done
same editors/tree-sitter-lambada/tree-sitter.json "$(sed -n 's/^    "version": "\(.*\)",/\1/p' editors/tree-sitter-lambada/tree-sitter.json)"
same packaging/conda/recipe.yaml "$(sed -n 's/^  version: "\(.*\)"/\1/p' packaging/conda/recipe.yaml | head -n 1)"
[ -z "${1:-}" ] || same "the tag" "${1#v}"
exit "$wrong"
