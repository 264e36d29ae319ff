#!/usr/bin/env bash
# Generates the parser; compares the trees of the corpus; parses every program of the repository and of its book; tries the queries.
#
#   editors/tree-sitter-lambada/test.sh
#
# TREE_SITTER is the command of tree-sitter; without it, npm installs that of package.json.
set -euo pipefail
cd "$(dirname "$0")"
if [ -z "${TREE_SITTER:-}" ]; then
    npm ci --no-audit --no-fund
    TREE_SITTER=node_modules/.bin/tree-sitter
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$TREE_SITTER" generate --abi 14
"$TREE_SITTER" test

# The blocks of the book are programs, too.
awk -v work="$work" '
    /^```lambada$/ { inside = 1; file = sprintf("%s/block%04d.lam", work, ++count); next }
    /^```/ { inside = 0 }
    inside { print > file }
' ../../README.md ../../CHANGELOG.md ../../docs/src/*.md ../../docs/src/library/*.md
(cd ../.. && git ls-files '*.lam') | grep -v -F -f <(grep -v '^#' mistakes.txt) | sed 's#^#../../#' > "$work/programs"
ls "$work"/block*.lam >> "$work/programs"
"$TREE_SITTER" parse --quiet --paths "$work/programs" > "$work/wrong" 2> "$work/log" || true
[ "$(wc -l < "$work/programs")" -gt 800 ] || { echo 'too few programs were found' >&2; exit 1; }
# Only files with errors are listed.
if grep -q -e ERROR -e MISSING "$work/wrong" || grep -q -i error "$work/log"; then
    cat "$work/wrong" "$work/log" >&2
    exit 1
fi
echo "$(wc -l < "$work/programs") programs without errors"

# Most mistakes are found.
git ls-files ../../tests/errors/syntax/'*.lam' > "$work/mistakes"
"$TREE_SITTER" parse --quiet --paths "$work/mistakes" > "$work/wrong" 2> "$work/log" || true
found=$(grep -c -e ERROR -e MISSING "$work/wrong" || true)
echo "$found of $(wc -l < "$work/mistakes") mistakes of syntax found"
[ "$found" -gt 20 ]

for query in queries/*.scm; do
    "$TREE_SITTER" query "$query" ../../crates/lambada/library/prelude.lam > "$work/found" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
    echo "$query: $(grep -c capture "$work/found") captures in the prelude"
done
