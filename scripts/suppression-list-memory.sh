#!/usr/bin/env bash
# Loads suppression lists of 100,000 and of 1,000,000 random hashes, and prints how long each takes and
# the most memory that the command had. Fails if the longer list takes more than 64 MiB above the
# shorter one. Needs Linux.
#
#   scripts/suppression-list-memory.sh [ENRICH]
set -euo pipefail
enrich=$(realpath "${1:-target/release/enrich}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Loads a list and prints the command's largest resident size in KiB.
load() {
  local list=$1 most=0 now
  "$enrich" forget --list "$list" >"$list.out" &
  local command=$!
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$command/status" 2>/dev/null) && [ -n "$now" ]; do
    most=$now
    sleep 0.05
  done
  wait "$command"
  echo "$most"
}

echo '{"name":"Quill Ltd","domains":["quill.example"],"emails":["info@quill.example"]}' >quill.jsonl
"$enrich" import quill.jsonl >/dev/null
sizes=()
for entries in 100000 1000000; do
  # `head` ends the pipe, which is no failure.
  { od -An -v -tx1 -w16 /dev/urandom || true; } 2>/dev/null | tr -d ' ' 2>/dev/null | head -n "$entries" >"$entries.txt" || true
  begun=$(date +%s.%N)
  size=$(load "$entries.txt")
  seconds=$(awk -v begun="$begun" -v ended="$(date +%s.%N)" 'BEGIN { printf "%.1f", ended - begun }')
  grep -q "new entries *$entries" "$entries.txt.out"
  echo "$entries entries: $seconds s, $((size / 1024)) MiB"
  sizes+=("$size")
done
if [ $((sizes[1] - sizes[0])) -gt $((64 * 1024)) ]; then
  echo "the memory grows with the list" >&2
  exit 1
fi
