//! Tests of a node's start: which snapshot the node then answers from.

use std::fs;

use enrich_snapshot::{SNAPSHOTS, SnapshotError};

use crate::world::World;

#[test]
fn a_node_does_not_start_before_a_snapshot_is_published() {
    let world = World::new();
    let error = world.try_node("node").map(|node| node.live()).unwrap_err();
    assert!(matches!(error, SnapshotError::NonePublished), "{error}");
}

#[test]
fn a_node_starts_with_a_snapshot_that_it_has() {
    let world = World::new();
    world.import_company("quill");
    world.publish();
    drop(world.node("node"));
    world.import_company("inkwell");
    world.publish();
    // The file of snapshot 2 is renamed, so that the node cannot fetch it.
    fs::rename(world.published_file(2), world.published_file(9)).unwrap();
    let node = world.node("node");
    assert_eq!(node.live(), 1);
    assert!(node.company("quill").is_some());
    fs::rename(world.published_file(9), world.published_file(2)).unwrap();
    node.wait_for(2);
    assert!(node.company("inkwell").is_some());
}

#[test]
fn a_damaged_snapshot_in_the_folder_is_fetched_again() {
    let world = World::new();
    world.import_company("quill");
    world.publish();
    drop(world.node("node"));
    let path = world.settings("node").data.join(SNAPSHOTS).join("directory-1.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let node = world.node("node");
    assert!(node.company("quill").is_some());
    drop(node);
    fs::write(&path, "short").unwrap();
    assert!(world.node("node").company("quill").is_some());
}

#[test]
fn a_first_snapshot_that_cannot_be_fetched_is_an_error() {
    let world = World::new();
    world.publish();
    fs::remove_file(world.published_file(1)).unwrap();
    let error = world.try_node("node").map(|node| node.live()).unwrap_err();
    assert!(error.to_string().contains("directory-1.sqlite.zst"), "{error}");
}
