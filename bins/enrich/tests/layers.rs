//! The layers: which crate of ours may depend on which, and what none but one may use.
//!
//! The picture is in docs/architecture.md. A new arrow is a decision: it goes there and here.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Each crate with those of ours that it may use. Tests and examples may use more.
const ARROWS: [(&str, &[&str]); 17] = [
    ("enrich-text", &[]),
    ("enrich-core", &["enrich-text"]),
    ("enrich-wire", &["enrich-core", "enrich-text"]),
    ("enrich-wire-v1", &["enrich-core", "enrich-text", "enrich-wire"]),
    ("enrich-wire-v2", &["enrich-core", "enrich-text", "enrich-wire"]),
    ("enrich-openapi", &["enrich-core", "enrich-text", "enrich-wire"]),
    ("enrich-dashboard", &["enrich-bulk", "enrich-core", "enrich-text", "enrich-wire"]),
    ("enrich-store", &["enrich-core", "enrich-text"]),
    ("enrich-import", &["enrich-core", "enrich-text"]),
    ("enrich-bulk", &["enrich-core", "enrich-import", "enrich-text", "enrich-wire"]),
    ("enrich-testkit", &["enrich-core", "enrich-text"]),
    (
        "enrich-server",
        &[
            "enrich-bulk",
            "enrich-core",
            "enrich-dashboard",
            "enrich-openapi",
            "enrich-wire",
            "enrich-wire-v1",
            "enrich-wire-v2",
        ],
    ),
    (
        "enrich-cli",
        &[
            "enrich-bulk",
            "enrich-core",
            "enrich-dashboard",
            "enrich-import",
            "enrich-openapi",
            "enrich-server",
            "enrich-store",
            "enrich-text",
            "enrich-wire",
        ],
    ),
    ("enrich", &["enrich-cli"]),
    ("enrich-bench", &["enrich-core", "enrich-store", "enrich-testkit"]),
    ("enrich-torture", &["enrich-core", "enrich-store", "enrich-testkit"]),
    ("enrich-eval", &["enrich-core", "enrich-import", "enrich-store", "enrich-text"]),
];

/// What a crate must never use, not even in its tests.
const NEVER: [(&str, &[&str]); 11] = [
    ("enrich-text", &["serde", "rusqlite", "actix-http", "tokio"]),
    ("enrich-core", &["serde", "serde_json", "rusqlite", "actix-http", "tokio", "tracing"]),
    ("enrich-wire", &["rusqlite", "actix-http", "enrich-store"]),
    ("enrich-wire-v1", &["rusqlite", "actix-http", "enrich-store", "enrich-wire-v2"]),
    ("enrich-wire-v2", &["rusqlite", "actix-http", "enrich-store", "enrich-wire-v1"]),
    ("enrich-openapi", &["rusqlite", "actix-http", "enrich-store"]),
    ("enrich-import", &["rusqlite", "actix-http"]),
    ("enrich-bulk", &["rusqlite", "actix-http", "enrich-store"]),
    ("enrich-dashboard", &["rusqlite", "actix-http", "actix-rt", "actix-web", "enrich-store"]),
    ("enrich-server", &["rusqlite", "clap"]),
    ("enrich-cli", &["rusqlite", "actix-http", "actix-web"]),
];

/// The workspace's crates, each with its dependencies and their kinds (`None` is an ordinary one).
fn dependencies() -> BTreeMap<String, Vec<(String, Option<String>)>> {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let dependencies = dependencies
                .map(|dependency| {
                    (text(&dependency["name"]), dependency["kind"].as_str().map(str::to_owned))
                })
                .collect();
            (text(&package["name"]), dependencies)
        })
        .collect()
}

#[test]
fn every_crate_stands_in_the_picture() {
    let known: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    let there = dependencies();
    assert_eq!(there.keys().map(String::as_str).collect::<BTreeSet<_>>(), known);
}

#[test]
fn no_crate_uses_one_above_it() {
    let there = dependencies();
    for (name, allowed) in ARROWS {
        let ours = there[name]
            .iter()
            .filter(|(dependency, kind)| kind.is_none() && dependency.starts_with("enrich"));
        for (dependency, _) in ours {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{name} may not depend on {dependency}: see docs/architecture.md"
            );
        }
    }
}

#[test]
fn no_layer_uses_what_it_must_not_know() {
    let there = dependencies();
    for (name, forbidden) in NEVER {
        for (dependency, kind) in &there[name] {
            assert!(
                !forbidden.contains(&dependency.as_str()),
                "{name} may not depend on {dependency} ({kind:?}): see docs/architecture.md"
            );
        }
    }
}
