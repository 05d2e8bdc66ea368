mod stored_index;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use enrich_core::port::directory::Directory;
use enrich_core::port::error::StoreError;
use enrich_core::port::importer::{Importer as _, Suppressed};
use enrich_core::{
    CompanyRecord, CompanyRef, Found, PersonRecord, PersonRef, Projection, Question, Record,
};
use enrich_store::{Options, Store};
use enrich_store_sqlite as sqlite;
use enrich_testkit::contract::{Harness, Ports, noon};
use enrich_testkit::loading::load_from;
use enrich_testkit::records::{
    company, domain, email, emails, hashed, page_url, person, person_page, phone, phones, sites,
    trusted,
};
use enrich_text::{CompanyName, Network};
use pollster::block_on;
use tempfile::TempDir;

use super::making::{AT_ONCE, Reading, each_identifier};
use super::*;
use crate::directory::view::View;
use crate::{DIRECTORY, DirectoryPorts, tests};

/// Two stores on one folder. The second store simulates a store in another process.
struct Folder {
    store: DirectoryPorts,
    other: DirectoryPorts,
    folder: TempDir,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let open = || tests::open(folder.path(), Options::default());
        Self { store: open(), other: open(), folder }
    }

    fn read(&self) -> Arc<HashIndex> {
        read(&self.folder.path().join(DIRECTORY.file))
    }

    /// Makes the look-ups of the first store use this index.
    fn go_by(&self, index: Arc<HashIndex>) {
        self.store.directory.index.0.store(Some(index));
    }

    fn index(&self) {
        self.go_by(self.read());
    }

    fn is_indexed(&self) -> bool {
        self.store.directory.index.get().is_some()
    }

    fn find(&self, question: &Question) -> Option<Found> {
        block_on(self.store.directory.find(question, Projection::Profile)).unwrap()
    }

    fn finds(&self, question: &Question) -> bool {
        self.find(question).is_some()
    }
}

/// Returns an index of the current content of the directory at `path`.
fn read(path: &Path) -> Arc<HashIndex> {
    let connection = sqlite::mapped_reader(path).unwrap();
    match HashIndex::read(&connection, |_| true).unwrap() {
        Reading::Made(index) => Arc::new(index),
        Reading::Changed | Reading::TooLarge(_) => panic!("nothing was read"),
    }
}

fn load(store: &DirectoryPorts, records: Vec<Record>) {
    block_on(async {
        let mut session = store.importer.begin(load_from("a")).await.unwrap();
        session.import_batch(records).await.unwrap();
        session.finish().await.unwrap();
    });
}

fn with_site(site: &str) -> Record {
    hashed(CompanyRecord { sites: sites(&[site]), ..company(site) })
}

fn by_domain(site: &str) -> Question {
    Question::Company(CompanyRef::Domain(domain(site)))
}

fn by_company_email(address: &str) -> Question {
    Question::Company(CompanyRef::Email(email(address)))
}

#[test]
fn nothing_that_is_held_is_nowhere_and_nearly_all_that_is_not() {
    let folder = Folder::new();
    load(&folder.store, (0..300).map(|n| with_site(&format!("held{n}.example"))).collect());
    // The index is first built with a table for a few identifiers (`EACH_HAS`) per company. This
    // company alone has more identifiers than that table has room for. So the index must be built a
    // second time, with a larger table.
    let many: Vec<String> = (300..5_000).map(|n| format!("held{n}.example")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    load(&folder.store, vec![hashed(CompanyRecord { sites: sites(&many), ..company("Quill") })]);
    let index = folder.read();
    let is_nowhere =
        |key: &str| index.locate(IdentifierKind::CompanyDomain, key) == IndexResult::Nowhere;
    assert!((0..5_000).all(|n| !is_nowhere(&format!("held{n}.example"))));
    let let_through = (0..10_000).filter(|n| !is_nowhere(&format!("other{n}.example"))).count();
    assert!(let_through < 20, "{let_through}");
    // The hash index contains no names of companies, so it does not know whether a company has the
    // name `nobody`.
    assert_eq!(index.locate(IdentifierKind::CompanyName, "nobody"), IndexResult::Unknown);
}

#[test]
fn whatever_is_asked_is_answered_with_an_index_as_without() {
    let folder = Folder::new();
    let quill = CompanyRecord {
        sites: sites(&["quill.example", "quill-shop.example"]),
        emails: emails(&["office@quill.example"]),
        pages: vec![page_url(Network::LinkedIn, "linkedin.com/company/quill")],
        ..company("Quill")
    };
    // Feather has the same email address as Quill, from a source with less confidence.
    let feather = CompanyRecord {
        sites: sites(&["feather.example"]),
        emails: emails(&["office@quill.example"]),
        origin: trusted(60),
        ..company("Feather")
    };
    let ada = PersonRecord {
        page: Some(person_page("ada-quill")),
        emails: emails(&["ada@post.example"]),
        phones: phones(&["+447700900123"]),
        ..person("Ada", "Quill")
    };
    let bob = PersonRecord { phones: phones(&["+447700900123"]), ..person("Bob", "Nib") };
    load(&folder.store, [hashed(quill), hashed(feather), hashed(ada), hashed(bob)].into());
    let named = |site: &str, name: &str| {
        let name = CompanyName::parse(name).unwrap();
        Question::Company(CompanyRef::DomainOrName(domain(site), name))
    };
    let by_page = |handle: &str| {
        let page = page_url(Network::LinkedIn, &format!("linkedin.com/company/{handle}"));
        Question::Company(CompanyRef::Page(page))
    };
    let questions: Vec<(bool, Question)> = vec![
        (true, by_domain("quill.example")),
        (true, by_domain("quill-shop.example")),
        (true, by_domain("feather.example")),
        (false, by_domain("nib.example")),
        (true, by_domain("shop.quill.example")),
        (false, by_domain("shop.nib.example")),
        (true, named("quill.example", "Nobody")),
        (true, named("nib.example", "Quill")),
        (false, named("nib.example", "Nobody")),
        (true, by_page("quill")),
        (false, by_page("nib")),
        (true, by_company_email("office@quill.example")),
        (true, by_company_email("office+desk@quill.example")),
        (true, by_company_email("else@quill.example")),
        (false, by_company_email("else@nib.example")),
        (true, Question::Person(PersonRef::Page(person_page("ada-quill")))),
        (false, Question::Person(PersonRef::Page(person_page("bob-quill")))),
        (true, Question::Person(PersonRef::Phone(phone("+447700900123")))),
        (false, Question::Person(PersonRef::Phone(phone("+447700900124")))),
        (true, Question::Person(PersonRef::Email(email("ada+list@post.example")))),
        (false, Question::Person(PersonRef::Email(email("bob@post.example")))),
    ];
    let answers = || questions.iter().map(|(_, question)| folder.find(question));
    let without: Vec<Option<Found>> = answers().collect();
    let is_found: Vec<bool> = without.iter().map(Option::is_some).collect();
    let expected: Vec<bool> = questions.iter().map(|(is_there, _)| *is_there).collect();
    assert_eq!(is_found, expected);
    let sure = |at: usize| without[at].as_ref().map(|found| found.confidence.percent());
    // The source of `quill.example` has a confidence of 100, and the source of `feather.example`
    // has 60. Two companies have the email address, so its confidence is at most 80.
    assert_eq!([sure(0), sure(2), sure(11)], [Some(100), Some(60), Some(80)]);
    folder.index();
    assert_eq!(answers().collect::<Vec<_>>(), without);
    assert!(folder.is_indexed());
}

#[test]
fn what_this_process_imports_is_found_at_once() {
    let folder = Folder::new();
    folder.index();
    assert!(!folder.finds(&by_domain("quill.example")));
    load(&folder.store, vec![with_site("quill.example")]);
    assert!(!folder.is_indexed());
    assert!(folder.finds(&by_domain("quill.example")));
    folder.index();
    let forgotten = [Suppressed::Domain(domain("quill.example"))];
    block_on(folder.store.importer.forget(&forgotten, noon())).unwrap();
    assert!(!folder.is_indexed());
}

#[test]
fn what_is_written_before_an_index_is_in_use_is_found() {
    let folder = Folder::new();
    let index = folder.read();
    load(&folder.store, vec![with_site("quill.example")]);
    folder.go_by(index);
    assert!(folder.finds(&by_domain("quill.example")));
}

#[test]
fn one_that_is_much_too_large_is_made_anew() {
    let folder = Folder::new();
    load(&folder.store, (0..2_000).map(|n| with_site(&format!("held{n}.example"))).collect());
    let before = folder.read().table.bytes();
    let gone = (1..2_000).map(|n| Suppressed::Domain(domain(&format!("held{n}.example"))));
    block_on(folder.store.importer.forget(&gone.collect::<Vec<_>>(), noon())).unwrap();
    assert!(folder.read().table.bytes() < before / 100);
}

/// Returns an index that may be wrong, because the test sets its content. It contains only one
/// identifier, which leads to the company or person with the id `subject`. If `subject` is `None`,
/// the index is empty.
fn misled(folder: &Folder, (kind, key): (IdentifierKind, &str), subject: Option<u64>) -> HashIndex {
    let mut index = Arc::into_inner(folder.read()).unwrap();
    index.table = Table::with_room_for(1).unwrap();
    if let Some(subject) = subject {
        let hash = index.keys.hash(kind, key);
        assert!(index.table.insert(hash, SubjectId(subject), Confidence::MIN));
    }
    index
}

/// Returns the entry of an identifier in a new index of the folder's directory. By chance, another
/// identifier may have the same fingerprint. The index then does not know the company or person of
/// either of them. So this function builds up to ten indexes, which hash the identifiers with
/// different keys.
fn hit(folder: &Folder, kind: IdentifierKind, key: &str) -> IndexHit {
    let located = (0..10).find_map(|_| match folder.read().locate(kind, key) {
        IndexResult::At(hit) => Some(hit),
        IndexResult::Nowhere | IndexResult::Unknown => None,
    });
    located.unwrap()
}

/// Imports two companies and two people that have identifiers of all kinds in [`KINDS`]. Returns
/// one identifier of each kind, with the look-up question that contains it.
fn one_of_each_kind(folder: &Folder) -> [(IdentifierKind, String, Question); 6] {
    let linkedin =
        |handle: &str| page_url(Network::LinkedIn, &format!("linkedin.com/company/{handle}"));
    let of_company = |name: &str| CompanyRecord {
        sites: sites(&[&format!("{name}.example"), &format!("{name}-shop.example")]),
        emails: emails(&[&format!("office@{name}.example"), &format!("post@{name}.example")]),
        pages: vec![linkedin(name), page_url(Network::Facebook, &format!("facebook.com/{name}"))],
        ..company(name)
    };
    let of_person = |name: &str, number: &str| PersonRecord {
        page: Some(person_page(name)),
        emails: emails(&[&format!("{name}@post.example"), &format!("{name}@mail.example")]),
        phones: phones(&[number]),
        ..person(name, "Quill")
    };
    let (quill, nib) = (of_company("quill"), of_company("nib"));
    let (ada, bob) = (of_person("ada", "+447700900123"), of_person("bob", "+447700900124"));
    load(&folder.store, [hashed(nib), hashed(bob), hashed(quill), hashed(ada)].into());
    let company = Question::Company;
    let person = Question::Person;
    let address = |text: &str| (email(text).as_str().to_owned(), email(text));
    let (office, office_email) = address("office@quill.example");
    let (post, post_email) = address("ada@post.example");
    [
        (
            IdentifierKind::CompanyDomain,
            "quill.example".to_owned(),
            company(CompanyRef::Domain(domain("quill.example"))),
        ),
        (
            IdentifierKind::CompanyPage,
            linkedin("quill").key().to_owned(),
            company(CompanyRef::Page(linkedin("quill"))),
        ),
        (IdentifierKind::CompanyEmail, office, company(CompanyRef::Email(office_email))),
        (
            IdentifierKind::PersonPage,
            person_page("ada").key().to_owned(),
            person(PersonRef::Page(person_page("ada"))),
        ),
        (IdentifierKind::PersonEmail, post, person(PersonRef::Email(post_email))),
        (
            IdentifierKind::PersonPhone,
            "+447700900123".to_owned(),
            person(PersonRef::Phone(phone("+447700900123"))),
        ),
    ]
}

#[test]
fn what_is_nowhere_is_not_looked_for() {
    let folder = Folder::new();
    load(&folder.store, vec![with_site("quill.example")]);
    let key = (IdentifierKind::CompanyDomain, "quill.example");
    folder.go_by(Arc::new(misled(&folder, key, None)));
    assert!(!folder.finds(&by_domain("quill.example")));
    assert!(!folder.finds(&by_domain("shop.quill.example")));
}

#[test]
fn the_index_in_the_file_is_not_read_for_what_is_located() {
    let folder = Folder::new();
    let kinds = one_of_each_kind(&folder);
    assert_eq!(kinds.each_ref().map(|(kind, ..)| *kind), KINDS);
    for (kind, key, question) in kinds {
        let hit = hit(&folder, kind, &key);
        folder.go_by(Arc::new(misled(&folder, (kind, &key), Some(hit.subject.0))));
        let found = folder.find(&question).unwrap();
        // Only the hash index in memory gives this identifier the confidence `MIN`. The table
        // `identifier` gives it a higher one. So this confidence shows that the table was not read.
        assert_eq!(found.confidence, Confidence::MIN, "{kind:?}");
    }
}

#[test]
fn one_that_leads_to_somebody_else_or_nobody_misleads_nobody() {
    let folder = Folder::new();
    for (kind, key, question) in one_of_each_kind(&folder) {
        folder.store.directory.index.clear();
        let without = folder.find(&question).unwrap();
        let hit = hit(&folder, kind, &key);
        let others = (0..8).chain([u64::MAX]).filter(|&id| id != hit.subject.0);
        for other in others {
            folder.go_by(Arc::new(misled(&folder, (kind, &key), Some(other))));
            assert_eq!(folder.find(&question).as_ref(), Some(&without), "{kind:?} {other}");
        }
    }
}

#[test]
fn each_identifier_is_read_once_with_the_first_who_has_it_wherever_reading_pauses() {
    let folder = Folder::new();
    one_of_each_kind(&folder);
    // Three companies share an email address. `dip.example` and `ink.example` are each the main
    // domain of one company and a further domain of another.
    let with = |name: &str, domains: &[&str]| {
        hashed(CompanyRecord {
            sites: sites(domains),
            emails: emails(&["all@shared.example"]),
            ..company(name)
        })
    };
    load(
        &folder.store,
        vec![with("Dip", &["dip.example"]), with("Ink", &["ink.example", "dip.example"])],
    );
    load(&folder.store, vec![with("Blot", &["blot.example", "ink.example"])]);
    let connection = sqlite::mapped_reader(folder.store.directory.readers.path()).unwrap();
    let view = View::of(&connection);
    let read = |at_once| {
        let mut all = Vec::new();
        let is_whole = each_identifier(
            &connection,
            at_once,
            |_| Ok(true),
            |kind, key, holder| {
                all.push((kind, key.to_owned(), holder.subject, holder.confidence));
            },
        );
        assert!(is_whole.unwrap());
        all
    };
    let all = read(AT_ONCE);
    assert!(all.is_sorted_by(|one, next| (one.0, &one.1) < (next.0, &next.1)));
    for (kind, key, subject, confidence) in &all {
        let holders = view.holders(*kind, key, 9).unwrap();
        let next_tier = holders.get(1).map(|next| next.tier);
        let expected = (holders[0].subject, holders[0].confidence_beside(next_tier));
        assert_eq!((*subject, *confidence), expected, "{key}");
    }
    let shared = |key: &str| all.iter().find(|it| it.1 == key).map(|it| it.3.percent());
    assert_eq!(
        [shared("all@shared.example"), shared("dip.example"), shared("ink.example")],
        [Some(80), Some(100), Some(100)]
    );
    for at_once in 1..6 {
        assert_eq!(read(at_once), all, "{at_once}");
    }
}

#[test]
fn what_changes_while_it_is_read_is_no_index() {
    let folder = Folder::new();
    load(&folder.store, vec![with_site("quill.example")]);
    let connection = sqlite::mapped_reader(folder.store.directory.readers.path()).unwrap();
    // `goes_on` returns `false`, as it does in a server whose directory is closed during the build.
    let reading = HashIndex::read(&connection, |_| false).unwrap();
    assert!(matches!(reading, Reading::Changed));
    let changes = |_| {
        load(&folder.other, vec![with_site("nib.example")]);
        true
    };
    let reading = HashIndex::read(&connection, changes).unwrap();
    assert!(matches!(reading, Reading::Changed));
    // `changes` now imports the same record a second time, so the directory stays unchanged.
    let reading = HashIndex::read(&connection, changes).unwrap();
    assert!(matches!(reading, Reading::Made(_)));
}

#[test]
fn what_is_found_is_of_the_present_state_whatever_the_index_is_of() {
    let folder = Folder::new();
    load(&folder.store, vec![with_site("quill.example")]);
    folder.index();
    let before = folder.find(&by_domain("quill.example")).unwrap();
    let renamed = CompanyRecord { sites: sites(&["quill.example"]), ..company("Quill and Nib") };
    load(&folder.other, vec![hashed(renamed)]);
    let after = folder.find(&by_domain("quill.example")).unwrap();
    assert!(after.revision > before.revision);
    assert_ne!(after.subject, before.subject);
    assert!(!folder.is_indexed(), "it is of another state");
}

#[test]
fn what_another_process_imports_is_found_a_moment_later() {
    let folder = Folder::new();
    folder.index();
    assert!(!folder.finds(&by_domain("quill.example")));
    load(&folder.other, vec![with_site("quill.example")]);
    let begun = Instant::now();
    while !folder.finds(&by_domain("quill.example")) {
        assert!(begun.elapsed() < Duration::from_secs(5), "it is never found");
    }
    assert!(!folder.is_indexed(), "it is of another state");
}

#[test]
fn a_look_up_that_keeps_to_one_state_asks_no_index_of_another() {
    let folder = Folder::new();
    folder.index();
    // The first look-up checks that the index is up to date. Then the other store imports a record.
    // Now the index is outdated, but the first store has not noticed this yet. Each of the last two
    // look-ups reads the database file several times, always in the same state of the directory.
    // The revision of this state is not that of the index, so they do not use the index.
    assert!(!folder.finds(&by_domain("quill.example")));
    load(&folder.other, vec![with_site("quill.example")]);
    assert!(folder.finds(&by_domain("shop.quill.example")));
    assert!(folder.finds(&by_company_email("ada@quill.example")));
}

#[test]
fn a_server_makes_one_and_makes_it_anew_when_the_directory_is_left_alone() {
    let folder = Folder::new();
    folder.store.directory.prepare().unwrap();
    let wait = || {
        let begun = Instant::now();
        while !folder.is_indexed() {
            assert!(begun.elapsed() < Duration::from_secs(30), "there is none");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    wait();
    load(&folder.store, vec![with_site("quill.example")]);
    assert!(!folder.is_indexed());
    wait();
    assert!(folder.finds(&by_domain("quill.example")));
}

#[test]
fn a_server_without_one_finds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { hash_index: false, ..Options::default() };
    let store = tests::open(folder.path(), options);
    store.directory.prepare().unwrap();
    load(&store, vec![with_site("quill.example")]);
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(store.directory.index.get().is_none());
    let question = by_domain("quill.example");
    let found = block_on(store.directory.find(&question, Projection::Profile));
    assert!(found.unwrap().is_some());
}

/// A directory that builds a hash index of its current content before each look-up.
struct Indexed(DirectoryPorts, PathBuf);

#[async_trait]
impl Directory for Indexed {
    async fn find(
        &self,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        let index = read(&self.1);
        self.0.directory.index.0.store(Some(index));
        self.0.directory.find(question, projection).await
    }

    async fn revision(&self) -> Result<DirectoryRevision, StoreError> {
        self.0.directory.revision().await
    }
}

struct Harnessed(TempDir);

impl Harnessed {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn open(&self) -> Ports {
        self.open_with(Options::default())
    }

    fn open_with(&self, options: Options) -> Ports {
        let store = Store::open_or_create_with(self.0.path(), &options).unwrap();
        let options = Options { min_name_confidence: Confidence::clamped(40), ..options };
        let ours = tests::open(self.0.path(), options);
        Ports {
            accounts: Arc::clone(&store.accounts) as _,
            ledger: Arc::clone(&store.ledger) as _,
            sign_ins: Arc::clone(&store.sign_ins) as _,
            usage: Arc::clone(&store.usage) as _,
            importer: Arc::clone(&ours.importer) as _,
            directory: Arc::new(Indexed(ours, self.0.path().join(DIRECTORY.file))),
        }
    }
}

#[async_trait]
impl Harness for Harnessed {
    async fn fresh(&self) -> Ports {
        self.open()
    }

    async fn fresh_keeping(&self, max_idempotency_records: u64) -> Ports {
        self.open_with(Options { max_idempotency_records, ..Options::default() })
    }

    async fn reopen(&self, ports: Ports) -> Ports {
        drop(ports);
        self.open()
    }
}

enrich_testkit::directory_contract!(Harnessed::new(), pollster::block_on);
enrich_testkit::importer_contract!(Harnessed::new(), pollster::block_on);
