//! Checks that the same records give the same directory, in whatever order the sources are
//! imported.

use std::path::Path;

use enrich_core::port::importer::{Atomic, ImportOptions, Importer};
use enrich_core::{CompanyRecord, Record, SourceName, Timestamp};
use enrich_secrets::SECRET_FILE;
use enrich_store::Store;
use enrich_store_sqlite::{self as sqlite, Options};
use enrich_testkit::records::{aliases, company, countries, hashed, ids, phones, sites, with_id};
use pollster::block_on;
use proptest::prelude::*;

use super::*;
use crate::DIRECTORY;

const NAMES: [&str; 7] =
    ["Quill", "Quill Ltd", "Quill Group", "Ink", "Ink (Switzerland)", "Nib", "Quill Films"];
const DOMAINS: [&str; 6] =
    ["quill.example", "eu.quill.example", "quill.ch", "ink.example", "nib.example", "ink.ch"];
const IDS: [&str; 4] = ["x:1", "x:2", "y:1", "y:2"];

type Row = (usize, Vec<usize>, Vec<usize>, Vec<usize>, Option<usize>, bool);

fn any_row() -> impl Strategy<Value = Row> {
    let some = |end: usize, most: usize| prop::collection::vec(0..end, 0..=most);
    let phone = prop::option::weighted(0.2, 0..2_usize);
    (0..NAMES.len(), some(6, 2), some(4, 1), some(7, 1), phone, any::<bool>())
}

fn record(number: usize, row: &Row) -> Record {
    let (name, domains, id, alias, phone, has_seat) = row;
    let texts = |of: &[usize], all: &[&'static str]| -> Vec<&'static str> {
        of.iter().map(|at| all[*at]).collect()
    };
    let numbers = ["+442079460001", "+442079460002"];
    hashed(CompanyRecord {
        // Every record has an id of its own, so two equal rows are two records.
        origin: with_id(&number.to_string()),
        sites: sites(&texts(domains, &DOMAINS)),
        ids: ids(&texts(id, &IDS)),
        aliases: aliases(&texts(alias, &NAMES)),
        phones: phone.map(|at| phones(&[numbers[at]])).unwrap_or_default(),
        seats: if *has_seat { countries(&["CH"]) } else { Vec::new() },
        ..company(NAMES[*name])
    })
}

/// Imports the records of one source.
fn import(importer: &dyn Importer, source: &str, records: &[Record]) {
    let options = ImportOptions {
        atomic: Atomic::InParts,
        ..ImportOptions::new(source, Timestamp::UNIX_EPOCH).unwrap()
    };
    let mut session = block_on(importer.begin(options)).unwrap();
    block_on(session.import_batch(records.to_vec())).unwrap();
    block_on(session.finish()).unwrap();
}

/// Returns the profiles of all companies, sorted.
fn profiles(folder: &Path) -> Vec<String> {
    let connection = sqlite::reader(&folder.join(DIRECTORY.file)).unwrap();
    let all = "SELECT profile FROM subject WHERE kind = 1 ORDER BY profile";
    connection.list(all, [], |row| row.get(0)).unwrap()
}

/// Returns the number of companies according to the table `state`.
fn counted(folder: &Path) -> usize {
    let connection = sqlite::reader(&folder.join(DIRECTORY.file)).unwrap();
    connection.value("SELECT companies FROM state", []).unwrap()
}

fn unresolved(folder: &Path) -> i64 {
    let connection = sqlite::reader(&folder.join(DIRECTORY.file)).unwrap();
    connection.value("SELECT count(*) FROM unresolved", []).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_order_of_the_sources_gives_the_same_companies(
        rows in prop::collection::vec(any_row(), 1..24),
        order in Just(vec!["a", "b", "c", "d"]).prop_shuffle(),
        gone in 0..4_usize,
    ) {
        let sources = ["a", "b", "c", "d"];
        let of_source = |source: &str| -> Vec<Record> {
            let rows = rows.iter().enumerate();
            let of = rows.filter(|(number, _)| sources[number % 4] == source);
            of.map(|(number, row)| record(number, row)).collect()
        };
        let imported = |order: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open_or_create(folder.path()).unwrap();
            order.iter().for_each(|source| import(&*store.importer, source, &of_source(source)));
            (folder, store)
        };
        let (folder, store) = imported(&sources);
        let expected = profiles(folder.path());
        prop_assert_eq!(&profiles(imported(&order).0.path()), &expected);
        // After a source is removed, only the values of the other sources remain. After this source
        // is imported again, the directory is the same as before.
        let source = SourceName::new(sources[gone]).unwrap();
        block_on(store.importer.remove_source(&source)).unwrap();
        let others: Vec<&str> = order.iter().copied().filter(|it| *it != sources[gone]).collect();
        prop_assert_eq!(&profiles(folder.path()), &profiles(imported(&others).0.path()));
        import(&*store.importer, sources[gone], &of_source(sources[gone]));
        prop_assert_eq!(&profiles(folder.path()), &expected);
        prop_assert_eq!(counted(folder.path()), expected.len());
        prop_assert_eq!(unresolved(folder.path()), 0);
    }
}

/// A register's record has the name `Nib Works Ltd` and an id, but no domain. At first, only one
/// company has the alias `Nib Works`, so the record is added to this company. Then a second company
/// with this alias is imported. Now the name does not show which company is meant, so the record
/// becomes a company of its own.
#[test]
fn a_name_alone_leaves_its_company_when_a_second_namesake_comes() {
    let aka = |name: &str, site: &str| {
        hashed(CompanyRecord {
            sites: sites(&[site]),
            aliases: aliases(&["Nib Works"]),
            ..company(name)
        })
    };
    let ink = [aka("Ink Network", "ink.example")];
    let quill = [aka("Quill Group", "quill.example")];
    let register = [hashed(CompanyRecord { ids: ids(&["x:1"]), ..company("Nib Works Ltd") })];
    let import_all = |order: &[(&str, &[Record])]| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        order.iter().for_each(|(source, records)| import(&*store.importer, source, records));
        (folder, store)
    };
    let (whole, _) = import_all(&[("quill", &quill), ("ink", &ink), ("register", &register)]);
    let expected = profiles(whole.path());
    assert_eq!(expected.len(), 3);
    let (folder, store) = import_all(&[("register", &register), ("ink", &ink)]);
    assert_eq!(profiles(folder.path()).len(), 1);
    import(&*store.importer, "quill", &quill);
    assert_eq!(profiles(folder.path()), expected);
    block_on(store.importer.remove_source(&SourceName::new("quill").unwrap())).unwrap();
    assert_eq!(profiles(folder.path()).len(), 1);
    import(&*store.importer, "quill", &quill);
    assert_eq!(profiles(folder.path()), expected);
}

/// Checks that a value, such as a phone number, no longer links records when too many companies
/// have it. At first, only the two records `linked` have the value, so they are one company. After
/// an import of 70 further companies with the value, the two records are two companies. After the
/// removal of the 70 companies, the two records are one company again.
fn check_crowding(linked: &[Record], other: impl Fn(usize) -> Record) {
    let others: Vec<Record> = (0..70).map(other).collect();
    let import_all = |order: &[(&str, &[Record])]| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        order.iter().for_each(|(source, records)| import(&*store.importer, source, records));
        (folder, store)
    };
    let (whole, _) = import_all(&[("others", &others), ("linked", linked)]);
    let (folder, store) = import_all(&[("linked", linked)]);
    assert_eq!(profiles(folder.path()).len(), 1);
    import(&*store.importer, "others", &others);
    assert_eq!(profiles(folder.path()).len(), 72);
    assert_eq!(profiles(folder.path()), profiles(whole.path()));
    block_on(store.importer.remove_source(&SourceName::new("others").unwrap())).unwrap();
    assert_eq!(profiles(folder.path()).len(), 1);
}

#[test]
fn a_phone_number_that_many_companies_get_links_none() {
    let calling = |name: &str, site: &str| {
        hashed(CompanyRecord {
            sites: sites(&[site]),
            phones: phones(&["+442079460001"]),
            ..company(name)
        })
    };
    let linked = [calling("Quill", "quill.example"), calling("Quill Group", "ink.example")];
    check_crowding(&linked, |number| {
        calling(&format!("Nib Number {number}"), &format!("nib{number}.example"))
    });
}

#[test]
fn a_name_that_many_companies_get_links_no_record_of_the_name_alone() {
    let named =
        |name: &str, site: &str| hashed(CompanyRecord { sites: sites(&[site]), ..company(name) });
    let alone = hashed(CompanyRecord { ids: ids(&["x:1"]), ..company("Nib Works Ltd") });
    let linked = [named("Nib Works", "nib.example"), alone];
    check_crowding(&linked, |number| named("Nib Works", &format!("nib{number}.example")));
}

/// Imports the sources in each order, and checks that the companies are the same.
fn check_orders(sources: &[(&str, &[Record])], orders: &[&[usize]], companies: usize) {
    let mut all = Vec::new();
    for order in orders {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        for (source, records) in order.iter().map(|at| sources[*at]) {
            import(&*store.importer, source, records);
        }
        let profiles = profiles(folder.path());
        assert_eq!(profiles.len(), companies, "{order:?}");
        all.push(profiles);
    }
    all.windows(2).for_each(|pair| assert_eq!(pair[0], pair[1]));
}

/// Makes one record for each row: a company's name and its domain.
fn named(rows: &[(&str, &str)]) -> Vec<Record> {
    let record = |(name, site): &(&str, &str)| {
        hashed(CompanyRecord { sites: sites(&[site]), ..company(name) })
    };
    rows.iter().map(record).collect()
}

fn numbered(make: impl Fn(usize) -> (String, String)) -> Vec<Record> {
    let rows: Vec<(String, String)> = (0..70).map(make).collect();
    let rows: Vec<(&str, &str)> =
        rows.iter().map(|(name, site)| (name.as_str(), site.as_str())).collect();
    named(&rows)
}

#[test]
fn equal_names_at_a_host_of_very_many_companies_are_one_company_in_any_order() {
    let (one, other) =
        (named(&[("Quill", "campus.example")]), named(&[("Quill Ltd", "campus.example")]));
    let others = numbered(|number| (format!("Nib Number {number}"), "campus.example".to_owned()));
    let sources = [("one", &one[..]), ("other", &other[..]), ("others", &others[..])];
    check_orders(&sources, &[&[0, 1, 2], &[2, 0, 1], &[0, 2, 1]], 71);
}

#[test]
fn sites_of_a_name_that_very_many_companies_have_are_one_company_in_any_order() {
    let sites = named(&[("Nib Works", "nibworks.ch"), ("Nib Works", "nibworks.fr")]);
    let below = named(&[("Nib Works", "a.quill.example"), ("Nib Works", "quill.example")]);
    let others = numbered(|number| ("Nib Works".to_owned(), format!("nib{number}.example")));
    let sources = [("sites", &sites[..]), ("below", &below[..]), ("others", &others[..])];
    check_orders(&sources, &[&[0, 1, 2], &[2, 1, 0], &[1, 2, 0]], 72);
}

/// A record has two versions. The older version has the same domain as a record of another source,
/// which has the external id `x:1`. If these two are imported first, they are one company. Then the
/// newer version has the id `x:2`, which contradicts `x:1`, so the import adds it to a new company.
/// Entity resolution then puts both versions into one company, without the record of the other
/// source.
#[test]
fn versions_of_one_record_are_one_company_in_any_order() {
    let version = |site: &str, id: &[&'static str]| {
        let origin = with_id("7");
        [hashed(CompanyRecord { origin, sites: sites(&[site]), ids: ids(id), ..company("Quill") })]
    };
    let (first, second) = (version("pens.example", &[]), version("feathers.example", &["x:2"]));
    let other = [hashed(CompanyRecord {
        sites: sites(&["pens.example"]),
        ids: ids(&["x:1"]),
        ..company("Quill")
    })];
    let sources = [("s", &first[..]), ("t", &other[..]), ("s", &second[..])];
    check_orders(&sources, &[&[0, 1, 2], &[0, 2, 1], &[1, 0, 2]], 2);
}

/// At first, four organisations share a phone number: `Ink` (with `Ink Group`), `Feather`, `Nib`
/// and `Quill`. These are too many, so the number links no companies. The newer version of the
/// record of `Quill` has the name `Feather`. Now only three organisations share the number, so it
/// links `Ink` and `Ink Group`.
#[test]
fn a_newer_version_of_a_record_changes_whether_a_phone_number_links_others() {
    let calling = |name: &str, site: &str| {
        hashed(CompanyRecord {
            sites: sites(&[site]),
            phones: phones(&["+442079460001"]),
            ..company(name)
        })
    };
    let others = [
        calling("Ink", "ink.example"),
        calling("Ink Group", "drops.example"),
        calling("Feather", "feather.example"),
        calling("Nib", "nib.example"),
    ];
    let version = |name: &str| {
        let Record::Company(record) = calling(name, "quill.example") else { unreachable!() };
        [hashed(CompanyRecord { origin: with_id("7"), ..record })]
    };
    let (first, second) = (version("Quill"), version("Feather"));
    let sources = [("others", &others[..]), ("s", &first[..]), ("s", &second[..])];
    check_orders(&sources, &[&[0, 1, 2], &[1, 2, 0], &[1, 0, 2]], 3);
}

/// 71 companies have the same name: 70 have a domain, and one, from a register, has no domain. The
/// one without a domain can be linked with each of the 70. So it is in the neighbourhood of each
/// (the companies that can be linked with it), and all neighbourhoods overlap. But entity
/// resolution moves no record, so it needs only one part (transaction).
#[test]
fn overlapping_neighbourhoods_without_changes_are_resolved_in_one_part() {
    let folder = tempfile::tempdir().unwrap();
    let importer = crate::tests::open(folder.path(), Options::default()).importer;
    let others = numbered(|at| ("Phoenix".to_owned(), format!("fire{at}.example")));
    import(&*importer, "a", &others);
    let register = hashed(CompanyRecord { ids: ids(&["x:1"]), ..company("Phoenix Ltd") });
    import(&*importer, "b", &[register]);
    let path = folder.path().join(DIRECTORY.file);
    let secrets = Secrets::load(&folder.path().join(SECRET_FILE)).unwrap();
    let connection = turn::connect(&path).unwrap();
    connection.execute_batch("INSERT INTO unresolved SELECT id FROM subject").unwrap();
    let mut parts = 0;
    resolve_all(&connection, &secrets, None, || parts += 1).unwrap();
    assert_eq!((parts, profiles(folder.path()).len()), (1, 71));
}

/// Two companies have the same name, but the name alone cannot link them. Then entity resolution
/// need not compare them, so they are not noted in the table `unresolved`.
#[test]
fn companies_of_a_name_that_cannot_link_them_are_not_noted() {
    let folder = tempfile::tempdir().unwrap();
    let importer = crate::tests::open(folder.path(), Options::default()).importer;
    let options = ImportOptions {
        atomic: Atomic::InParts,
        ..ImportOptions::new("a", Timestamp::UNIX_EPOCH).unwrap()
    };
    let mut session = block_on(importer.begin(options)).unwrap();
    let named =
        |name: &str, site: &str| hashed(CompanyRecord { sites: sites(&[site]), ..company(name) });
    let records = [
        named("Quill", "pens.example"),
        named("Quill", "feathers.example"),
        named("Ink", "ink.ch"),
        named("Ink", "drops.example"),
    ];
    block_on(session.import_batch(records.to_vec())).unwrap();
    // This ends the import after its records were written, but before entity resolution (the step
    // that finds records of one company).
    drop(session);
    while profiles(folder.path()).len() < 4 {
        std::thread::yield_now();
    }
    // Only companies that can be linked with others by their name alone are noted. Of the four
    // companies, only the one at `ink.ch` can: its name (`Ink`) is the label of its domain.
    assert_eq!(unresolved(folder.path()), 1);
}

#[test]
fn an_interrupted_resolution_is_completed_by_the_next_import() {
    let named =
        |name: &str, site: &str| hashed(CompanyRecord { sites: sites(&[site]), ..company(name) });
    let first = [named("Quill", "quill.org")];
    let second = [named("Quill", "quill.ch"), named("Ink", "ink.example")];
    let other = [named("Nib", "nib.example")];
    let folder = tempfile::tempdir().unwrap();
    let importer = crate::tests::open(folder.path(), Options::default()).importer;
    import(&*importer, "a", &first);
    let options = ImportOptions {
        atomic: Atomic::InParts,
        ..ImportOptions::new("b", Timestamp::UNIX_EPOCH).unwrap()
    };
    let mut session = block_on(importer.begin(options)).unwrap();
    block_on(session.import_batch(second.to_vec())).unwrap();
    // This ends the import after its records were written, but before entity resolution (the step
    // that finds records of one company).
    drop(session);
    while profiles(folder.path()).len() < 3 {
        std::thread::yield_now();
    }
    assert_eq!(unresolved(folder.path()), 2);
    import(&*importer, "c", &other);
    assert_eq!(unresolved(folder.path()), 0);
    let whole = tempfile::tempdir().unwrap();
    let importer = crate::tests::open(whole.path(), Options::default()).importer;
    import(&*importer, "a", &first);
    import(&*importer, "b", &second);
    import(&*importer, "c", &other);
    assert_eq!(profiles(folder.path()), profiles(whole.path()));
    assert_eq!(profiles(whole.path()).len(), 3);
}
