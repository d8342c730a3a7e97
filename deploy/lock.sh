#!/usr/bin/env bash
# Writes requirements.lock from pyproject.toml: every package with its hashes, for Python 3.11 to 3.13 on Linux and
# macOS. PyTorch and what it would bring for NVIDIA cards are left out; deploy/torch.txt pins PyTorch.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:-.venv/bin/python}
"$python" -m uv --version >/dev/null 2>&1 || "$python" -m pip install --quiet uv

whole=$(mktemp)
trap 'rm -f "$whole"' EXIT
"$python" -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --group dev \
  --constraints deploy/torch.txt --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
  pyproject.toml --output-file "$whole" "${@:2}" >/dev/null

{
  echo "# Written by \`make lock\` from pyproject.toml; do not edit. Installed with --no-deps --require-hashes."
  awk '/^[a-z0-9]/ { keep = $1 !~ /^(torch|triton|nvidia-[a-z0-9-]+|cuda-[a-z0-9-]+)==/ } keep' "$whole"
} > requirements.lock
