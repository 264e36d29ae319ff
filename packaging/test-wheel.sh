#!/usr/bin/env bash
# Installs a wheel or a source distribution into a fresh virtual environment, outside of the repository, and tries the module and the command.
#
#   packaging/test-wheel.sh FILE
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 1; }
file=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"${PYTHON:-python3}" -m venv venv
# On Windows the folder has another name.
if [ -d venv/Scripts ]; then bin=venv/Scripts; else bin=venv/bin; fi
"$bin/python" -m pip install --quiet --disable-pip-version-check "$file"
cat > wave.lam <<'PROGRAM'
import "std/special"
def wave [n] (k : real) (x : [n]real) : real = sum (for a in x => sin (k * a)) + special.erf 0.0
PROGRAM
expect() { # EXPECTED TEXT, COMMAND…
    local expected=$1 output
    shift
    output=$("$@" 2>&1) || { printf '%s failed: %s\n' "$*" "$output" >&2; exit 1; }
    [[ $output == *"$expected"* ]] || { printf '%s: %s instead of %s\n' "$*" "$output" "$expected" >&2; exit 1; }
    printf 'ok %s\n' "$*"
}
version=$("$bin/python" -c 'import lambada; print(lambada.__version__)')
expect "lambada $version" "$bin/lambada" --version
expect "lambada $version" "$bin/python" -m lambada --version
expect 'gradient k = 2.0' "$bin/python" -m lambada grad wave.lam wave k=0 'x=[0.5,1.5]'
expect '[2.]' "$bin/python" -c 'import lambada; print(lambada.compile("def f [n] (x : [n]real) : real = sum (x * x)").f.grad([1.0], wrt="x"))'
# A command line with a mistake is a message and a code, not a traceback.
code=0
output=$("$bin/lambada" run wave.lam nothing 2>&1) || code=$?
[[ $code == 1 && $output == *error* && $output != *Traceback* ]] || { printf '%s: %s\n' "$code" "$output" >&2; exit 1; }
echo 'ok a mistake is a message'
