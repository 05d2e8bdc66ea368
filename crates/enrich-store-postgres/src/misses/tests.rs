use enrich_core::port::misses::{CountMisses, Misses as _};
use pollster::block_on;

use super::*;
use crate::test_database::TestDatabase;

const DAY: i64 = 20_000;

fn at(day: i64) -> Timestamp {
    Timestamp::from_second(day * 24 * 60 * 60 + 7).unwrap()
}

fn name(text: &str) -> CompanyName {
    CompanyName::parse(text).unwrap()
}

/// Counts misses on [`DAY`] and writes them. Uses a new counter, as a separate process would.
fn miss(node: &Node, what: CountMisses, names: &[&str]) {
    let counter = Arc::new(MissCounter::new(what, &node.secrets).unwrap());
    for text in names {
        counter.count(&name(text), at(DAY));
    }
    let writer = MissWriter::new(counter, node.database.connections());
    let writing = async move { writer.write().await.unwrap() };
    node.database.runtime().block_on(writing).unwrap();
}

#[test]
fn misses_of_several_nodes_add_up_and_can_be_forgotten() {
    let Some(database) = TestDatabase::create() else { return };
    let (one, other) = (database.node(), database.node());
    miss(&one, CountMisses::Hashed, &["Quill Ltd", "quill  LTD", "Ink AG"]);
    miss(&other, CountMisses::Texts, &["Quill Ltd"]);
    let names = MissedNames::new(&one);
    let most = block_on(names.most(at(DAY), 10)).unwrap();
    let most: Vec<_> = most.iter().map(|it| (it.name.as_deref(), it.calls, it.last_day)).collect();
    assert_eq!(most, [(Some("Quill Ltd"), 3, DAY), (None, 1, DAY)]);
    let of = |day| block_on(names.calls(at(day), &name("QUILL ltd")));
    assert_eq!((of(DAY + 29).unwrap(), of(DAY + 30).unwrap()), (3, 0));
    let forget = || block_on(names.forget(&name("Quill Ltd")));
    assert_eq!((forget().unwrap(), forget().unwrap()), (1, 0));
    assert_eq!(block_on(names.most(at(DAY), 10)).unwrap().len(), 1);
}

#[test]
fn only_the_most_frequent_names_of_a_day_are_kept() {
    let Some(database) = TestDatabase::create() else { return };
    let node = database.node();
    database.execute(&format!(
        "INSERT INTO missed_name (day, hash, calls)
         SELECT {DAY}, sha256(number::text::bytea), 2 FROM generate_series(1, {}) AS number",
        MissCounter::MAX_PER_DAY
    ));
    miss(&node, CountMisses::Hashed, &["Quill Ltd"]);
    assert_eq!(database.number("SELECT count(*) FROM missed_name"), 10_000);
    assert_eq!(database.number("SELECT min(calls) FROM missed_name"), 2);
}
