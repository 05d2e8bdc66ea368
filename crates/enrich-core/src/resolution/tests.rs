//! Tests of entity resolution: which records are one company, in examples and for random records
//! in any order.

use enrich_text::{CompanyName, Domain, NameForm};
use proptest::prelude::*;

use super::test_records::{ALIAS, DOMAIN, ID, PHONE, SEAT, claims, shared_keys};
use super::*;
use crate::merge::Attribute;

fn record(source: &str, id: &str, name: &str, values: &[(Attribute, &str)]) -> RecordClaims {
    claims(RecordKey { source: source.to_owned(), record: id.to_owned() }, name, values)
}

/// Divides the records into companies. Returns a text for each company: the ids of its records,
/// such as `1 3`.
fn divided(records: &[RecordClaims]) -> Vec<String> {
    let records: Vec<&RecordClaims> = records.iter().collect();
    let numbers = clusters(&records, &shared_keys(&records), &Decisions::default());
    let mut divided: Vec<Vec<&str>> = vec![Vec::new(); records.len()];
    for (record, number) in records.iter().zip(numbers) {
        divided[number].push(&record.key.record);
    }
    divided.retain(|cluster| !cluster.is_empty());
    divided.iter_mut().for_each(|cluster| cluster.sort_unstable());
    let mut divided: Vec<String> = divided.iter().map(|cluster| cluster.join(" ")).collect();
    divided.sort();
    divided
}

/// Makes records of one source, with the ids `1`, `2` and so on, from names and values.
fn all(records: &[(&str, &[(Attribute, &str)])]) -> Vec<RecordClaims> {
    let numbered = (1..).zip(records);
    numbered.map(|(number, (name, of))| record("a", &number.to_string(), name, of)).collect()
}

#[test]
fn two_records_become_what_their_values_say() {
    for (one, other, is_one) in [
        (
            ("Quill", &[(DOMAIN, "quill.example")][..]),
            ("Quill Ltd", &[(DOMAIN, "quill.example")][..]),
            true,
        ),
        (
            ("Quill", &[(DOMAIN, "quill.example")]),
            ("Quill (Portugal)", &[(DOMAIN, "quill.example")]),
            true,
        ),
        (
            ("Quill", &[(DOMAIN, "quill.example")]),
            ("Quill Group", &[(DOMAIN, "quill.example")]),
            true,
        ),
        (
            ("Feather Pen Paper", &[(DOMAIN, "fpp.example")]),
            ("FPP", &[(DOMAIN, "fpp.example")]),
            true,
        ),
        (
            ("quill.example", &[(DOMAIN, "quill.example")]),
            ("Ink", &[(DOMAIN, "quill.example")]),
            true,
        ),
        // The second record describes a unit (such as a department) of the company `Quill`. The
        // unit is a company of its own, because its name is not similar enough to `Quill`.
        (
            ("Quill", &[(DOMAIN, "quill.example")]),
            ("Quill Web Services", &[(DOMAIN, "quill.example")]),
            false,
        ),
        (("Quill", &[(DOMAIN, "quill.example")]), ("Ink", &[(DOMAIN, "quill.example")]), false),
        (("Quill", &[(DOMAIN, "eu.quill.example")]), ("Quill", &[(DOMAIN, "quill.example")]), true),
        (
            ("Quill Ink", &[(DOMAIN, "eu.quill.example")]),
            ("Quill", &[(DOMAIN, "quill.example")]),
            false,
        ),
        (("Quill", &[(DOMAIN, "quill.ch")]), ("Quill", &[(DOMAIN, "quill.fr")]), true),
        (("Quill", &[(DOMAIN, "quill.ch")]), ("Quill", &[(DOMAIN, "quill.com")]), true),
        (("Quill", &[(DOMAIN, "quill.ch")]), ("Quill", &[(DOMAIN, "quill.red")]), false),
        (
            ("Quill", &[(DOMAIN, "quill.ch"), (SEAT, "CH")]),
            ("Quill", &[(DOMAIN, "quill.fr"), (SEAT, "FR")]),
            false,
        ),
        (
            ("Quill", &[(DOMAIN, "quill.ch"), (SEAT, "CH")]),
            ("Quill (France)", &[(DOMAIN, "quill.fr"), (SEAT, "FR")]),
            true,
        ),
        (
            ("Quill", &[(DOMAIN, "quill.ch"), (SEAT, "CH"), (SEAT, "FR")]),
            ("Quill", &[(DOMAIN, "quill.fr"), (SEAT, "FR")]),
            true,
        ),
        (("Quill", &[(DOMAIN, "pens.ch")]), ("Quill", &[(DOMAIN, "pens.fr")]), false),
        (
            ("QIA", &[(DOMAIN, "qia.ch")]),
            ("Quill Institute of Architects", &[(DOMAIN, "qia.fr"), (ALIAS, "QIA")]),
            false,
        ),
        (
            ("Quill", &[(DOMAIN, "quill.ch")]),
            ("Quill & Sons", &[(DOMAIN, "quill.fr"), (ALIAS, "Quill")]),
            true,
        ),
        (("Quill", &[(DOMAIN, "quill.example")]), ("Quill", &[(DOMAIN, "ink.example")]), false),
        (
            ("Quill", &[(PHONE, "+442079460001")]),
            ("Quill Ltd", &[(PHONE, "+442079460001"), (DOMAIN, "q.example")]),
            true,
        ),
        (("Quill", &[(PHONE, "+442079460001")]), ("Ink", &[(PHONE, "+442079460001")]), false),
        (("Quill", &[(SEAT, "GB")]), ("QUILL", &[(SEAT, "GB"), (SEAT, "FR")]), true),
        (("Quill", &[(SEAT, "GB")]), ("Quill", &[(SEAT, "FR")]), false),
        (("Quill", &[(SEAT, "GB")]), ("Quill", &[]), false),
        (("Quill", &[]), ("QUILL CORP", &[(DOMAIN, "quill.example")]), true),
        (("Quill", &[(SEAT, "GB")]), ("Quill", &[(DOMAIN, "quill.example"), (SEAT, "FR")]), false),
        (("Quill", &[]), ("Ink", &[(DOMAIN, "ink.example"), (ALIAS, "Quill")]), false),
        (("Quill Pens", &[]), ("Ink", &[(DOMAIN, "ink.example"), (ALIAS, "Quill Pens")]), true),
        (("Quill", &[(ID, "x:1")]), ("Ink", &[(ID, "x:1"), (DOMAIN, "ink.example")]), true),
        (
            ("Quill", &[(ID, "x:1"), (DOMAIN, "quill.example")]),
            ("Ink", &[(ID, "x:1"), (DOMAIN, "ink.example")]),
            false,
        ),
        (
            ("Quill", &[(ID, "x:1"), (DOMAIN, "quill.example")]),
            ("Quill", &[(ID, "x:2"), (DOMAIN, "quill.example")]),
            false,
        ),
    ] {
        let expected: &[&str] = if is_one { &["1 2"] } else { &["1", "2"] };
        assert_eq!(divided(&all(&[one, other])), expected, "{one:?} {other:?}");
        assert_eq!(divided(&all(&[other, one])), expected, "{other:?} {one:?}");
    }
}

#[test]
fn two_versions_of_a_record_are_one_company_unless_their_ids_differ() {
    let version = |name, of| record("a", "17", name, of);
    let (one, other) = (version("Quill", &[(ID, "x:1")]), version("Ink", &[]));
    assert_eq!(divided(&[one.clone(), other.clone()]), ["17 17"]);
    assert_eq!(divided(&[one, version("Ink", &[(ID, "x:2")])]), ["17", "17"]);
    let of_nobody = |name| record("a", "", name, &[]);
    assert_eq!(divided(&[of_nobody("Quill"), of_nobody("Ink")]).len(), 2);
}

#[test]
fn a_host_of_many_organisations_unites_only_equal_names() {
    let at_host: &[(Attribute, &str)] = &[(DOMAIN, "campus.example")];
    let names = ["Ink", "Feather", "Nib", "Paper", "Paper Group", "Nib Ltd"];
    let records = names.map(|name| (name, at_host));
    assert_eq!(divided(&all(&records)), ["1", "2", "3 6", "4", "5"]);
    assert_eq!(divided(&all(&records[3..5])), ["1 2"]);
}

#[test]
fn a_name_alone_joins_one_namesake_and_not_one_of_two() {
    let named = |domain| ("Quill", [(DOMAIN, domain)]);
    let (one, other) = (named("a.example"), named("b.example"));
    let alone: (&str, &[(Attribute, &str)]) = ("Quill Inc", &[]);
    assert_eq!(divided(&all(&[(one.0, &one.1), alone])), ["1 2"]);
    assert_eq!(divided(&all(&[(one.0, &one.1), (other.0, &other.1), alone])), ["1", "2", "3"]);
}

#[test]
fn a_name_alone_joins_an_alias_of_several_words_or_in_one_country() {
    let aka = |seat: &[(Attribute, &'static str)], alias| {
        [&[(DOMAIN, "ink.example"), (ALIAS, alias)][..], seat].concat()
    };
    let gb: &[(Attribute, &str)] = &[(SEAT, "GB")];
    for (alias, of_alias, name, seats, expected) in [
        ("Quill Pens", &[][..], "Quill Pens Ltd", &[][..], &["1 2"][..]),
        ("Quill", &[], "Quill Ltd", &[], &["1", "2"]),
        ("Quill", gb, "Quill Ltd", gb, &["1 2"]),
        ("Quill", gb, "Quill Ltd", &[(SEAT, "CH")], &["1", "2"]),
    ] {
        let records = all(&[("Ink Works", &aka(of_alias, alias)), (name, seats)]);
        assert_eq!(divided(&records), expected, "{alias} {name}");
    }
    // The record "Ink Works" has neither a domain nor a page on a social network, and its alias
    // "Quill Pens" may be a brand. So it does not join the company whose own name is "Quill Pens".
    let named: &[(Attribute, &str)] = &[(DOMAIN, "quill.example")];
    let brands: &[(Attribute, &str)] = &[(ALIAS, "Quill Pens")];
    assert_eq!(divided(&all(&[("Quill Pens", named), ("Ink Works", brands)])), ["1", "2"]);
}

#[test]
fn an_own_name_counts_more_than_an_alias() {
    let at: &[(Attribute, &str)] = &[(DOMAIN, "quill.example"), (ID, "x:1")];
    let locker: &[(Attribute, &str)] = &[(DOMAIN, "quill.example"), (ID, "x:2"), (ALIAS, "Quill")];
    let plain: &[(Attribute, &str)] = &[(DOMAIN, "quill.example")];
    let records = all(&[("Quill Locker", locker), ("Quill", at), ("Quill", plain)]);
    assert_eq!(divided(&records), ["1", "2 3"]);
}

fn any_record() -> impl Strategy<Value = (usize, Vec<(Attribute, &'static str)>)> {
    let value = prop::sample::select(vec![
        (DOMAIN, "quill.example"),
        (DOMAIN, "eu.quill.example"),
        (DOMAIN, "us.quill.example"),
        (DOMAIN, "quill.ch"),
        (DOMAIN, "quill.fr"),
        (DOMAIN, "ink.example"),
        (ID, "x:1"),
        (ID, "x:2"),
        (ID, "y:1"),
        (SEAT, "GB"),
        (SEAT, "CH"),
        (ALIAS, "Quill"),
        (ALIAS, "Ink"),
        (PHONE, "+442079460001"),
    ]);
    (0..6_usize, prop::collection::vec(value, 0..4))
}

const NAMES: [&str; 6] = ["Quill", "Quill Ltd", "Quill Group", "Ink", "Ink (Switzerland)", "Nib"];

proptest! {
    #[test]
    fn the_order_of_the_records_makes_no_difference(
        rows in prop::collection::vec(any_record(), 1..12),
        rotation in 0..12_usize,
        keys in Just((0..12_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let records: Vec<RecordClaims> = rows
            .iter()
            .zip(&keys)
            .map(|((name, values), key)| record("a", &key.to_string(), NAMES[*name], values))
            .collect();
        let expected = divided(&records);
        let mut turned = records.clone();
        turned.rotate_left(rotation % records.len());
        prop_assert_eq!(&divided(&turned), &expected);
        turned.reverse();
        prop_assert_eq!(&divided(&turned), &expected);
        // Two records with different ids of one scheme, such as `x:1` and `x:2`, are one company
        // only if a further record with both ids connects them. So a company of only two records
        // must not have these ids.
        for cluster in expected {
            let of = |id: &&str| records.iter().find(|it| it.key.record == **id);
            let ids: Vec<&str> = cluster.split(' ').collect();
            for one in ids.iter().filter_map(of) {
                for other in ids.iter().filter_map(of) {
                    let alone = |it: &RecordClaims, id: &str| it.ids == [id];
                    prop_assert!(ids.len() > 2 || !(alone(one, "x:1") && alone(other, "x:2")));
                }
            }
        }
    }

    /// Records influence each other only if a chain of possible links connects them. So the
    /// result for connected records stays the same if all other records are left out.
    #[test]
    fn what_is_not_linked_makes_no_difference(
        rows in prop::collection::vec(any_record(), 1..12),
    ) {
        let records: Vec<RecordClaims> = (0..)
            .zip(&rows)
            .map(|(key, (name, values))| record("a", &format!("{key}"), NAMES[*name], values))
            .collect();
        let mut linked = vec![0];
        let mut at = 0;
        while let Some(&one) = linked.get(at) {
            let others = (0..records.len()).filter(|it| may_link(&records[one], &records[*it]));
            let new: Vec<usize> = others.filter(|it| !linked.contains(it)).collect();
            linked.extend(new);
            at += 1;
        }
        let all: Vec<&RecordClaims> = records.iter().collect();
        let shared = shared_keys(&all);
        let numbers = clusters(&all, &shared, &Decisions::default());
        let some: Vec<&RecordClaims> = linked.iter().map(|it| &records[*it]).collect();
        let alone = clusters(&some, &shared, &Decisions::default());
        for (one, a) in linked.iter().zip(&alone) {
            for (other, b) in linked.iter().zip(&alone) {
                prop_assert_eq!(numbers[*one] == numbers[*other], a == b);
            }
        }
    }

    /// A link by name is a link between two records that have only a name in common. A store
    /// searches for links by name only at two kinds of companies:
    ///
    /// - companies for which `is_linkable_by_name` is `true`
    /// - companies with a record that has neither a domain nor a page on a social network
    ///
    /// This test checks that the store misses no link by name: at least one of the two records must
    /// belong to such a company.
    #[test]
    fn links_by_a_name_alone_have_a_linkable_record(one in any_record(), other in any_record()) {
        let record = |id: &str, (name, values): &(usize, Vec<_>)| {
            record("a", id, NAMES[*name], values)
        };
        let (one, other) = (record("1", &one), record("2", &other));
        let is_linkable = |record: &RecordClaims| {
            let names: Vec<(CompanyName, NameForm)> = record
                .own_names()
                .map(|name| (name.clone(), NameForm::of(name)))
                .chain(record.aliases().map(|alias| {
                    let alias = CompanyName::parse(alias).unwrap();
                    (alias.clone(), NameForm::of(&alias))
                }))
                .collect();
            let domains: Vec<Domain> =
                record.hosts().map(|host| Domain::parse(host).unwrap()).collect();
            record.is_name_alone()
                || is_linkable_by_name(names.iter().map(|(name, form)| (name, form)), domains.iter())
        };
        let share = |these: Vec<&str>, those: Vec<&str>| these.iter().any(|it| those.contains(it));
        let is_by_name_alone = !share(one.hosts().collect(), other.hosts().collect())
            && !share(one.pages().collect(), other.pages().collect())
            && !share(one.phones().collect(), other.phones().collect())
            && !share(one.ids().collect(), other.ids().collect());
        if is_by_name_alone && may_link(&one, &other) {
            prop_assert!(is_linkable(&one) || is_linkable(&other));
        }
    }
}
