#!/usr/bin/env bash
# Imports every file in a folder of real open data, which is not part of this repository, as a dry
# run. Prints for each file the source, the first records, what became of the others, and at the end
# how many files could not be imported.
#
#   bash scripts/open-data-check.sh FOLDER
set -euo pipefail
folder=$(realpath "${1:?FOLDER}")
cd "$(dirname "$0")/.."
cargo build --quiet --locked --package enrich
program=${CARGO_TARGET_DIR:-target}/debug/enrich
failed=0
while IFS= read -r file; do
    printf '\n== %s\n' "${file#"$folder"/}"
    "$program" import "$file" --dry-run=2 2>&1 || { failed=$((failed + 1)); echo "NOT IMPORTED"; }
done < <(find "$folder" -type f ! -name '*.md' | sort)
printf '\n%s files were not imported\n' "$failed"
