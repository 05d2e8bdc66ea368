//! Tests of decisions. A decision is an operator's statement that some records are one company, or
//! that they are not. Most tests use examples; one uses random records in different orders.

use proptest::prelude::*;

use super::*;
use crate::merge::Attribute;
use crate::resolution::test_records::{DOMAIN, ID, claims, shared_keys};
use crate::resolution::{RecordKey, clusters};

/// Makes a record of the source `a`. `id` is the id that the source gives to it. With `None`, the
/// record is identified by its content.
fn record(id: Option<&str>, name: &str, values: &[(Attribute, &str)]) -> RecordClaims {
    let key = match id {
        Some(id) => RecordKey::of_id("a".to_owned(), id),
        None => RecordKey { source: "a".to_owned(), record: format!("{name}{values:?}") },
    };
    claims(key, name, values)
}

fn decision(number: u64, kind: DecisionKind, sides: [&[&RecordClaims]; 2]) -> Decision {
    let side = |records: &[&RecordClaims]| records.iter().map(|it| DecidedRecord::of(it)).collect();
    Decision { number, kind, sides: sides.map(side) }
}

/// Returns a number for each record. Records with the same number are one company.
fn divided(records: &[&RecordClaims], decisions: &[Decision]) -> Vec<usize> {
    let numbers = clusters(records, &shared_keys(records), &Decisions::new(decisions.to_vec()));
    // The numbers that `clusters` gives the companies depend on the keys of the records. Here, the
    // companies get new numbers, in the order of their first records in `records`.
    let mut known: Vec<usize> = Vec::new();
    let number = |company: &usize| {
        let at = known.iter().position(|it| it == company);
        at.unwrap_or_else(|| {
            known.push(*company);
            known.len() - 1
        })
    };
    numbers.iter().map(number).collect()
}

#[test]
fn a_merge_unites_what_nothing_links_and_what_has_different_ids() {
    let quill = record(Some("1"), "Quill", &[(DOMAIN, "quill.example"), (ID, "x:1")]);
    let ink = record(Some("2"), "Ink", &[(DOMAIN, "ink.example"), (ID, "x:2")]);
    let other = record(Some("3"), "Ink", &[(DOMAIN, "ink.example"), (ID, "x:3")]);
    let nib = record(None, "Nib", &[]);
    let records = [&quill, &ink, &other, &nib];
    assert_eq!(divided(&records, &[]), [0, 1, 2, 3]);
    let merge = decision(1, DecisionKind::Merge, [&[&quill], &[&ink, &nib]]);
    // The record `other` has the same name and domain as `ink`, but another id than the merged
    // records. So it stays a company of its own.
    assert_eq!(divided(&records, &[merge]), [0, 0, 1, 0]);
}

#[test]
fn a_split_wins_over_every_link() {
    let one = record(Some("1"), "Quill", &[(DOMAIN, "quill.example"), (ID, "x:1")]);
    let other = record(Some("2"), "Quill", &[(DOMAIN, "quill.example"), (ID, "x:1")]);
    let third = record(Some("3"), "Quill Ltd", &[(DOMAIN, "quill.example")]);
    let alone = record(None, "Quill", &[]);
    let records = [&one, &other, &third, &alone];
    assert_eq!(divided(&records, &[]), [0, 0, 0, 0]);
    let split = decision(1, DecisionKind::Split, [&[&other], &[&one, &third]]);
    // After the split, two companies have the name `Quill`. The record `alone` has only this name,
    // so it joins neither of these companies.
    assert_eq!(divided(&records, &[split]), [0, 1, 0, 2]);
    let of_name = decision(1, DecisionKind::Split, [&[&alone], &[&one, &other, &third]]);
    assert_eq!(divided(&records, &[of_name]), [0, 0, 0, 1]);
}

#[test]
fn a_name_alone_that_is_split_from_one_namesake_joins_the_other() {
    let one = record(Some("1"), "Quill", &[(DOMAIN, "quill.example")]);
    let other = record(Some("2"), "Quill", &[(DOMAIN, "ink.example")]);
    let alone = record(None, "Quill", &[]);
    let records = [&one, &other, &alone];
    assert_eq!(divided(&records, &[]), [0, 1, 2]);
    let split = decision(1, DecisionKind::Split, [&[&alone], &[&one]]);
    assert_eq!(divided(&records, &[split]), [0, 1, 1]);
}

#[test]
fn a_record_without_an_id_is_known_by_its_name_and_host() {
    let before = record(None, "Quill Ltd", &[(DOMAIN, "quill.example")]);
    let decided = DecidedRecord::of(&before);
    let changed = &[(DOMAIN, "ink.example"), (DOMAIN, "quill.example"), (ID, "x:1")];
    assert!(decided.is(&record(None, "Quill", changed)));
    assert!(!decided.is(&record(None, "Quill", &[])));
    assert!(!decided.is(&record(None, "Ink", changed)));
    assert!(!decided.is(&record(Some("1"), "Quill", changed)));
    let of_id = DecidedRecord::of(&record(Some("1"), "Quill", changed));
    assert!(of_id.is(&record(Some("1"), "Ink", &[])));
    assert!(!of_id.is(&record(Some("2"), "Quill", changed)));
}

#[test]
fn contradicting_decisions_are_noticed_also_over_several_merges() {
    let [a, b, c] = ["1", "2", "3"].map(|id| record(Some(id), "Quill", &[]));
    let merge = |number, one, other| decision(number, DecisionKind::Merge, [&[one], &[other]]);
    let split = |number, one, other| decision(number, DecisionKind::Split, [&[one], &[other]]);
    let contradicted =
        |all: &[Decision], new: &Decision| Decisions::new(all.to_vec()).contradicted_by(new);
    let merges = [merge(1, &a, &b), merge(2, &b, &c)];
    assert_eq!(contradicted(&merges, &split(3, &a, &c)), Some(1));
    assert_eq!(contradicted(&merges[..1], &split(3, &a, &c)), None);
    assert_eq!(contradicted(&[split(4, &a, &c), merges[0].clone()], &merges[1]), Some(4));
    assert_eq!(contradicted(&[split(4, &a, &c)], &merges[1]), None);
}

#[test]
fn the_split_that_keeps_companies_apart_is_found() {
    let [a, b, c] = ["1", "2", "3"].map(|id| record(Some(id), "Quill", &[]));
    let decisions = Decisions::new(vec![decision(7, DecisionKind::Split, [&[&a], &[&b]])]);
    let between = |one, other| decisions.keeping_apart([one], [other]).map(|it| it.number);
    assert_eq!((between(&a, &b), between(&b, &a)), (Some(7), Some(7)));
    assert_eq!((between(&a, &c), between(&a, &a)), (None, None));
}

proptest! {
    #[test]
    fn decisions_hold_for_every_order_of_the_records(
        rows in prop::collection::vec((0..3_usize, 0..3_usize, 0..3_usize), 4..10),
        rotation in 0..10_usize,
        is_merge in prop::collection::vec(any::<bool>(), 3),
    ) {
        let (names, hosts) = (["Quill", "Quill Ltd", "Ink"], ["quill.example", "q.ch", "ink.ch"]);
        let ids = ["x:1", "x:2", "y:1"];
        let number = |(at, row): (usize, &(usize, usize, usize))| {
            let values = [(DOMAIN, hosts[row.1]), (ID, ids[row.2])];
            record(Some(&at.to_string()), names[row.0], &values[..1 + row.0 % 2])
        };
        let records: Vec<RecordClaims> = rows.iter().enumerate().map(number).collect();
        let kind = |it: &bool| if *it { DecisionKind::Merge } else { DecisionKind::Split };
        // Each decision names two records that no other decision names. So the decisions do not
        // contradict each other.
        let decisions: Vec<Decision> = (0..)
            .zip(records.chunks_exact(2).zip(&is_merge))
            .map(|(at, (two, it))| decision(at, kind(it), [&[&two[0]], &[&two[1]]]))
            .collect();
        let all: Vec<&RecordClaims> = records.iter().collect();
        let numbers = divided(&all, &decisions);
        for (decision, two) in decisions.iter().zip(numbers.chunks_exact(2)) {
            prop_assert_eq!(two[0] == two[1], decision.kind == DecisionKind::Merge);
        }
        let mut turned: Vec<(usize, &RecordClaims)> = all.into_iter().enumerate().collect();
        turned.rotate_left(rotation % records.len());
        let of_turned: Vec<&RecordClaims> = turned.iter().map(|(_, it)| *it).collect();
        let again = divided(&of_turned, &decisions);
        for (one, a) in turned.iter().zip(&again) {
            for (other, b) in turned.iter().zip(&again) {
                prop_assert_eq!(numbers[one.0] == numbers[other.0], a == b);
            }
        }
    }
}
