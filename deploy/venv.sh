#!/usr/bin/env bash
# Makes .venv: the pinned packages, PyTorch (its CPU build where one can be had) and Hermes itself, editable.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly torch_cpu_index=https://download.pytorch.org/whl/cpu
readonly venv=${HERMES_VENV:-.venv}

find_python() {
  local candidate
  for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3 python}; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  echo "Hermes needs Python 3.11 or newer, and none was found. Install it, or name it: make PYTHON=/path/to/python3" >&2
  exit 1
}

install() {
  "$venv/bin/python" -m pip install -qq --disable-pip-version-check "$@"
}

torch_cpu_index_answers() {
  [ "$(uname -sm)" = "Linux x86_64" ] || return 1
  "$venv/bin/python" - "$torch_cpu_index/torch/" >/dev/null 2>&1 <<'PYTHON'
import sys
import urllib.request

urllib.request.urlopen(sys.argv[1], timeout=3).close()
PYTHON
}

install_torch() {
  if "$venv/bin/python" -m pip freeze 2>/dev/null | grep -Eq "^$(grep -v '^#' deploy/torch.txt)(\+cpu)?$"; then
    return
  fi
  echo "Installing PyTorch …"
  if torch_cpu_index_answers && install --index-url "$torch_cpu_index" --no-deps --requirement deploy/torch.txt; then
    return
  fi
  install --requirement deploy/torch.txt
}

python=$(find_python)
if ! "$venv/bin/python" -c 'import pip' >/dev/null 2>&1; then
  echo "Making $venv with $("$python" --version) …"
  "$python" -m venv --clear "$venv" || {
    echo "Python cannot make a virtual environment here; on Debian or Ubuntu: apt-get install python3-venv" >&2
    exit 1
  }
fi
echo "Installing the packages of requirements.lock …"
install --no-deps --require-hashes --requirement requirements.lock
install_torch
install --no-deps --no-build-isolation --editable .
# So that the first start is quick. What is wrong with the settings is told by the start itself.
echo "Reading the examples that messages are routed by; once, for a minute or two …"
"$venv/bin/hermes-bot" routes warm 2>/dev/null || true
