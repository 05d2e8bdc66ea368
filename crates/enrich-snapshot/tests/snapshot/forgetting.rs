//! Checks that forgotten values disappear from the answers of all nodes within seconds, although
//! the nodes' snapshot still contains the values.

use std::time::{Duration, Instant};

use enrich_core::port::directory::Directory;
use enrich_core::port::importer::{Importer, Suppressed};
use enrich_core::port::snapshots::{SnapshotNumber, Snapshots};
use enrich_core::port::suppression_lists::{Digest, DigestKind, NewList, SuppressionLists};
use enrich_core::{Timestamp, holds_suppressed};
use enrich_snapshot::{forget, forget_all_of};
use enrich_testkit::records::{domain, email, person_page};
use pollster::block_on;

use crate::world::{Node, World, a_company, a_person, wait_until};

/// The maximum time until no answer contains a forgotten value.
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
fn a_forgotten_domain_is_gone_from_candidates() {
    let world = world();
    let node = world.node("node");
    let candidates = || node.candidates("Quil");
    assert_eq!(candidates(), ["quill.example"]);
    suppress(&world, &[Suppressed::Domain(domain("quill.example"))]);
    wait_until(|| candidates().is_empty());
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
    // This test does the same as the command `enrich forget`. It suppresses a value on all nodes.
    // Then it removes the value from the directory of the machine that imports.
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

/// MD5 of `info@quill.example`.
const INFO: [u8; 16] = [
    0xbc, 0xce, 0x1d, 0xcc, 0xdf, 0xbb, 0x7b, 0x4b, 0x6f, 0x7b, 0x07, 0x05, 0x01, 0x25, 0x9f, 0x78,
];

#[test]
fn what_a_list_suppresses_is_prompt_and_is_taken_back_with_a_snapshot() {
    let world = world();
    let node = world.node("node");
    let importer = &world.builder.importer;
    let list = NewList {
        name: "list.txt".to_owned(),
        kind: Some(DigestKind::EmailMd5),
        content: [7; 32],
        entries: 1,
        at: Timestamp::UNIX_EPOCH,
    };
    let number = block_on(importer.open_list(&list)).unwrap().number;
    let digests = || vec![Digest::from(INFO)];
    assert_eq!(block_on(importer.add(number, DigestKind::EmailMd5, digests())).unwrap(), 1);
    let removed = importer.remove_listed(&[DigestKind::EmailMd5], Timestamp::UNIX_EPOCH);
    assert_eq!(block_on(removed).unwrap().values, 1);
    forget_all_of(&*world.list, &world.data()).unwrap();
    wait_until(|| emails(&node) == ["sales@quill.example"]);
    assert!(holds(&node, "info@quill.example"));

    let later = Timestamp::from_second(60).unwrap();
    let taken_back = importer.take_back(DigestKind::EmailMd5, digests(), later);
    assert_eq!(block_on(taken_back).unwrap(), 1);
    world.import_company("quill");
    world.publish();
    node.wait_for(2);
    assert_eq!(emails(&node), ["sales@quill.example", "info@quill.example"]);
    assert!(!holds(&node, "info@quill.example"));
}
