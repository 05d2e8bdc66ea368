#!/usr/bin/env bash
# Tests the account page in a browser with the binary in target/debug. Takes a folder for pictures.
set -euo pipefail
pictures=${1:+$(realpath --canonicalize-missing "$1")}
cd "$(dirname "$0")"
command -v node >/dev/null || { echo "node 20 or newer is needed" >&2; exit 2; }
command -v "${CHROMIUM:-chromium}" >/dev/null || { apt-get update && apt-get install --yes chromium; }
[ -d node_modules/playwright-core ] || npm install --no-audit --no-fund --no-package-lock --silent
target=${CARGO_TARGET_DIR:-../../../../target}
CHROMIUM=$(command -v "${CHROMIUM:-chromium}") ENRICH_BINARY=$(realpath "$target/debug/enrich") \
    ENRICH_PICTURES=$pictures node walk.mjs
