#!/usr/bin/env bash
# Makes the archive of a release: the command, its completions and manual pages, and the licenses.
#
#   packaging/archive.sh TARGET BINARY FOLDER      writes FOLDER/lambada-TARGET.tar.gz (.zip for Windows)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -eq 3 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 1; }
target=$1 binary=$2 folder=$3
name=lambada-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/completions" "$work/$name/man" "$folder"
cp "$binary" "$work/$name/"
cp "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$work/$name/"
for shell in bash zsh fish powershell elvish; do
    "$binary" completions "$shell" > "$work/$name/completions/lambada.$shell"
done
"$binary" man "$work/$name/man"
case $target in
    *-windows-*) (cd "$work" && 7z a -bso0 "$name.zip" "$name") && mv "$work/$name.zip" "$folder/" ;;
    *) tar -C "$work" -czf "$folder/$name.tar.gz" "$name" ;;
esac
