#!/usr/bin/env bash
# Makes the extension for VS Code, `lambada-VERSION.vsix`, and tells whether it has all that it needs.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
cat ../../LICENSE-MIT ../../LICENSE-APACHE > LICENSE.txt
rm -f ./*.vsix
npx vsce package
file=$(echo lambada-*.vsix)
listed=$(unzip -Z1 "$file")
for needed in package.json src/extension.js syntaxes/lambada.tmLanguage.json language-configuration.json readme.md LICENSE.txt \
    node_modules/vscode-languageclient/package.json; do
    grep -qx "extension/$needed" <<< "$listed" || { echo "$file lacks $needed" >&2; exit 1; }
done
node --check src/extension.js
echo "$file: $(wc -l <<< "$listed") files, $(($(stat -c %s "$file") / 1000)) kB"
