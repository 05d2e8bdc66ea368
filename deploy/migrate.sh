#!/bin/sh
# Makes the tables of the database, and gives the folder of each node the same secret.key.
#
# usage: migrate.sh FOLDER...; ENRICH_STORE names the database
set -eu

first=$1
chmod 0700 "$@"
enrich store migrate --data "$first"
for folder in "$@"; do
    [ -e "$folder/secret.key" ] || cp -p "$first/secret.key" "$folder/secret.key"
    chown -R enrich: "$folder"
done
