#!/bin/sh
# Installs the command `lambada`: downloads the archive of a release for this system, compares its checksum, and unpacks it.
#
#   curl -fsSL https://github.com/lambada-lang/lambada/releases/latest/download/install.sh | sh
#
# Options, behind `sh -s --` in a pipe: --version VERSION [default: the latest], --to FOLDER [default: ~/.local/bin], --target TARGET [default: this system].
# LAMBADA_RELEASES is another address of the releases.
set -eu

releases=${LAMBADA_RELEASES:-https://github.com/lambada-lang/lambada/releases}
version=
folder=${HOME:-}/.local/bin
target=

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    exit 1
}

usage() {
    printf 'usage: install.sh [--version VERSION] [--to FOLDER] [--target TARGET]\n'
}

# The system of this machine, in Rust's words.
this_target() {
    case $(uname -m) in
        x86_64 | amd64) processor=x86_64 ;;
        aarch64 | arm64) processor=aarch64 ;;
        *) fail "there is no archive for $(uname -m) processors; with Rust: cargo install lambada-cli" ;;
    esac
    case $(uname -s) in
        Darwin) printf '%s-apple-darwin' "$processor" ;;
        Linux)
            if (ldd --version 2>&1 || true) | grep -qi musl; then
                printf '%s-unknown-linux-musl' "$processor"
            else
                printf '%s-unknown-linux-gnu' "$processor"
            fi
            ;;
        *) fail "there is no archive for $(uname -s); with Rust: cargo install lambada-cli" ;;
    esac
}

download() {
    if command -v curl > /dev/null; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget > /dev/null; then
        wget -q -O "$2" "$1"
    else
        fail 'needs curl or wget'
    fi || fail "cannot download $1"
}

checksum() {
    if command -v sha256sum > /dev/null; then
        sha256sum "$1"
    elif command -v shasum > /dev/null; then
        shasum -a 256 "$1"
    else
        fail 'needs sha256sum or shasum'
    fi | cut -d ' ' -f 1
}

# The whole script is read before it runs, so that half a download does nothing.
main() {
    while [ $# -gt 0 ]; do
        case $1 in
            --version | --to | --target)
                [ $# -gt 1 ] || fail "$1 needs a value"
                case $1 in
                    --version) version=${2#v} ;;
                    --to) folder=$2 ;;
                    --target) target=$2 ;;
                esac
                shift 2
                ;;
            --help | -h)
                usage
                return
                ;;
            *)
                usage >&2
                fail "there is no option $1"
                ;;
        esac
    done
    [ -n "$target" ] || target=$(this_target)
    if [ -n "$version" ]; then
        place=$releases/download/v$version
    else
        place=$releases/latest/download
    fi
    archive=lambada-$target.tar.gz
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    download "$place/SHA256SUMS" "$work/SHA256SUMS"
    expected=$(sed -n "s/^\([0-9a-f]\{64\}\)[ *]*$archive\$/\1/p" "$work/SHA256SUMS")
    [ -n "$expected" ] || fail "$place has no $archive"
    download "$place/$archive" "$work/$archive"
    found=$(checksum "$work/$archive")
    [ "$found" = "$expected" ] || fail "$archive has the checksum $found instead of $expected; nothing was installed"
    tar -xzf "$work/$archive" -C "$work" || fail "cannot unpack $archive"
    mkdir -p "$folder" || fail "cannot make $folder; --to FOLDER names another"
    # A program that runs cannot be overwritten, but its name can be given to another file.
    cp "$work/lambada-$target/lambada" "$folder/.lambada.new" || fail "cannot write to $folder; --to FOLDER names another"
    chmod 755 "$folder/.lambada.new"
    mv -f "$folder/.lambada.new" "$folder/lambada"
    told=$("$folder/lambada" --version) || fail "$folder/lambada does not run here: the archives for Linux need glibc 2.28 or newer, or musl; with Rust: cargo install lambada-cli"
    printf '%s is in %s\n' "$told" "$folder"
    case :$PATH: in
        *:"$folder":*) ;;
        *) printf 'The search path has no %s: add it in the settings of your shell\n' "$folder" ;;
    esac
}

main "$@"
