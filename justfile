# The commands of a working day. `just` lists them.

_:
    @just --list

# Serves the fixture companies from a throw-away folder and prints a key to try it with.
demo *ARGS:
    cargo run --release --bin enrich -- demo {{ARGS}}

# Builds target/dist/enrich, stripped, with its symbols in target/dist/enrich.debug; needs binutils.
release:
    bash scripts/release.sh

# Every test, as the README has it.
test:
    cargo test --workspace

# Every test, faster, where cargo-nextest is installed.
nextest *ARGS:
    cargo nextest run --workspace {{ARGS}}

# Formatting, clippy and rustdoc, warnings denied.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Which licences and crates we depend on, and who may use what.
deny:
    cargo deny check bans licenses sources

# All that is checked before a change lands.
ci:
    bash .ci/run

# Property tests with many more inputs: CASES for each property.
fuzz CASES="1000000":
    PROPTEST_CASES={{CASES}} cargo test --release --workspace properties

# Holds a server against the interface's document, with 20,000 requests that it allows or forbids, and
# asks three endpoints through a client made of it. Needs python3 and its package index.
openapi-check *ARGS:
    bash scripts/openapi-check.sh {{ARGS}}

# Walks the account page in a real browser; PICTURES is a folder for pictures of every page. Installs
# Chromium where it is missing, which needs root on Debian and its like.
browser PICTURES="":
    cargo build --bin enrich
    bash bins/enrich/tests/browser/run.sh {{PICTURES}}

# Loads public companies from a folder of data outside the repository and asks for a few.
real DATA:
    bash scripts/real-data.sh {{DATA}}

# Asks the names, pages, domains and addresses of a data set and scores the answers, without and with
# the set's aliases. The set is not part of this repository; its score.py needs python3. See
# docs/matching.md.
eval DIR:
    cargo build --release --bin enrich-eval
    target/release/enrich-eval run {{DIR}} --data target/eval --out target/eval-out
    target/release/enrich-eval run {{DIR}} --aliases --data target/eval-aliases --out target/eval-aliases-out

# Measures the service against a bare handler, in turn in one run; installs wrk where it is missing,
# which needs root on Debian and its like. See bins/enrich-bench.
bench *ARGS:
    command -v wrk > /dev/null || { apt-get update && apt-get install --yes wrk; }
    cargo build --release --bin enrich --bin enrich-bench
    target/release/enrich-bench run --scratch target/bench {{ARGS}}

# Measures name look-ups by themselves, at 70 thousand, 1 and 10 million companies, and what a flood of
# them does to others.
bench-names *ARGS:
    command -v wrk > /dev/null || { apt-get update && apt-get install --yes wrk; }
    cargo build --release --bin enrich --bin enrich-bench
    target/release/enrich-bench names --scratch target/bench {{ARGS}}
    target/release/enrich-bench flood --scratch target/bench

# Kills, cuts the power of, fills and damages what the ledger stands on; needs root and strace.
torture *ARGS="all":
    cargo build --release --bin enrich --bin enrich-torture
    target/release/enrich-torture {{ARGS}}
