//! Checks that the file `docs/openapi.json` is up to date: it must equal the document that is made
//! from the tables of endpoints, the wire files (for each endpoint, the source file with its inputs
//! and its answer) and the recorded calls.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use enrich_openapi::{Calls, DOCUMENT, document};
use enrich_wire::{ApiVersion, Endpoint};

static API_VERSIONS: [&ApiVersion; 2] =
    [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    API_VERSIONS.iter().flat_map(|api_version| api_version.endpoints)
}

#[test]
fn the_committed_document_is_made_of_the_tables() {
    let calls = Calls::read(&root().join("fixtures/calls"), endpoints()).unwrap();
    let made = serde_json::to_string_pretty(&document(&API_VERSIONS, &calls)).unwrap() + "\n";
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(root().join("docs/openapi.json"), &made).unwrap();
    } else if made != DOCUMENT {
        let differs = made.lines().zip(DOCUMENT.lines()).position(|(made, there)| made != there);
        panic!(
            "docs/openapi.json is not what the tables make of it, from line {} on; renew it with \
             `UPDATE_OPENAPI=1 cargo test --package enrich-openapi --test committed`, and read \
             what changed: it is the promise",
            differs.unwrap_or_default() + 1
        );
    }
}
