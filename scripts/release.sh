#!/usr/bin/env bash
# Builds the binary for distribution: target/dist/enrich, stripped, with its symbols in enrich.debug.
# A debugger, and the server itself for a backtrace, finds them if both files are in the same folder.
# Needs objcopy (binutils).
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --profile dist --bin enrich --locked
cd target/dist
# If cargo had nothing to build, the binary is already stripped.
if readelf --sections --wide enrich | grep -q '\.debug_line'; then
    objcopy --only-keep-debug enrich enrich.debug
    objcopy --strip-all --add-gnu-debuglink=enrich.debug enrich enrich.stripped
    mv enrich.stripped enrich
fi
ls -l enrich enrich.debug
./enrich --version
