#!/usr/bin/env bash
# Builds the binary for others: target/dist/enrich, stripped, and its symbols in enrich.debug beside it.
# A debugger, and the server itself for a backtrace, finds them there as long as both are in one folder.
# Needs objcopy (binutils).
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --profile dist --bin enrich --locked
cd target/dist
# What cargo has made may be split already, where there was nothing to build.
if readelf --sections --wide enrich | grep -q '\.debug_line'; then
    objcopy --only-keep-debug enrich enrich.debug
    objcopy --strip-all --add-gnu-debuglink=enrich.debug enrich enrich.stripped
    mv enrich.stripped enrich
fi
ls -l enrich enrich.debug
./enrich --version
