//! Tests of snapshots that a node must not answer from, such as damaged ones.

use std::fs;
use std::path::{Path, PathBuf};

use enrich_core::Timestamp;
use enrich_core::port::snapshots::SnapshotNumber;
use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_snapshot::{PublishFrom, file_name, publish};
use enrich_store::Store;
use enrich_store_directory::Versions;

use crate::world::{Node, World, checks, wait_until};

/// Returns a node that answers from snapshot 1, and the path of snapshot 2. Snapshot 2 was
/// published to a folder that the node does not read.
fn with_second() -> (World, Node, PathBuf) {
    let world = World::new();
    world.import_company("quill");
    world.publish();
    let node = world.node("node");
    world.import_company("inkwell");
    let file = publish_elsewhere(&world);
    (world, node, file)
}

/// Publishes to a folder that no node reads. Returns the path of the published file.
fn publish_elsewhere(world: &World) -> PathBuf {
    let location = world.folder.path().join("elsewhere");
    fs::create_dir_all(&location).unwrap();
    let from =
        PublishFrom { data: world.data(), location: location.clone(), at: Timestamp::UNIX_EPOCH };
    let snapshot = publish(&*world.list, &from).unwrap();
    location.join(file_name(snapshot.number))
}

/// Asserts that the node reports a problem whose text contains `words`, and still answers from
/// snapshot 1. Then publishes snapshot 3, which is good, and asserts that the node answers from
/// it.
fn stays(world: &World, node: &Node, words: &str) {
    wait_until(|| node.directory.status().problem.is_some_and(|problem| problem.contains(words)));
    assert_eq!(node.live(), 1);
    assert_eq!(node.directory.status().in_use, Some(SnapshotNumber(2)));
    assert!(node.company("quill").is_some() && node.company("inkwell").is_none());
    assert_eq!(node.files(), ["directory-1.sqlite", "snapshots.lock"]);
    world.import_company("feather");
    world.publish();
    node.wait_for(3);
    assert!(node.company("feather").is_some());
    assert_eq!(node.directory.status().problem, None);
}

fn expand(path: &Path) -> Vec<u8> {
    zstd::decode_all(fs::File::open(path).unwrap()).unwrap()
}

fn compress(path: &Path, bytes: &[u8]) {
    fs::write(path, zstd::encode_all(bytes, 1).unwrap()).unwrap();
}

#[test]
fn a_file_that_is_not_there_is_waited_for() {
    let (world, node, file) = with_second();
    wait_until(|| node.directory.status().problem.is_some());
    assert_eq!(node.live(), 1);
    fs::rename(file, world.published_file(2)).unwrap();
    node.wait_for(2);
}

#[test]
fn a_file_with_another_content_is_refused() {
    let (world, node, file) = with_second();
    let mut bytes = expand(&file);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    compress(&world.published_file(2), &bytes);
    stays(&world, &node, "not as it was published");
}

#[test]
fn a_short_file_is_refused() {
    let (world, node, file) = with_second();
    let bytes = fs::read(&file).unwrap();
    fs::write(world.published_file(2), &bytes[..bytes.len() / 2]).unwrap();
    stays(&world, &node, "not complete");
}

#[test]
fn a_file_that_is_too_long_is_refused() {
    let (world, node, file) = with_second();
    let mut bytes = expand(&file);
    bytes.resize(bytes.len() + 4096, 0);
    compress(&world.published_file(2), &bytes);
    stays(&world, &node, "longer");
}

#[test]
fn a_file_that_is_no_archive_is_refused() {
    let (world, node, _) = with_second();
    fs::write(world.published_file(2), "not an archive").unwrap();
    stays(&world, &node, "not as it was published");
}

#[test]
fn a_snapshot_with_another_schema_is_refused_before_it_is_copied() {
    let (world, node, file) = with_second();
    world.list.change(SnapshotNumber(2), |snapshot| snapshot.schema -= 1);
    fs::rename(file, world.published_file(2)).unwrap();
    let older = Versions::known().schema - 1;
    stays(&world, &node, &format!("schema {older}"));
}

#[test]
fn a_snapshot_that_was_derived_by_other_rules_is_refused() {
    let (world, node, file) = with_second();
    world.list.change(SnapshotNumber(2), |snapshot| snapshot.derived_by = 1000);
    fs::rename(file, world.published_file(2)).unwrap();
    stays(&world, &node, "derived by rules 1000");
}

#[test]
fn a_snapshot_with_another_secret_than_the_nodes_is_refused() {
    let world = World::new();
    world.import_company("quill");
    world.publish();
    let node = world.node("node");
    // The machine that imports (`world.data()`) and the shared store (`world.list`) get a second
    // secret, which the node does not have.
    let key = world.data().join(SECRET_FILE);
    let text = fs::read_to_string(&key).unwrap();
    fs::write(&key, format!("{text}2 {}\n", "5a".repeat(32))).unwrap();
    drop(Store::open(world.data()).unwrap());
    *world.list.secrets.lock() = checks(&Secrets::load(&key).unwrap());
    world.import_company("inkwell");
    world.publish();
    wait_until(|| node.directory.status().problem.is_some());
    let problem = node.directory.status().problem.unwrap();
    assert!(problem.contains("another secret 2"), "{problem}");
    assert_eq!(node.live(), 1);
    assert!(node.company("quill").is_some());
    // A node that has the second secret answers from the new snapshot.
    assert!(world.node("other").company("inkwell").is_some());
}
