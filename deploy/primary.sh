#!/bin/bash
# Runs once, in the first start of the primary: lets the standby in, and makes commits wait for it. They
# wait from the restart on that ends the first start.
set -euo pipefail

psql --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" \
    --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
CREATE ROLE replicator WITH REPLICATION LOGIN PASSWORD :'password';
ALTER SYSTEM SET synchronous_standby_names = 'standby';
ALTER SYSTEM SET wal_log_hints = on;
SQL
echo 'host replication replicator all scram-sha-256' >>"$PGDATA/pg_hba.conf"
