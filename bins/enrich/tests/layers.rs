//! Tests of the layers: which of our crates may depend on which, what crates must not use, and
//! which packages the product must use. docs/architecture.md has a picture of the dependencies. A
//! new dependency between crates is a design decision. Add it to the picture and to the table in
//! this file.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use imports::{circles, crate_folder, rust_files};
use limits::too_long;

#[path = "layers/imports.rs"]
mod imports;
#[path = "layers/limits.rs"]
mod limits;

/// The permitted dependencies, as arrows from crate to crate: each crate of the workspace, with the
/// crates of the workspace that it may depend on. Its tests and examples may depend on more.
const ARROWS: [(&str, &[&str]); 26] = [
    ("enrich-text", &[]),
    ("enrich-core", &["enrich-text"]),
    ("enrich-mapping", &["enrich-text"]),
    ("enrich-secrets", &[]),
    ("enrich-ledger", &["enrich-core", "enrich-secrets", "enrich-sign-in", "enrich-text"]),
    ("enrich-sign-in", &["enrich-core", "enrich-text"]),
    ("enrich-wire", &["enrich-core", "enrich-text"]),
    ("enrich-wire-v1", &["enrich-core", "enrich-text", "enrich-wire"]),
    ("enrich-wire-v2", &["enrich-core", "enrich-text", "enrich-wire"]),
    ("enrich-openapi", &["enrich-core", "enrich-text", "enrich-wire"]),
    (
        "enrich-dashboard",
        &["enrich-bulk", "enrich-core", "enrich-sign-in", "enrich-text", "enrich-wire"],
    ),
    (
        "enrich-store",
        &[
            "enrich-core",
            "enrich-ledger",
            "enrich-secrets",
            "enrich-store-directory",
            "enrich-store-ledger",
            "enrich-store-sqlite",
            "enrich-text",
        ],
    ),
    (
        "enrich-store-directory",
        &["enrich-core", "enrich-secrets", "enrich-store-sqlite", "enrich-text"],
    ),
    (
        "enrich-store-ledger",
        &[
            "enrich-core",
            "enrich-ledger",
            "enrich-secrets",
            "enrich-sign-in",
            "enrich-store-sqlite",
            "enrich-text",
        ],
    ),
    ("enrich-store-sqlite", &["enrich-core", "enrich-secrets"]),
    (
        "enrich-store-postgres",
        &["enrich-core", "enrich-ledger", "enrich-secrets", "enrich-sign-in", "enrich-text"],
    ),
    (
        "enrich-snapshot",
        &["enrich-core", "enrich-secrets", "enrich-store-directory", "enrich-store-sqlite"],
    ),
    ("enrich-import", &["enrich-core", "enrich-mapping", "enrich-text"]),
    ("enrich-bulk", &["enrich-core", "enrich-import", "enrich-text", "enrich-wire"]),
    ("enrich-testkit", &["enrich-core", "enrich-sign-in", "enrich-text"]),
    (
        "enrich-server",
        &[
            "enrich-bulk",
            "enrich-core",
            "enrich-dashboard",
            "enrich-openapi",
            "enrich-sign-in",
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
            "enrich-ledger",
            "enrich-mapping",
            "enrich-openapi",
            "enrich-server",
            "enrich-sign-in",
            "enrich-snapshot",
            "enrich-store",
            "enrich-store-postgres",
            "enrich-text",
            "enrich-wire",
        ],
    ),
    ("enrich", &["enrich-cli"]),
    (
        "enrich-bench",
        &[
            "enrich-core",
            "enrich-secrets",
            "enrich-store",
            "enrich-store-postgres",
            "enrich-testkit",
        ],
    ),
    (
        "enrich-torture",
        &[
            "enrich-core",
            "enrich-secrets",
            "enrich-sign-in",
            "enrich-store",
            "enrich-store-postgres",
            "enrich-testkit",
        ],
    ),
    ("enrich-eval", &["enrich-core", "enrich-import", "enrich-store", "enrich-text"]),
];

/// For each crate, the packages that it must never use, not even in its tests.
const NEVER: [(&str, &[&str]); 16] = [
    ("enrich-text", &["serde", "rusqlite", "actix-http", "tokio"]),
    ("enrich-ledger", &["rusqlite", "actix-http", "tokio", "tracing"]),
    ("enrich-core", &["serde", "serde_json", "rusqlite", "actix-http", "tokio", "tracing"]),
    ("enrich-sign-in", &["serde", "rusqlite", "actix-http", "tokio"]),
    ("enrich-wire", &["rusqlite", "actix-http", "enrich-store"]),
    ("enrich-wire-v1", &["rusqlite", "actix-http", "enrich-store", "enrich-wire-v2"]),
    ("enrich-wire-v2", &["rusqlite", "actix-http", "enrich-store", "enrich-wire-v1"]),
    ("enrich-openapi", &["rusqlite", "actix-http", "enrich-store"]),
    ("enrich-store-postgres", &["rusqlite", "actix-http", "enrich-store-sqlite"]),
    ("enrich-snapshot", &["rusqlite", "actix-http", "tokio-postgres"]),
    ("enrich-mapping", &["rusqlite", "actix-http", "tokio", "enrich-core"]),
    ("enrich-import", &["rusqlite", "actix-http"]),
    ("enrich-bulk", &["rusqlite", "actix-http", "enrich-store"]),
    ("enrich-dashboard", &["rusqlite", "actix-http", "actix-rt", "actix-web", "enrich-store"]),
    ("enrich-server", &["rusqlite", "clap", "enrich-store-postgres"]),
    ("enrich-cli", &["rusqlite", "actix-http", "actix-web", "tokio-postgres"]),
];

/// Packages that the product must use: for each of them, at least one crate in the binary `enrich`
/// depends on the package and uses it in `src`.
const GIVEN: [&str; 8] = [
    "actix-web",
    "async-trait",
    "parking_lot",
    "rusqlite",
    "serde",
    "serde_json",
    "serde_urlencoded",
    "thiserror",
];

/// Packages that the product's tests must use, as dev-dependencies.
const GIVEN_TO_TESTS: [&str; 1] = ["insta"];

/// Returns the workspace's crates, each with its dependencies and their kinds. `None` is the kind
/// of a normal dependency.
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

#[test]
fn the_product_uses_each_given_package() {
    let there = dependencies();
    let product = product(&there);
    let is_used = |package: &str, test_kind: Option<&str>, folders: &[&str]| {
        let word = format!("{}::", package.replace('-', "_"));
        product.iter().any(|name| {
            let declared = there[*name]
                .iter()
                .any(|(dependency, kind)| dependency == package && kind.as_deref() == test_kind);
            let home = crate_folder(name);
            let files = || folders.iter().map(|folder| home.join(folder)).flat_map(rust_files);
            declared && files().any(|(_, text)| text.contains(&word))
        })
    };
    for package in GIVEN {
        assert!(is_used(package, None, &["src"]), "the product does not use {package}");
    }
    for package in GIVEN_TO_TESTS {
        let is_used = is_used(package, Some("dev"), &["src", "tests"]);
        assert!(is_used, "the product's tests do not use {package}");
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let of_crate = |name: &'static str| {
        circles(name).into_iter().map(move |circle| format!("{name}: {}", circle.join(", ")))
    };
    let found: Vec<String> = ARROWS.iter().flat_map(|(name, _)| of_crate(name)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_file_and_no_function_of_the_product_is_too_long() {
    let there = dependencies();
    let found: Vec<String> = product(&there).into_iter().flat_map(too_long).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Returns the crates that are in the binary `enrich`, including the crate `enrich` itself.
fn product(there: &BTreeMap<String, Vec<(String, Option<String>)>>) -> BTreeSet<&str> {
    let mut product = BTreeSet::new();
    let mut open = vec!["enrich"];
    while let Some(name) = open.pop() {
        if let Some((name, uses)) = there.get_key_value(name)
            && product.insert(name.as_str())
        {
            let ordinary = uses.iter().filter(|(_, kind)| kind.is_none());
            open.extend(ordinary.map(|(dependency, _)| dependency.as_str()));
        }
    }
    product
}
