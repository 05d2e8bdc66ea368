#!/usr/bin/env bash
# Imports the files of a folder in several random orders, and compares the companies: they must be the
# same each time. Then removes each source and imports it again.
# Needs: Rust, python3, a folder of files for `enrich import`. ENRICH is a built binary, if it is set.
#
#   bash scripts/import-orders.sh ../shared/data/wellknown/native [ORDERS] [SEED]
set -euo pipefail

files=$(realpath "${1:?the folder of files}")
orders=${2:-10}
seed=${3:-1}
cd "$(dirname "$0")/.."
if [[ -z ${ENRICH:-} ]]; then
    cargo build --release --bin enrich
    ENRICH=$PWD/target/release/enrich
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# companies FOLDER: the number of companies, and a hash over the profiles of all of them.
companies() {
    python3 - "$1/directory.sqlite" <<'PYTHON'
import hashlib, sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute("SELECT profile FROM subject WHERE kind = 1")
profiles = sorted(row[0] for row in rows)
print(len(profiles), hashlib.sha256("\n".join(profiles).encode()).hexdigest()[:16])
PYTHON
}

# source FILE: the name under which a file is imported.
source_of() {
    basename "$1" | cut -d. -f1
}

import() {
    "$ENRICH" import "$2" --source "$(source_of "$2")" --data "$1" --json >/dev/null
}

failures=0
expected=
compare() {
    printf '%-6s %s\n' "$1" "$2"
    expected=${expected:-$2}
    if [[ $2 != "$expected" ]]; then
        failures=$((failures + 1))
    fi
}

for order in $(seq "$orders"); do
    rm -rf "$folder/data"
    mapfile -t shuffled < <(find "$files" -type f -name '*.jsonl*' | sort \
        | shuf --random-source=<(yes "$seed $order"))
    for file in "${shuffled[@]}"; do
        import "$folder/data" "$file"
    done
    compare "$order" "$(companies "$folder/data")"
done
for file in "${shuffled[@]}"; do
    name=$(source_of "$file")
    "$ENRICH" source remove "$name" --data "$folder/data" >/dev/null
    import "$folder/data" "$file"
    compare "$name" "$(companies "$folder/data")"
done
if ((failures > 0)); then
    echo "$failures results differ from the first one"
    exit 1
fi
echo "all results are the same"
