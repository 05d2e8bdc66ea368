#!/bin/bash
# Copies the primary in the first start, then follows it.
set -euo pipefail

chmod 0700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    pg_basebackup --pgdata="$PGDATA" --wal-method=stream --write-recovery-conf \
        --create-slot --slot=standby \
        --dbname="host=primary user=replicator application_name=standby"
fi
exec postgres
