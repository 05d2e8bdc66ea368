#!/usr/bin/env bash
# Compares a running server with the OpenAPI document: schemathesis sends requests that the document
# allows and forbids, and a client generated from the document calls three endpoints.
# Needs: Rust, python3 with venv, and the Python package index (scripts/openapi/requirements.txt).
#
#   bash scripts/openapi-check.sh            # 20,000 cases or more
#   bash scripts/openapi-check.sh 5 1        # 5 of each kind and endpoint, at least 1 in all
#
# ENRICH_SEED repeats a run; set it to the seed that the run printed.
set -euo pipefail

examples=${1:-600}
least=${2:-20000}
cd "$(dirname "$0")/.."
root=$PWD
cargo build --bin enrich
enrich=$root/target/debug/enrich

venv=$root/target/openapi-venv
[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r scripts/openapi/requirements.txt
export PYTHONDONTWRITEBYTECODE=1 PATH=$venv/bin:$PATH

folder=$(mktemp -d)
server=
finish() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT
export ENRICH_DATA=$folder/data

step() { printf '\n== %s\n' "$*"; }

step "The document is OpenAPI 3.1"
python -m openapi_spec_validator docs/openapi.json

step "A server with the fixture companies, and an account with credits"
"$enrich" import fixtures/directory/*.jsonl --json
ENRICH_KEY=$("$enrich" account create Check --credits 1000000000 --json |
    python -c 'import json, sys; print(json.load(sys.stdin)["key"])')
export ENRICH_KEY
"$enrich" serve --listen 127.0.0.1:0 >"$folder/address" 2>"$folder/log" &
server=$!
for _ in {1..100}; do
    address=$(grep --only-matching --max-count=1 'http://[^ ]*' "$folder/address" 2>/dev/null || true)
    [[ -z $address ]] || break
    sleep 0.1
done
[[ -n $address ]] || { cat "$folder/log"; exit 1; }
python - "$address/openapi.json" <<'PYTHON'
import sys, urllib.request
served = urllib.request.urlopen(sys.argv[1]).read()
assert served == open("docs/openapi.json", "rb").read(), "the server serves another document"
print("ok    it serves docs/openapi.json")
PYTHON

step "Requests that the document allows, and others"
# In a temporary folder, because it leaves caches. With one worker: with two, CPython 3.11 sometimes
# fails in `ast.parse`, whose recursion depth all threads share.
(cd "$folder" && SCHEMATHESIS_HOOKS=$root/scripts/openapi/hooks.py \
    schemathesis --config-file "$root/scripts/openapi/schemathesis.toml" run "$address/openapi.json" \
    --mode all --max-examples "$examples" --seed "${ENRICH_SEED:-$RANDOM}" \
    --generation-database none --workers 1) | tee "$folder/cases"
cases=$(sed -n 's/^ *\([0-9]*\) generated.*/\1/p' "$folder/cases")
[[ ${cases:-0} -ge $least ]] || { echo "only ${cases:-0} cases; $least were wanted"; exit 1; }
python - "$address/metrics" <<'PYTHON'
import collections, re, sys, urllib.request
lines = urllib.request.urlopen(sys.argv[1]).read().decode().splitlines()
counted = collections.Counter()
for line in lines:
    found = re.match(r'enrich_requests_total\{.*status="(\d+)".*\} (\d+)', line)
    if found:
        counted[found[1]] += int(found[2])
assert counted and not any(status.startswith("5") for status in counted), counted
answers = ", ".join(f"{status}: {count}" for status, count in sorted(counted.items()))
print(f"ok    no fault of the server; answers by status: {answers}")
PYTHON

step "A client generated from the document"
openapi-python-client generate --path docs/openapi.json --meta none \
    --output-path "$folder/enrich_client" >"$folder/made" 2>&1 || { cat "$folder/made"; exit 1; }
PYTHONPATH=$folder python scripts/openapi/client.py "$address" "$ENRICH_KEY"
