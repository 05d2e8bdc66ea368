#!/usr/bin/env bash
# The acceptance test of many nodes, with the real things around them from Debian's packages: etcd, two
# Patroni members, HAProxy before the database and before three nodes, pgbouncer, pgBackRest. Their
# configurations are those of docs/guide/database-cluster.md and docs/guide/many-nodes.md. Calls go through
# HAProxy while primaries are killed, frozen and switched over and nodes are killed; a backup is restored to a
# moment. Afterwards every answer is compared with the ledger. Prints a table; fails if a promise is broken.
#
#   bash scripts/many-nodes.sh                    # 3 failovers
#   bash scripts/many-nodes.sh --failovers 20
#   bash scripts/many-nodes.sh --help             # all options
#
# Needs Linux, root or user namespaces, Rust (or --enrich), and on Debian:
#   apt-get install etcd-server etcd-client patroni haproxy pgbouncer pgbackrest postgresql openssl
set -euo pipefail
cd "$(dirname "$0")/.."

# Debian's Python has the packages that Patroni depends on.
python=/usr/bin/python3
missing=
for tool in etcd patroni patronictl haproxy pgbouncer pgbackrest openssl setpriv unshare; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
[[ -z $missing ]] || { echo "not installed:$missing"; exit 2; }
"$python" -c 'import yaml' || exit 2

# Named by the caller, or built.
options=("$@")
if [[ " $* " != *" --enrich "* && " $* " != *" --help "* ]]; then
    cargo build --locked --bin enrich
    options+=(--enrich "${CARGO_TARGET_DIR:-target}/debug/enrich")
fi

folder=$(mktemp -d -t many-nodes-XXXXXX)
chmod 0755 "$folder"

# In a PID namespace of its own: when it ends, however it ends, the kernel ends all servers. Bash is the
# first process there, because it reaps orphans, as PostgreSQL's servers are.
namespaces=(--pid --fork --kill-child --mount-proc)
[[ $(id -u) = 0 ]] || namespaces+=(--user --map-current-user)
export PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2016
setpriv --pdeathsig KILL unshare "${namespaces[@]}" bash -c '"$@"; exit $?' many-nodes \
    "$python" scripts/many_nodes/run.py --folder "$folder" "${options[@]}" &
servers=$!
trap 'kill -KILL "$servers" 2>/dev/null || true' INT TERM HUP
status=0
wait "$servers" || status=$?
wait "$servers" 2>/dev/null || true

if [[ $status = 1 || " $* " == *" --keep "* ]]; then
    echo "the logs are in $folder"
else
    rm -rf "$folder"
fi
exit "$status"
