#!/bin/sh
# Plays the scenarios (or those named) with ../torchlint.vsix; pictures stay in ../dist/e2e.
set -eu
cd "$(dirname "$0")"

if [ ! -d node_modules/code-server/lib/vscode/node_modules/@vscode/spdlog/build ]; then
  echo "e2e: run e2e/prepare.sh first" >&2
  exit 2
fi
rm -rf ../dist/e2e
for scenario in ${*:-scenarios/*.mjs}; do
  node "$scenario"
done
