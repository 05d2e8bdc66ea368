//! Tests that forgotten values disappear from the answers of all nodes at once, although the nodes'
//! snapshot still contains the values.

use std::time::{Duration, Instant};

use enrich_core::port::directory::Directory;
use enrich_core::port::importer::{Importer, Suppressed};
use enrich_core::port::snapshots::{SnapshotNumber, Snapshots};
use enrich_core::{Timestamp, holds_suppressed};
use enrich_snapshot::forget;
use enrich_testkit::records::{email, person_page};
use pollster::block_on;

use crate::world::{Node, World, a_company, a_person, wait_until};

/// The maximum time for which a forgotten value may still be in answers.
const PROMPT: Duration = Duration::from_secs(2);

fn world() -> World {
    let world = World::new();
    world.import(vec![a_company("quill"), a_person("ada-penn", "ada@penn.example")]);
    world.publish();
    world
}

fn suppress(world: &World, values: &[Suppressed]) {
    forget(&*world.list, &world.secrets(), values, Timestamp::UNIX_EPOCH).unwrap();
}

fn emails(node: &Node) -> Vec<String> {
    node.company("quill").unwrap().0.emails
}

fn holds(node: &Node, text: &str) -> bool {
    let values = block_on(node.directory.suppressed()).unwrap().unwrap();
    holds_suppressed(&*values, text)
}

#[test]
fn a_forgotten_address_is_gone_from_all_nodes_within_two_seconds() {
    let world = world();
    let nodes = [world.node("one"), world.node("two")];
    for node in &nodes {
        assert!(emails(node).contains(&"info@quill.example".to_owned()));
        assert!(node.has_person("ada@penn.example"));
        assert!(!holds(node, "write to info@quill.example"));
    }
    let values =
        ["info@quill.example", "ada@penn.example"].map(|text| Suppressed::Email(email(text)));
    let begun = Instant::now();
    suppress(&world, &values);
    for node in &nodes {
        wait_until(|| emails(node) == ["sales@quill.example"]);
        wait_until(|| !node.has_person("ada@penn.example"));
        assert!(holds(node, "write to info@quill.example"));
    }
    assert!(begun.elapsed() < PROMPT, "{:?}", begun.elapsed());
    // A node that starts later never answers with a forgotten value.
    let later = world.node("later");
    assert_eq!(emails(&later), ["sales@quill.example"]);
    assert!(!later.has_person("ada@penn.example"));
}

#[test]
fn a_forgotten_person_is_not_found_by_other_values() {
    let world = world();
    let node = world.node("node");
    suppress(&world, &[Suppressed::PersonPage(person_page("Ada-Penn"))]);
    wait_until(|| !node.has_person("ada@penn.example"));
}

#[test]
fn a_forgotten_value_stays_so_with_the_next_snapshot_and_with_an_earlier_one() {
    let world = world();
    let node = world.node("node");
    // The machine that imports must forget the value too. `enrich forget` does both.
    let values = [Suppressed::Email(email("info@quill.example"))];
    suppress(&world, &values);
    block_on(world.builder.importer.forget(&values, Timestamp::UNIX_EPOCH)).unwrap();
    world.publish();
    node.wait_for(2);
    assert_eq!(emails(&node), ["sales@quill.example"]);
    assert!(holds(&node, "info@quill.example"));
    block_on(world.list.answer_from(SnapshotNumber(1))).unwrap();
    node.wait_for(1);
    assert_eq!(emails(&node), ["sales@quill.example"]);
}

#[test]
fn what_was_forgotten_on_the_importing_machine_alone_is_forgotten_with_its_snapshot() {
    let world = world();
    let node = world.node("node");
    let values = [Suppressed::Email(email("info@quill.example"))];
    block_on(world.builder.importer.forget(&values, Timestamp::UNIX_EPOCH)).unwrap();
    world.publish();
    node.wait_for(2);
    assert_eq!(world.list.state().suppression, 1);
    block_on(world.list.answer_from(SnapshotNumber(1))).unwrap();
    node.wait_for(1);
    wait_until(|| emails(&node) == ["sales@quill.example"]);
}

#[test]
fn forgetting_again_adds_nothing() {
    let world = world();
    let values = [Suppressed::Email(email("info@quill.example"))];
    suppress(&world, &values);
    suppress(&world, &values);
    assert_eq!(world.list.state().suppression, 1);
    assert_eq!(world.node("node").directory.status().suppression, 1);
}
