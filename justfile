# Tasks for development. `just` lists them.

_:
    @just --list

# Serves the sample companies from a temporary folder and prints a key.
demo *ARGS:
    cargo run --release --bin enrich -- demo {{ARGS}}

# Builds target/dist/enrich, stripped, with its symbols in target/dist/enrich.debug; needs binutils.
release:
    bash scripts/release.sh

# Runs all tests, as in the README.
test:
    cargo test --workspace

# Runs all tests faster; needs cargo-nextest.
nextest *ARGS:
    cargo nextest run --workspace {{ARGS}}

# Checks formatting, clippy and rustdoc, with warnings denied.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Checks licences and sources of dependencies, and which crates may use which.
deny:
    cargo deny check bans licenses sources

# Checks everything before a change lands.
ci:
    bash .ci/run

# Runs the property tests with many more inputs: CASES for each property.
fuzz CASES="1000000":
    PROPTEST_CASES={{CASES}} cargo test --release --workspace properties

# Compares a server with the OpenAPI document, with 20,000 requests that it allows or forbids, and a
# client generated from it. Needs python3 and its package index.
openapi-check *ARGS:
    bash scripts/openapi-check.sh {{ARGS}}

# Tests the account page in a real browser; PICTURES is a folder for pictures of every page. Installs
# Chromium if it is missing, which needs root on Debian and similar systems.
browser PICTURES="":
    cargo build --bin enrich
    bash bins/enrich/tests/browser/run.sh {{PICTURES}}

# Loads suppression lists of two lengths and compares the memory.
suppression-memory:
    cargo build --release --bin enrich
    bash scripts/suppression-list-memory.sh

# Imports public companies from a data folder outside the repository and looks up a few.
real DATA:
    bash scripts/real-data.sh {{DATA}}

# Imports the files of a folder in ten random orders, and compares the companies.
import-orders FILES:
    bash scripts/import-orders.sh {{FILES}}

# Looks up the names, pages, domains and addresses of a data set and scores the answers, without and
# with the set's aliases. The set is not part of this repository; its score.py needs python3. See
# docs/matching.md.
eval DIR:
    cargo build --release --bin enrich-eval
    target/release/enrich-eval run {{DIR}} --data target/eval --out target/eval-out
    target/release/enrich-eval run {{DIR}} --aliases --data target/eval-aliases --out target/eval-aliases-out

# Asks for well-known organisations by name, in a directory made of the sources in DIR/native, and
# counts the answers by kind. The set is not part of this repository. See docs/matching.md.
eval-known DIR *ARGS:
    cargo build --release --bin enrich-eval
    target/release/enrich-eval known {{DIR}} --data target/eval-known {{ARGS}}

# Measures the service against a bare handler, in turn in one run; installs wrk if it is missing,
# which needs root on Debian and similar systems. See bins/enrich-bench.
bench *ARGS:
    command -v wrk > /dev/null || { apt-get update && apt-get install --yes wrk; }
    cargo build --release --bin enrich --bin enrich-bench
    target/release/enrich-bench run --scratch target/bench {{ARGS}}

# Measures look-ups by name, with 70 thousand, 1 and 10 million companies, and how a flood of them slows
# down other look-ups.
bench-names *ARGS:
    command -v wrk > /dev/null || { apt-get update && apt-get install --yes wrk; }
    cargo build --release --bin enrich --bin enrich-bench
    target/release/enrich-bench names --scratch target/bench {{ARGS}}
    target/release/enrich-bench flood --scratch target/bench

# Tests the ledger with kills, power cuts, full disks and damaged files; needs root and strace.
torture *ARGS="all":
    cargo build --release --bin enrich --bin enrich-torture
    target/release/enrich-torture {{ARGS}}

# Tests the ledger in PostgreSQL with failovers, killed nodes and cut connections; needs PostgreSQL's
# server programs.
torture-pg:
    cargo build --release --bin enrich-torture
    target/release/enrich-torture pg failover --rounds 100
    target/release/enrich-torture pg failover --rounds 20 --asynchronous
    target/release/enrich-torture pg node --rounds 100
    target/release/enrich-torture pg cut --rounds 60

# Tests many nodes with the real things around them: Patroni, HAProxy, pgbouncer, pgBackRest. Needs root and
# Debian's packages; see docs/guide/many-nodes.md.
many-nodes *ARGS:
    bash scripts/many-nodes.sh {{ARGS}}
