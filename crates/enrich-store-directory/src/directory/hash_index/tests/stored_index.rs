//! Tests of the stored hash index.

use std::fs;

use super::super::stored::{self, DirectoryState};
use super::*;

impl Folder {
    fn path(&self) -> PathBuf {
        self.folder.path().join(DIRECTORY.file)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("directory.index")
    }

    fn state(&self) -> DirectoryState {
        DirectoryState::read(&sqlite::mapped_reader(&self.path()).unwrap()).unwrap()
    }

    /// Returns the stored index, if it is valid for the current state.
    fn stored(&self) -> Option<HashIndex> {
        stored::load(&self.path(), &self.state())
    }

    /// Checks that the stored hash index leads to the same companies and people as the table
    /// `identifier`. Returns two numbers: the number of all identifiers, and the number of
    /// identifiers whose entry in the hash index is `Entry::Elsewhere`. Such an entry names no
    /// company or person. Look-ups of these identifiers read the table instead.
    fn check_stored(&self) -> (usize, usize) {
        let stored = self.stored().expect("no index is stored");
        let (mut count, mut elsewhere) = (0, 0);
        let connection = sqlite::mapped_reader(&self.path()).unwrap();
        each_identifier(
            &connection,
            AT_ONCE,
            |_| Ok(true),
            |kind, key, holder| {
                count += 1;
                match stored.locate(kind, key) {
                    IndexResult::Unknown => elsewhere += 1,
                    IndexResult::Nowhere => panic!("{key} is missing"),
                    IndexResult::At(IndexHit { subject, confidence, .. }) => {
                        let expected = (holder.subject, holder.confidence);
                        assert_eq!((subject, confidence), expected, "{key}");
                    }
                }
            },
        )
        .unwrap();
        let found =
            |n: u16| stored.locate(IdentifierKind::CompanyEmail, &format!("no{n}@none.example"));
        let strangers = (0..1_000).filter(|n| found(*n) != IndexResult::Nowhere).count();
        assert!(strangers < 5, "{strangers}");
        (count, elsewhere)
    }
}

fn with_emails(name: &str, percent: u8, addresses: &[String]) -> Record {
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let sites = sites(&[&format!("{name}.example")]);
    let origin = trusted(percent);
    hashed(CompanyRecord { sites, emails: emails(&addresses), origin, ..company(name) })
}

#[test]
fn a_load_stores_the_index_of_a_new_directory() {
    let folder = Folder::new();
    assert!(folder.stored().is_none());
    load(&folder.store, (0..300).map(|n| with_site(&format!("held{n}.example"))).collect());
    let (count, elsewhere) = folder.check_stored();
    // By chance, two identifiers may have the same bucket and the same fingerprint. They then share
    // one entry. It cannot name two companies, so it is `Entry::Elsewhere`.
    assert!(count == 300 && elsewhere <= 4, "{count} {elsewhere}");
}

#[test]
fn later_loads_change_the_stored_index() {
    let folder = Folder::new();
    load(&folder.store, (0..2_000).map(|n| with_site(&format!("held{n}.example"))).collect());
    let size = fs::metadata(folder.file()).unwrap().len();
    // The loads change entries of the file, but do not replace the file. So the keys with which its
    // identifiers are hashed stay the same.
    let keys = folder.stored().unwrap().keys;
    for round in 0..20_usize {
        // The first load of a round gives three addresses: one from the previous round, a new one,
        // and one that is new in every second round. For example, round 4 gives `a4`, `a5` and
        // `a102`. The second load gives the first of them again, with a higher confidence. So
        // entries are both added and changed.
        let address = |number: usize| format!("a{number}@post.example");
        let addresses = [address(round), address(round + 1), address(100 + round / 2)];
        load(&folder.other, vec![with_emails(&format!("quill{round}"), 50, &addresses)]);
        load(&folder.store, vec![with_emails(&format!("quill{round}"), 90, &addresses[..1])]);
        let (count, elsewhere) = folder.check_stored();
        assert!(count > 2_000 + round && elsewhere <= 8 + 4 * round, "{count} {elsewhere}");
    }
    assert_eq!(folder.stored().unwrap().keys, keys);
    assert_eq!(fs::metadata(folder.file()).unwrap().len(), size);
}

#[test]
fn a_file_that_is_full_is_replaced() {
    let folder = Folder::new();
    load(&folder.store, vec![with_site("quill.example")]);
    for part in 0..4 {
        let site = |n: usize| with_site(&format!("held{n}.example"));
        load(&folder.store, (part * 500..(part + 1) * 500).map(site).collect());
        assert_eq!(folder.check_stored().0, 1 + 500 * (part + 1));
    }
}

#[test]
fn nothing_forgotten_stays_in_the_file() {
    let folder = Folder::new();
    load(&folder.store, vec![with_site("quill.example")]);
    let forgotten = [Suppressed::Domain(domain("quill.example"))];
    block_on(folder.store.importer.forget(&forgotten, noon())).unwrap();
    assert!(!folder.file().exists());
}

#[test]
fn a_file_of_another_state_or_a_damaged_one_is_not_used() {
    let folder = Folder::new();
    load(&folder.store, vec![with_site("quill.example")]);
    let earlier = fs::read(folder.file()).unwrap();
    load(&folder.store, vec![with_site("nib.example")]);
    let whole = fs::read(folder.file()).unwrap();
    assert!(folder.stored().is_some());
    let mut flipped = whole.clone();
    flipped[20] ^= 1;
    for bytes in [&earlier, &flipped, &whole[..whole.len() - 1], &whole[..100]] {
        fs::write(folder.file(), bytes).unwrap();
        assert!(folder.stored().is_none());
    }
    // The other directory has the same revision but other content, as a restored backup may have.
    fs::write(folder.file(), &whole).unwrap();
    let other = Folder::new();
    load(&other.store, vec![with_site("ink.example")]);
    load(&other.store, vec![with_site("pen.example")]);
    assert_eq!(other.state().revision, folder.state().revision);
    fs::copy(folder.file(), other.file()).unwrap();
    assert!(other.stored().is_none());
}

#[test]
fn a_load_beside_which_another_writes_does_not_change_the_file() {
    let folder = Folder::new();
    load(&folder.store, (0..100).map(|n| with_site(&format!("held{n}.example"))).collect());
    block_on(async {
        let mut session = folder.store.importer.begin(load_from("a")).await.unwrap();
        session.import_batch(vec![with_site("quill.example")]).await.unwrap();
        // The first load, `session`, still has a transaction open. It commits if no further records
        // arrive for a short time. The second load waits until then, and writes afterwards.
        load(&folder.other, vec![with_site("nib.example")]);
        session.import_batch(vec![with_site("ink.example")]).await.unwrap();
        session.finish().await.unwrap();
    });
    assert!(folder.stored().is_none());
}

#[test]
fn a_server_uses_what_is_stored_and_stores_what_it_builds() {
    let folder = Folder::new();
    load(&folder.store, vec![with_site("quill.example")]);
    let key = (IdentifierKind::CompanyDomain, "quill.example");
    let misled = misled(&folder, key, None);
    stored::store(&folder.path(), &misled, &folder.state()).unwrap();
    folder.other.directory.prepare().unwrap();
    let wait = |is_done: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !is_done() {
            assert!(begun.elapsed() < Duration::from_secs(30), "it has no index");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    wait(&|| folder.other.directory.index.get().is_some());
    let question = by_domain("quill.example");
    let find = || block_on(folder.other.directory.find(&question, Projection::Profile)).unwrap();
    assert_eq!(find(), None, "the stored index says so");
    stored::remove(&folder.path()).unwrap();
    folder.other.directory.index.clear();
    wait(&|| folder.stored().is_some());
    assert!(find().is_some());
}
