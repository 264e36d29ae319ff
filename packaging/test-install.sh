#!/usr/bin/env bash
# Installs a release from a local server, as a user does from the real one, and tries each way to fail.
#
#   packaging/test-install.sh BINARY
set -euo pipefail
cd "$(dirname "$0")"
[ $# -eq 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 1; }
binary=$1
target=$(uname -m)-unknown-linux-gnu
version=$("$binary" --version | cut -d ' ' -f 2)
scratch=$(mktemp -d)
server=
trap 'kill "$server" 2> /dev/null || true; rm -rf "$scratch"' EXIT
for place in "latest/download" "download/v$version"; do
    mkdir -p "$scratch/releases/$place"
    ./archive.sh "$target" "$binary" "$scratch/releases/$place"
    (cd "$scratch/releases/$place" && sha256sum lambada-* > SHA256SUMS)
done
mkdir -p "$scratch/releases/download/v0.0.1"
cp "$scratch/releases/latest/download/SHA256SUMS" "$scratch/releases/download/v0.0.1/"
echo broken > "$scratch/releases/download/v0.0.1/lambada-$target.tar.gz"
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$scratch/releases" > "$scratch/log" 2>&1 &
server=$!
for _ in $(seq 50); do
    port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$scratch/log")
    [ -n "$port" ] && break
    sleep 0.1
done
export LAMBADA_RELEASES=http://127.0.0.1:$port

check() { # NAME, EXPECTED TEXT, COMMAND…: the command fails if the text begins with `install.sh:`
    local name=$1 expected=$2 output code=0
    shift 2
    output=$("$@" 2>&1) || code=$?
    case $expected in
        install.sh:*) [ "$code" -eq 1 ] ;;
        *) [ "$code" -eq 0 ] ;;
    esac && [[ $output == *"$expected"* ]] || { printf 'FAILED %s (%s): %s\n' "$name" "$code" "$output" >&2; exit 1; }
    printf 'ok %s\n' "$name"
}

shells=(sh)
for shell in dash "bash --posix" "busybox sh"; do
    command -v "${shell%% *}" > /dev/null && shells+=("$shell")
done
for shell in "${shells[@]}"; do
    read -ra words <<< "$shell"
    rm -rf "${scratch:?}/user"
    check "latest, $shell" "lambada $version is in $scratch/user/.local/bin" env HOME="$scratch/user" "${words[@]}" install.sh
done
check 'the command runs' "$version" "$scratch/user/.local/bin/lambada" --version
check 'through a pipe' "is in $scratch/to" sh -c "cat install.sh | sh -s -- --to '$scratch/to'"
check 'over a command that is there, with a version' "is in $scratch/to" sh install.sh --to "$scratch/to" --version "v$version"
check 'a broken archive' 'install.sh: lambada-'"$target"'.tar.gz has the checksum' sh install.sh --to "$scratch/broken" --version 0.0.1
[ ! -e "$scratch/broken" ]
check 'no such version' 'install.sh: cannot download' sh install.sh --to "$scratch/broken" --version 9.9.9
check 'no such target' 'has no lambada-riscv64' sh -c 'sh install.sh --target riscv64 || true'
check 'no such option' 'there is no option --x' sh -c 'sh install.sh --x || true'
check 'a folder that cannot be made' 'cannot make' sh -c "sh install.sh --to /dev/null/x || true"
