#!/usr/bin/env bash
# Reads and maps every file in a folder of real open data, which is not part of this repository.
# Prints for each file the source, what became of its records, and the first of them.
#
#   bash scripts/open-data-check.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo run --quiet --locked --package enrich-mapping --example open_data_check -- "${1:?FOLDER}"
