#!/usr/bin/env bash
# Makes sure that the servers and the browser that tests use are here: installs them as root on Debian or Ubuntu,
# otherwise prints the one line that does it. Node.js is installed by root alone: without it a few tests are skipped.
set -euo pipefail

missing=()
command -v redis-server >/dev/null || missing+=(redis-server)
command -v postgres >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || missing+=(postgresql)
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
  missing+=(chromium)
if command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
fi
[ "${#missing[@]}" -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "The tests need: ${missing[*]}. Install them with your system's package manager, then run make test again." >&2
  exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "The tests need: ${missing[*]}. This installs them:" >&2
  echo "  sudo apt-get install --yes --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "Installing ${missing[*]} …"
apt-get update -qq
apt-get install --yes -qq --no-install-recommends "${missing[@]}"
