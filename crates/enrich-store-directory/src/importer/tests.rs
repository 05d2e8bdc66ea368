//! Checks that the look-up data equals the data derived from the facts, after any imports, removals
//! and suppressions.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use enrich_core::port::importer::{Atomic, ImportOptions, ImportOutcome, Importer, Suppressed};
use enrich_core::{
    CompanyRecord, Confidence, EmployerRecord, PersonRecord, Record, SourceName, SubjectId,
    Timestamp,
};
use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_store::{OpenError, Store};
use enrich_store_sqlite::{self as sqlite, Durability, Options};
use enrich_testkit::records::{
    aliases, company, company_name, countries, country, domain, email, emails, hashed, ids,
    page_url, person, person_page, phone, phones, sites, trusted, with_id,
};
use enrich_text::Network;
use proptest::prelude::*;
use rusqlite::{Connection, params};

use super::derive::Derived;
use super::stored_facts;
use super::subject_facts::{Given, Kind};
use super::writer::Writer;
use crate::DIRECTORY;
use crate::directory::codes::{COMPANY, attribute_code, sql_id, subject_id};
use crate::directory::holder::stored_confidence;
use crate::directory::index_check;
use crate::directory::postings::Posting;
use crate::directory::view::View;

const NAMES: [&str; 5] = ["Quill", "Quill Ltd", "QUILL", "Inkwell", "Feather"];
const DOMAINS: [&str; 5] =
    ["quill.example", "shop.quill.example", "ink.example", "quill.ch", "feather.example"];
const EMAILS: [&str; 5] =
    ["a@quill.example", "a+x@quill.example", "b@ink.example", "c@x.example", "d@eu.quill.example"];
const PHONES: [&str; 3] = ["+447700900001", "+447700900002", "+12025550101"];
const HANDLES: [&str; 3] = ["one", "two", "three"];
const IDS: [&str; 5] = ["x:1", "x:2", "y:1", "y:2", "lei:213800D1EI4B9WTWWD28"];
const COUNTRIES: [&str; 3] = ["GB", "CH", "US"];
const SOURCES: [&str; 3] = ["a", "b", "c"];

/// All tables that imports write, except the table `state`.
const TABLES: [&str; 12] = [
    "source",
    "subject",
    "fact",
    "domain_fact",
    "identifier",
    "employee",
    "record",
    "name_word",
    "name_word_chunk",
    "name_word_variant",
    "unresolved",
    "merged_company",
];

/// Pseudo-random numbers that are the same in each run (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// Returns up to two values, chosen at random.
    fn some<'a>(&mut self, of: &[&'a str]) -> Vec<&'a str> {
        (0..self.below(3)).map(|_| self.one(of)).collect()
    }

    fn record(&mut self) -> Record {
        let percent = [50, 80, 100][self.below(3)];
        if self.below(2) == 0 {
            let handles = self.some(&HANDLES);
            return hashed(CompanyRecord {
                origin: trusted(percent),
                aliases: aliases(&self.some(&NAMES)),
                seats: countries(&self.some(&COUNTRIES)),
                sites: sites(&self.some(&DOMAINS)),
                pages: handles.iter().map(|text| page_url(Network::LinkedIn, text)).collect(),
                emails: emails(&self.some(&EMAILS)),
                phones: phones(&self.some(&PHONES)),
                ids: ids(&self.some(&IDS)),
                page_rank: (self.below(2) == 0).then(|| percent.to_string()),
                ..company(self.one(&NAMES))
            });
        }
        let employer = EmployerRecord {
            name: self.some(&NAMES).first().map(|name| company_name(name)),
            domain: self.some(&DOMAINS).first().map(|text| domain(text)),
        };
        hashed(PersonRecord {
            origin: trusted(percent),
            employer: (employer.name.is_some() || employer.domain.is_some()).then_some(employer),
            country: self.some(&COUNTRIES).first().map(|code| country(code)),
            page: self.some(&HANDLES).first().map(|handle| person_page(handle)),
            emails: emails(&self.some(&EMAILS)),
            phones: phones(&self.some(&PHONES)),
            ..person(self.one(&["Ada", "Bob"]), self.one(&["Byte", "Bit"]))
        })
    }

    /// Returns the record of a company. Half of these records have an id from their source, one of
    /// six ids.
    fn company_record(&mut self) -> Record {
        loop {
            if let Record::Company(mut record) = self.record() {
                record.origin.id = (self.below(2) == 0).then(|| format!("r{}", self.below(6)));
                return hashed(record);
            }
        }
    }

    /// Returns the record of company `number`. In about one of four records, the name, the domain,
    /// the external id or the record id is that of another company, whose number is slightly lower.
    fn distinct_record(&mut self, number: usize) -> Record {
        let [name, site, id, record] = std::array::from_fn(|_| match self.below(16) {
            0 => number.saturating_sub(1 + self.below(5)),
            _ => number,
        });
        let mut origin = with_id(&format!("r{record}"));
        origin.confidence = Confidence::clamped([50, 80, 100][self.below(3)]);
        hashed(CompanyRecord {
            sites: sites(&[&format!("quill{site}.example")]),
            ids: ids(&[&format!("x:{id}")]),
            page_rank: Some(format!("{}", self.below(9))),
            origin,
            ..company(&format!("Quill {name}"))
        })
    }

    fn suppressed(&mut self) -> Suppressed {
        match self.below(4) {
            0 => Suppressed::Email(email(self.one(&EMAILS))),
            1 => Suppressed::Phone(phone(self.one(&PHONES))),
            2 => Suppressed::PersonPage(person_page(self.one(&HANDLES))),
            _ => Suppressed::Domain(domain(self.one(&DOMAINS))),
        }
    }
}

fn check(folder: &Path) {
    let connection = sqlite::reader(&folder.join("directory.sqlite")).unwrap();
    let secrets = Secrets::load(&folder.join(SECRET_FILE)).unwrap();
    let writer = Writer::new(&connection, &secrets, Timestamp::UNIX_EPOCH).unwrap();
    let mut identifiers = BTreeSet::new();
    let mut employees = BTreeSet::new();
    let mut words = BTreeSet::new();
    for (id, kind, profile) in rows(&connection, "SELECT id, kind, profile FROM subject") {
        let subject = subject_id(id.parse().unwrap());
        let is_company = kind == COMPANY.to_string();
        let kind = if is_company { Kind::Company } else { Kind::Person };
        let subject_facts = writer.subject_facts(subject, kind).unwrap();
        // `subject_facts` leaves out employers that no longer exist. An import also leaves them out
        // before it derives the data.
        let derived = Derived::from(subject, kind, &subject_facts.merged()).unwrap();
        assert_eq!(derived.profile.as_deref(), Some(profile.as_str()));
        for ((kind, key), strength) in derived.identifiers {
            let confidence = stored_confidence(strength.confidence);
            identifiers.insert((kind as i64, key, strength.tier, sql_id(subject), confidence));
        }
        let sources = subject_facts.given.iter().map(|given| given.source);
        let is_held = "SELECT count(*) FROM source WHERE id = ?1";
        for source in sources {
            let count = connection.query_row(is_held, [source], |row| row.get::<_, i64>(0));
            assert_eq!(count.unwrap(), 1, "source {source}");
        }
        words.extend(
            derived.words.into_iter().map(|(word, length)| (word, sql_id(subject), length)),
        );
        employees.extend(derived.employer.map(|company| (sql_id(company), sql_id(subject))));
    }
    let mut statement =
        connection.prepare("SELECT kind, key, tier, subject, confidence FROM identifier").unwrap();
    let held = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)));
    assert_eq!(held.unwrap().map(Result::unwrap).collect::<BTreeSet<_>>(), identifiers);
    let mut statement = connection.prepare("SELECT company, person FROM employee").unwrap();
    let held = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(held.unwrap().map(Result::unwrap).collect::<BTreeSet<_>>(), employees);
    let mut statement = connection.prepare("SELECT word FROM name_word").unwrap();
    let all: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut held = BTreeSet::new();
    for word in all {
        let each = |posting: Posting| {
            held.insert((word.clone(), sql_id(SubjectId(posting.company)), posting.words));
        };
        View::of(&connection).postings(&word, each).unwrap();
    }
    assert_eq!(held, words);
    assert_eq!(index_check::problems(&connection).unwrap(), [] as [&str; 0]);
    for stray in [
        "SELECT count(*) FROM fact",
        "SELECT count(*) FROM domain_fact WHERE source NOT IN (SELECT id FROM source)",
        "SELECT count(*) FROM record WHERE source NOT IN (SELECT id FROM source)",
        "SELECT count(*) FROM employee WHERE company NOT IN (SELECT id FROM subject)",
    ] {
        let count: i64 = connection.query_row(stray, [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0, "{stray}");
    }
}

fn rows(connection: &Connection, query: &str) -> Vec<(String, String, String)> {
    let mut statement = connection.prepare(query).unwrap();
    let rows = statement.query_map([], |row| {
        let (id, kind): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok((id.to_string(), kind.to_string(), row.get(2)?))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

#[test]
fn what_is_looked_up_is_what_the_facts_make() {
    for seed in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let mut chance = Chance(seed);
        for step in 0..60 {
            pollster::block_on(change(&store, &mut chance, step > 30));
            if step < 10 || step % 5 == 4 {
                check(folder.path());
            }
        }
    }
}

#[test]
fn nothing_is_left_when_every_source_is_removed() {
    for seed in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let mut chance = Chance(100 + seed);
        for step in 0..30 {
            pollster::block_on(change(&store, &mut chance, step > 20));
        }
        let connection = sqlite::reader(&folder.path().join(DIRECTORY.file)).unwrap();
        let rows = |table| {
            let query = format!("SELECT count(*) FROM {table}");
            connection.query_row(&query, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        assert!(rows("subject") > 0 && rows("name_word") > 0);
        for source in SOURCES {
            let source = SourceName::new(source).unwrap();
            pollster::block_on(store.importer.remove_source(&source)).unwrap();
        }
        for table in TABLES {
            assert_eq!(rows(table), 0, "{table}");
        }
    }
}

/// Returns all rows of [`TABLES`] as texts.
fn contents(folder: &Path) -> Vec<String> {
    let connection = sqlite::reader(&folder.join(DIRECTORY.file)).unwrap();
    let mut all = Vec::new();
    for table in TABLES {
        let columns = format!("SELECT group_concat(quote(name)) FROM pragma_table_info('{table}')");
        let columns: String = connection.query_row(&columns, [], |row| row.get(0)).unwrap();
        let columns = columns.replace('\'', "");
        let quoted = columns.split(',').map(|name| format!("quote({name})"));
        let quoted = quoted.collect::<Vec<_>>().join(" || ' ' || ");
        let rows = format!("SELECT {quoted} FROM {table} ORDER BY {columns}");
        let mut statement = connection.prepare(&rows).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        all.extend(rows.map(|row| format!("{table} {}", row.unwrap())));
    }
    all
}

/// Imports the same records into new directories in several ways.
struct Loads<'a> {
    records: &'a [Record],
    /// All loads use these secrets. With different secrets, the directories would contain different
    /// keyed hashes of the same records.
    secrets: &'a Secrets,
}

impl Loads<'_> {
    /// Returns the contents of a new directory after two imports in batches of `at_once` records,
    /// and the outcomes of all records. Each transaction keeps at most `unwritten` bytes of rows in
    /// memory.
    fn new_directory(
        &self,
        at_once: usize,
        unwritten: usize,
        atomic: Atomic,
    ) -> (Vec<String>, Vec<ImportOutcome>) {
        let folder = tempfile::tempdir().unwrap();
        let ports = crate::tests::open(folder.path(), Options::default());
        let mut importer = Arc::into_inner(ports.importer).unwrap();
        importer.target.unwritten = unwritten;
        importer.target.secrets = self.secrets.clone();
        let mut outcomes = Vec::new();
        for source in ["a", "b"] {
            let options = ImportOptions {
                atomic,
                ..ImportOptions::new(source, Timestamp::UNIX_EPOCH).unwrap()
            };
            let mut session = pollster::block_on(importer.begin(options)).unwrap();
            for batch in self.records.chunks(at_once) {
                outcomes.extend(pollster::block_on(session.import_batch(batch.to_vec())).unwrap());
            }
            pollster::block_on(session.finish()).unwrap();
        }
        (contents(folder.path()), outcomes)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rows_that_wait_in_memory_become_the_same_directory(seed in any::<u64>()) {
        let mut chance = Chance(seed);
        let records: Vec<Record> = (0..40).map(|_| chance.record()).collect();
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::create(&folder.path().join(SECRET_FILE)).unwrap();
        let loads = Loads { records: &records, secrets: &secrets };
        let one_by_one = loads.new_directory(1, 0, Atomic::InParts);
        prop_assert!(!one_by_one.0.is_empty());
        prop_assert_eq!(&loads.new_directory(7, usize::MAX, Atomic::InParts), &one_by_one);
        prop_assert_eq!(&loads.new_directory(3, 0, Atomic::Whole), &one_by_one);
    }

    #[test]
    fn companies_saved_in_groups_become_the_same_directory(seed in any::<u64>()) {
        let mut chance = Chance(seed);
        let records: Vec<Record> = (0..30).map(|_| chance.company_record()).collect();
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::create(&folder.path().join(SECRET_FILE)).unwrap();
        let loads = Loads { records: &records, secrets: &secrets };
        let one_by_one = loads.new_directory(1, 0, Atomic::InParts);
        prop_assert_eq!(&loads.new_directory(30, usize::MAX, Atomic::InParts), &one_by_one);
    }

    #[test]
    fn groups_that_are_derived_together_become_the_same_directory(seed in any::<u64>()) {
        let mut chance = Chance(seed);
        let records: Vec<Record> = (0..60).map(|number| chance.distinct_record(number)).collect();
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::create(&folder.path().join(SECRET_FILE)).unwrap();
        let loads = Loads { records: &records, secrets: &secrets };
        let one_by_one = loads.new_directory(1, 0, Atomic::InParts);
        prop_assert_eq!(&loads.new_directory(60, usize::MAX, Atomic::InParts), &one_by_one);
        prop_assert_eq!(&loads.new_directory(20, 0, Atomic::InParts), &one_by_one);
    }
}

async fn change(store: &Store, chance: &mut Chance, forgets: bool) {
    let source = SourceName::new(chance.one(&SOURCES)).unwrap();
    match chance.below(12) {
        0 => drop(store.importer.remove_source(&source).await.unwrap()),
        1 if forgets => {
            let what = chance.suppressed();
            let what = std::slice::from_ref(&what);
            store.importer.forget(what, Timestamp::UNIX_EPOCH).await.unwrap();
        }
        _ => {
            let options = ImportOptions::new(source.as_str(), Timestamp::UNIX_EPOCH).unwrap();
            let mut session = store.importer.begin(options).await.unwrap();
            let records = (0..5).map(|_| chance.record()).collect();
            session.import_batch(records).await.unwrap();
            session.finish().await.unwrap();
        }
    }
}

/// Statements that make a directory look as if another build had derived it, or as if a run of
/// `enrich reindex` had been interrupted.
const OTHERWISE: [&str; 3] = [
    "UPDATE state SET derived_by = 0, companies = 0; DELETE FROM identifier; DELETE FROM employee;
     DELETE FROM name_word; DELETE FROM name_word_chunk; DELETE FROM name_word_variant;",
    "UPDATE state SET derived_by = 0, companies = companies / 2;
     DELETE FROM identifier WHERE subject % 2; DELETE FROM employee WHERE person % 2;
     DELETE FROM name_word WHERE length(word) % 2;",
    "UPDATE state SET derived_by = 1000; UPDATE identifier SET key = key || 'x';
     UPDATE name_word SET last = x'0505';",
];

#[test]
fn a_directory_of_other_rules_is_refused_until_it_is_reindexed() {
    let folder = tempfile::tempdir().unwrap();
    let mut chance = Chance(7);
    for otherwise in OTHERWISE {
        let store = Store::open_or_create(folder.path()).unwrap();
        for _ in 0..20 {
            pollster::block_on(change(&store, &mut chance, false));
        }
        let mut never = |_, _| unreachable!("it is in use");
        let refused = Store::reindex(folder.path(), &mut never);
        assert!(matches!(refused, Err(OpenError::InUse { .. })));
        drop(store);
        let connection = sqlite::writer(&folder.path().join(DIRECTORY.file), Durability::Commit);
        connection.unwrap().execute_batch(otherwise).unwrap();
        let refused = Store::open(folder.path());
        assert!(matches!(refused, Err(OpenError::DerivedBefore { .. })), "{refused:?}");
        let mut told = Vec::new();
        let done = Store::reindex(folder.path(), &mut |done, all| told.push((done, all))).unwrap();
        assert_eq!(told, [(0, done), (done, done)]);
        check(folder.path());
    }
}

/// Moves the facts of all companies and people into rows of the table `fact`, where earlier
/// versions stored them. Now they are in the column `facts`, beside the profile.
fn into_rows(folder: &Path) {
    let connection = sqlite::writer(&folder.join(DIRECTORY.file), Durability::Commit).unwrap();
    for (id, _, profile) in rows(&connection, "SELECT id, kind, profile FROM subject") {
        let facts = "SELECT facts FROM subject WHERE id = ?1";
        let facts: Vec<u8> = connection.query_row(facts, [&id], |row| row.get(0)).unwrap();
        let unpacked = stored_facts::unpack(&facts, &profile).unwrap();
        for (ordinal, (given, fact)) in (0..).zip(unpacked.facts) {
            let Given { source, record, at } = &unpacked.given[given];
            let record = record.id();
            let insert = "INSERT INTO fact VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
            let attribute = attribute_code(fact.attribute);
            let country = fact.country.map(|country| country.alpha2());
            let (confidence, at) = (fact.confidence.percent(), at.as_microsecond());
            let of_fact = (attribute, fact.value, country, source, record, confidence, at);
            let (attribute, value, country, source, record, confidence, at) = of_fact;
            let id: i64 = id.parse().unwrap();
            let row: i64 = ordinal;
            connection
                .execute(
                    insert,
                    params![id, row, attribute, value, country, source, record, confidence, at],
                )
                .unwrap();
        }
    }
    connection
        .execute_batch("UPDATE subject SET facts = x''; UPDATE state SET derived_by = 1")
        .unwrap();
}

#[test]
fn facts_in_rows_are_moved_beside_the_profiles() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let mut chance = Chance(11);
    for _ in 0..30 {
        pollster::block_on(change(&store, &mut chance, true));
    }
    drop(store);
    // Deriving leaves out employers that no longer exist. After this first run, no stored fact
    // names such an employer.
    Store::reindex(folder.path(), &mut |_, _| {}).unwrap();
    // The table `fact` cannot store everything: for a record without an id, it does not store which
    // record gave a fact. So a first move into this table and back to the column `facts` loses this
    // information. The contents after this first move are compared with those after a second move,
    // which loses nothing more.
    into_rows(folder.path());
    Store::reindex(folder.path(), &mut |_, _| {}).unwrap();
    let before = contents(folder.path());
    into_rows(folder.path());
    assert!(matches!(Store::open(folder.path()), Err(OpenError::DerivedBefore { .. })));
    Store::reindex(folder.path(), &mut |_, _| {}).unwrap();
    assert_eq!(contents(folder.path()), before);
    check(folder.path());
}

#[test]
fn an_index_that_is_not_what_it_says_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let mut chance = Chance(3);
    for _ in 0..20 {
        pollster::block_on(change(&store, &mut chance, false));
    }
    assert!(store.check().unwrap().directory.problems.is_empty());
    for (harm, told) in [
        ("UPDATE state SET companies = companies + 1", "holds"),
        ("UPDATE name_word SET companies = companies + 1", "and lists"),
        ("UPDATE name_word SET last = x'80'", "cannot be read"),
        ("UPDATE name_word SET last = x'ffff0301', companies = 1", "is not there"),
        ("UPDATE name_word SET last = x'01010001', companies = 2", "out of order"),
        ("DELETE FROM name_word_variant", "lacks a variant"),
        ("DELETE FROM name_word", "variants are of words"),
        ("INSERT INTO name_word_chunk VALUES ('nobody', 1, x'0101')", "lists are of words"),
    ] {
        let connection = sqlite::writer(&folder.path().join(DIRECTORY.file), Durability::Commit);
        let connection = connection.unwrap();
        let transaction = connection.unchecked_transaction().unwrap();
        transaction.execute_batch(harm).unwrap();
        let problems = index_check::problems_of_one_state(&transaction).unwrap();
        assert!(problems.iter().any(|problem| problem.contains(told)), "{harm}: {problems:?}");
        assert!(problems.last().unwrap().contains("enrich reindex"));
        transaction.rollback().unwrap();
    }
}
