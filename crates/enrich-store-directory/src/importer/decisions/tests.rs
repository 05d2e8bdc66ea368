//! Checks that decisions of the operator stay in force when records are imported, removed or
//! derived again. A decision says that certain records are one company, or that they are never one
//! company.

use std::path::Path;

use enrich_core::port::importer::{Atomic, ImportOptions, Importer, Suppressed};
use enrich_core::{CompanyRecord, Record, SourceName};
use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_store_sqlite::Options;
use enrich_testkit::records::{
    company, company_name, domain, external_id, hashed, ids, sites, with_id,
};
use pollster::block_on;
use proptest::prelude::*;

use super::*;
use crate::DIRECTORY;
use crate::directory::codes::subject_id;
use crate::importer::derive_all;
use crate::tests::open;

const AT: Timestamp = Timestamp::UNIX_EPOCH;

fn import(importer: &SqliteImporter, source: &str, records: &[Record]) {
    let options =
        ImportOptions { atomic: Atomic::InParts, ..ImportOptions::new(source, AT).unwrap() };
    let mut session = block_on(importer.begin(options)).unwrap();
    block_on(session.import_batch(records.to_vec())).unwrap();
    block_on(session.finish()).unwrap();
}

fn remove(importer: &SqliteImporter, source: &str) {
    block_on(importer.remove_source(&SourceName::new(source).unwrap())).unwrap();
}

/// Returns a company's record to which its source gives the id `id`.
fn of_id(id: &str, name: &str, host: &str, external: &[&str]) -> Record {
    hashed(CompanyRecord {
        origin: with_id(id),
        sites: sites(&[host]),
        ids: ids(external),
        ..company(name)
    })
}

/// Returns a company's record to which its source gives no id.
fn at_host(name: &str, host: &str, external: &[&str]) -> Record {
    hashed(CompanyRecord { sites: sites(&[host]), ids: ids(external), ..company(name) })
}

fn found(importer: &SqliteImporter, key: &CompanyKey) -> Vec<CompanyRecords> {
    block_on(importer.companies(key)).unwrap()
}

fn named(importer: &SqliteImporter, name: &str) -> Vec<CompanyRecords> {
    found(importer, &CompanyKey::Name(company_name(name)))
}

/// Returns the records of the only company at the domain `host`. Panics if there is no company or
/// if there are several.
fn records_at(importer: &SqliteImporter, host: &str) -> Vec<DecidedRecord> {
    let found = found(importer, &CompanyKey::Domain(domain(host)));
    let [company] = found.as_slice() else { panic!("{host}: {found:?}") };
    company.records.iter().map(DecidedRecord::of).collect()
}

fn decide(
    importer: &SqliteImporter,
    kind: DecisionKind,
    sides: [Vec<DecidedRecord>; 2],
) -> Decided {
    block_on(importer.decide(kind, sides, AT)).unwrap()
}

/// Returns one text for each company: the sorted names of its records, joined by ` + `. The texts
/// are sorted too.
fn companies(folder: &Path) -> Vec<String> {
    let connection = sqlite::reader(&folder.join(DIRECTORY.file)).unwrap();
    let secrets = Secrets::load(&folder.join(SECRET_FILE)).unwrap();
    let writer = Writer::new(&connection, &secrets, AT).unwrap();
    let mut explorer = Explorer::new(&writer).unwrap();
    let all = "SELECT id FROM subject WHERE kind = 1";
    let all: Vec<i64> = connection.list(all, [], |row| row.get(0)).unwrap();
    let names = |id| {
        let loaded = explorer.load(subject_id(id)).unwrap().unwrap();
        let records = loaded.records.iter().map(|(_, it)| it.display_name().unwrap().to_owned());
        let mut records: Vec<String> = records.collect();
        records.sort();
        records.join(" + ")
    };
    let mut all: Vec<String> = all.into_iter().map(names).collect();
    all.sort();
    all
}

fn reindex(folder: &Path) {
    let secrets = Secrets::load(&folder.join(SECRET_FILE)).unwrap();
    derive_all(&folder.join(DIRECTORY.file), &secrets, &mut |_, _| ()).unwrap();
}

#[test]
fn a_merge_outlives_imports_removals_and_reindex() {
    let folder = tempfile::tempdir().unwrap();
    let importer = open(folder.path(), Options::default()).importer;
    let first = [of_id("17", "Quill", "quill.example", &["x:1"])];
    let second = [at_host("Ink", "ink.example", &["x:2"])];
    import(&importer, "a", &first);
    import(&importer, "b", &second);
    let sides = [records_at(&importer, "quill.example"), records_at(&importer, "ink.example")];
    let decided = decide(&importer, DecisionKind::Merge, sides.clone());
    assert_eq!(decided, Decided::Stored(1));
    assert_eq!(companies(folder.path()), ["Ink + Quill"]);
    assert_eq!(decide(&importer, DecisionKind::Merge, sides), Decided::Known(1));
    import(&importer, "a", &first);
    reindex(folder.path());
    assert_eq!(companies(folder.path()), ["Ink + Quill"]);
    remove(&importer, "b");
    assert_eq!(companies(folder.path()), ["Quill"]);
    // The record "Ink" is imported again with another external id. The decision stays in force.
    import(&importer, "b", &[at_host("Ink", "ink.example", &["x:3"])]);
    assert_eq!(companies(folder.path()), ["Ink + Quill"]);
    remove(&importer, "a");
    remove(&importer, "b");
    assert_eq!(companies(folder.path()), [""; 0]);
    import(&importer, "b", &second);
    import(&importer, "a", &[of_id("17", "Quill Pens", "pens.example", &["x:1"])]);
    assert_eq!(companies(folder.path()), ["Ink + Quill Pens"]);
    let taken_back = block_on(importer.take_decision_back(1, AT)).unwrap();
    assert_eq!(taken_back.map(|stored| stored.decision.number), Some(1));
    assert_eq!(companies(folder.path()), ["Ink", "Quill Pens"]);
    assert_eq!(block_on(importer.take_decision_back(1, AT)).unwrap(), None);
    assert_eq!(block_on(importer.decisions()).unwrap(), []);
}

#[test]
fn a_split_outlives_imports_removals_and_reindex() {
    let folder = tempfile::tempdir().unwrap();
    let importer = open(folder.path(), Options::default()).importer;
    let first = [of_id("1", "Quill", "quill.example", &["x:1"])];
    let second = [of_id("2", "Quill", "quill.example", &["x:1"])];
    import(&importer, "a", &first);
    import(&importer, "b", &second);
    assert_eq!(companies(folder.path()), ["Quill + Quill"]);
    let records = records_at(&importer, "quill.example");
    let sides = [vec![records[0].clone()], vec![records[1].clone()]];
    assert_eq!(decide(&importer, DecisionKind::Split, sides.clone()), Decided::Stored(1));
    let apart = ["Quill", "Quill"];
    assert_eq!(companies(folder.path()), apart);
    let merge = decide(&importer, DecisionKind::Merge, sides);
    assert_eq!(merge, Decided::Contradicted(1));
    import(&importer, "b", &second);
    reindex(folder.path());
    assert_eq!(companies(folder.path()), apart);
    remove(&importer, "b");
    assert_eq!(companies(folder.path()), ["Quill"]);
    import(&importer, "b", &second);
    assert_eq!(companies(folder.path()), apart);
    // A further record is added to one of the two companies. This new record must not unite them.
    import(&importer, "c", &[at_host("Quill Ltd", "quill.example", &[])]);
    assert_eq!(companies(folder.path()).len(), 2);
    block_on(importer.take_decision_back(1, AT)).unwrap();
    assert_eq!(companies(folder.path()), ["Quill + Quill + Quill Ltd"]);
}

#[test]
fn a_company_is_found_by_its_number_domain_id_and_name() {
    let folder = tempfile::tempdir().unwrap();
    let importer = open(folder.path(), Options::default()).importer;
    import(&importer, "a", &[of_id("1", "Quill Ltd", "quill.example", &["x:1"])]);
    let [quill] = named(&importer, "Quill").try_into().unwrap();
    for key in [
        CompanyKey::Number(quill.company.id),
        CompanyKey::Id(external_id("x:1")),
        CompanyKey::Domain(domain("quill.example")),
    ] {
        let found = found(&importer, &key);
        assert_eq!(found.len(), 1, "{key:?}");
        assert_eq!(found[0].company, quill.company);
    }
    assert!(found(&importer, &CompanyKey::Number(SubjectId(99))).is_empty());
    assert!(named(&importer, "Ink").is_empty());
}

#[test]
fn a_forgotten_domain_is_in_no_decision() {
    let folder = tempfile::tempdir().unwrap();
    let importer = open(folder.path(), Options::default()).importer;
    import(&importer, "a", &[of_id("1", "Quill", "quill.example", &[])]);
    import(&importer, "b", &[at_host("Ink", "www2.quill.example", &[])]);
    let records = |name: &str| -> Vec<DecidedRecord> {
        named(&importer, name).iter().flat_map(|it| &it.records).map(DecidedRecord::of).collect()
    };
    decide(&importer, DecisionKind::Merge, [records("Quill"), records("Ink")]);
    assert_eq!(companies(folder.path()), ["Ink + Quill"]);
    block_on(importer.forget(&[Suppressed::Domain(domain("quill.example"))], AT)).unwrap();
    let [stored] = block_on(importer.decisions()).unwrap().try_into().unwrap();
    let id = Some("1".to_owned());
    let left =
        DecidedRecord { source: "a".to_owned(), id, name: String::new(), place: String::new() };
    assert_eq!(stored.decision.sides, [vec![left], Vec::new()]);
}

#[test]
fn a_snapshot_has_the_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let importer = open(folder.path(), Options::default()).importer;
    import(&importer, "a", &[of_id("1", "Quill", "quill.example", &[])]);
    import(&importer, "b", &[at_host("Ink", "ink.example", &[])]);
    let sides = [records_at(&importer, "quill.example"), records_at(&importer, "ink.example")];
    decide(&importer, DecisionKind::Merge, sides);
    let copy = folder.path().join("copy");
    crate::copy_into(&folder.path().join(DIRECTORY.file), &copy).unwrap();
    let copied = stored_decisions(&sqlite::reader(&copy).unwrap()).unwrap();
    assert_eq!(copied, block_on(importer.decisions()).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// The same records and decisions always give the same directory. The order of the imports does
    /// not matter, nor whether the decisions are made before the first or before the last import.
    #[test]
    fn decisions_give_the_same_companies_for_any_order_of_the_imports(
        rows in prop::collection::vec((0..3_usize, 0..3_usize, 0..3_usize), 4..9),
        order in Just((0..9_usize).collect::<Vec<_>>()).prop_shuffle(),
        is_merge in prop::collection::vec(any::<bool>(), 2),
    ) {
        let names = ["Quill", "Quill Ltd", "Ink"];
        let hosts = ["quill.example", "quill.ch", "ink.example"];
        let external = [&["x:1"][..], &["x:2"], &[]];
        let record = |at: usize| {
            let (name, host, id) = rows[at];
            of_id(&at.to_string(), names[name], hosts[host], external[id])
        };
        let decided = |at: usize| DecidedRecord {
            source: format!("s{at}"),
            id: Some(at.to_string()),
            name: String::new(),
            place: String::new(),
        };
        let kinds = is_merge.iter().map(|is_merge| match is_merge {
            true => DecisionKind::Merge,
            false => DecisionKind::Split,
        });
        let decide_all = |importer: &SqliteImporter| {
            for (at, kind) in kinds.clone().enumerate() {
                decide(importer, kind, [vec![decided(2 * at)], vec![decided(2 * at + 1)]]);
            }
        };
        let imported = |order: &[usize], decide_after: usize| {
            let folder = tempfile::tempdir().unwrap();
            let importer = open(folder.path(), Options::default()).importer;
            for (number, at) in order.iter().filter(|at| **at < rows.len()).enumerate() {
                if number == decide_after {
                    decide_all(&importer);
                }
                import(&importer, &format!("s{at}"), &[record(*at)]);
            }
            (companies(folder.path()), profiles(folder.path()))
        };
        let in_order: Vec<usize> = (0..9).collect();
        let expected = imported(&in_order, 0);
        prop_assert_eq!(&imported(&order, 0), &expected);
        prop_assert_eq!(&imported(&order, rows.len() - 1), &expected);
    }
}

/// Returns the profiles of all companies, sorted.
fn profiles(folder: &Path) -> Vec<String> {
    let connection = sqlite::reader(&folder.join(DIRECTORY.file)).unwrap();
    let all = "SELECT profile FROM subject WHERE kind = 1 ORDER BY profile";
    connection.list(all, [], |row| row.get(0)).unwrap()
}
