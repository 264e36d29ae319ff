#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh virtual environment with all that its adapters are for, and runs the tests.
# It is no part of `.ci/run`: it downloads about a gigabyte (SciPy, JAX, Dask, nutpie), three more with `--torch`.
#
#   crates/python/test.sh [--torch] [ARGUMENTS OF PYTEST…]
set -euo pipefail
cd "$(dirname "$0")"
packages=(numpy scipy jax 'dask[array]' distributed arviz nutpie matplotlib ipykernel nbclient pandas polars pyarrow pytest mypy)
if [ "${1:-}" = "--torch" ]; then
    packages+=(torch)
    shift
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
bin=$folder/venv/bin
"$bin/pip" install --quiet --disable-pip-version-check maturin
"$bin/maturin" build --release --locked --interpreter "$bin/python" --out "$folder/wheels"
"$bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" "$folder"/wheels/*.whl
# In a folder without the sources of the package, so that the wheel is what is tested.
cp -r tests "$folder/tests"
LAMBADA_REPOSITORY=$(cd ../.. && pwd) "$bin/python" -m pytest -c pyproject.toml --rootdir "$folder" "$folder/tests" "$@"
