//! Checks that nodes change to another snapshot while they answer look-ups.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use enrich_core::port::snapshots::{SnapshotNumber, Snapshots};
use pollster::block_on;

use crate::world::{World, a_company, wait_until};

#[test]
fn every_node_answers_from_the_newest_snapshot_and_names_its_revision() {
    let world = World::new();
    world.import_company("quill");
    let first = world.publish();
    let nodes = [world.node("one"), world.node("two")];
    for node in &nodes {
        assert_eq!(node.company("quill").unwrap().1, first.revision);
        assert_eq!(node.company("inkwell"), None);
    }
    world.import_company("inkwell");
    let second = world.publish();
    assert!(second.revision > first.revision);
    for node in &nodes {
        node.wait_for(2);
        assert_eq!(node.company("inkwell").unwrap().1, second.revision);
        let status = node.directory.status();
        assert_eq!((status.in_use, status.problem), (Some(SnapshotNumber(2)), None));
    }
    assert_eq!(world.list.noted(), SnapshotNumber(2));
}

#[test]
fn no_look_up_or_status_fails_while_snapshots_are_swapped() {
    let world = World::new();
    world.import((0..300).map(|number| a_company(&format!("quill{number}"))).collect());
    world.publish();
    let node = world.node("node");
    let (is_over, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for first in 0..3 {
            let (node, is_over, answered) = (&node, &is_over, &answered);
            scope.spawn(move || {
                let mut number = first;
                while !is_over.load(Ordering::Relaxed) {
                    number = (number + 7) % 300;
                    let name = format!("quill{number}");
                    let (company, _) = node.company(&name).unwrap_or_else(|| panic!("no {name}"));
                    assert_eq!(company.name, name);
                    assert_eq!(node.company("inkwell0"), None);
                    assert_eq!(node.directory.status().problem, None);
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for number in 2..6 {
            world.import_company(&format!("feather{number}"));
            world.publish();
            node.wait_for(number);
            let before = answered.load(Ordering::Relaxed);
            wait_until(|| answered.load(Ordering::Relaxed) > before + 20);
        }
        for number in [4, 5, 4, 5] {
            assert!(block_on(world.list.answer_from(SnapshotNumber(number))).unwrap());
            node.wait_for(number);
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_node_goes_back_to_a_snapshot_that_it_has() {
    let world = World::new();
    for (index, name) in ["quill", "inkwell", "feather"].iter().enumerate() {
        world.import_company(name);
        world.publish();
        if index == 0 {
            drop(world.node("node"));
        }
    }
    let node = world.node("node");
    node.wait_for(3);
    // The node has snapshots 1 and 3: it started with snapshot 1 and then fetched snapshot 3.
    assert!(node.company("feather").is_some());
    assert!(block_on(world.list.answer_from(SnapshotNumber(1))).unwrap());
    std::fs::remove_file(world.published_file(1)).unwrap();
    // The published file of snapshot 1 no longer exists, so the node must use its own copy of
    // snapshot 1.
    node.wait_for(1);
    assert!(node.company("quill").is_some() && node.company("feather").is_none());
}

#[test]
fn the_newest_two_snapshots_are_kept() {
    let world = World::new();
    world.publish();
    let node = world.node("node");
    for number in 2..5 {
        world.import_company(&format!("quill{number}"));
        world.publish();
        node.wait_for(number);
    }
    let expected = ["directory-3.sqlite", "directory-4.sqlite", "snapshots.lock"];
    wait_until(|| node.files() == expected);
}
