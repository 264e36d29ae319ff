#!/usr/bin/env bash
# Makes the archive of the grammar with the generated parser.
#
#   editors/tree-sitter-lambada/archive.sh FOLDER      behind test.sh
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 1; }
mkdir -p "$1"
folder=$(realpath "$1")
cd "$(dirname "$0")/.."
[ -e tree-sitter-lambada/src/parser.c ] || { echo 'there is no src/parser.c: run test.sh' >&2; exit 1; }
tar -czf "$folder/tree-sitter-lambada.tar.gz" tree-sitter-lambada/{README.md,grammar.js,package.json,tree-sitter.json,queries,src} \
    --transform "s,^LICENSE,tree-sitter-lambada/LICENSE," -C .. LICENSE-MIT LICENSE-APACHE
