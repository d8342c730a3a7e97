#!/usr/bin/env bash
# Brings the JavaScript client of the workspace's tests (@slack/bolt) into .venv/js-client, at the locked versions.
# Without npm it does nothing: the tests that need the client are then skipped, and in the complete run they fail.
set -euo pipefail
cd "$(dirname "$0")/.."

source=tests/workspace/js
target=.venv/js-client
command -v npm >/dev/null || exit 0
if cmp -s "$source/package-lock.json" "$target/.installed"; then exit 0; fi

echo "Installing the JavaScript client that the tests use …"
mkdir -p "$target"
cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$target/"
(cd "$target" && npm ci --silent --no-progress --ignore-scripts)
cp "$source/package-lock.json" "$target/.installed"
