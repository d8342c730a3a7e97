#!/usr/bin/env bash
# Makes .venv-bench with the third-party yardsticks; where that cannot be, says so in one line and is content.
set -euo pipefail
cd "$(dirname "$0")"

readonly python=${1:?the Python to make it with} home=../../.venv-bench

for name in yardsticks yardsticks-arq; do
  [ "$home/$name/.installed" -nt "$name.txt" ] && continue
  if "$python" -m venv "$home/$name" >/dev/null 2>&1 &&
    "$home/$name/bin/python" -m pip install -qq --disable-pip-version-check --requirement "$name.txt" >/dev/null 2>&1; then
    touch "$home/$name/.installed"
  else
    rm -rf "${home:?}/$name"
    echo "The third-party yardsticks of $name.txt cannot be installed here; their lines are left out."
  fi
done
