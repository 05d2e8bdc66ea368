//! A simulated installation for tests: a machine that imports, the folder to which it publishes
//! snapshots, and the nodes that answer from them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use enrich_core::port::directory::Directory;
use enrich_core::port::importer::Importer;
use enrich_core::port::snapshots::{SecretCheck, Snapshot, SnapshotNumber};
use enrich_core::{
    Company, CompanyRecord, CompanyRef, DirectoryRevision, Found, PersonRecord, PersonRef,
    Projection, Question, Record, Timestamp,
};
use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_snapshot::{
    PublishFrom, SnapshotDirectory, SnapshotError, SnapshotSettings, file_name, publish,
};
use enrich_store::{Options, Store};
use enrich_testkit::fake_ports::MemorySnapshots;
use enrich_testkit::loading::load_from;
use enrich_testkit::records::{
    company, company_name, email, emails, hashed, person, person_page, sites,
};
use enrich_text::Domain;
use pollster::block_on;
use tempfile::TempDir;

/// Time limit for a change to take effect. It is long, because the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) list: Arc<MemorySnapshots>,
    pub(crate) builder: Store,
    pub(crate) folder: TempDir,
}

pub(crate) struct Node {
    pub(crate) directory: SnapshotDirectory,
    pub(crate) data: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("location")).unwrap();
        let builder = Store::open_or_create(folder.path().join("builder")).unwrap();
        let secrets = Secrets::load(&folder.path().join("builder").join(SECRET_FILE)).unwrap();
        let list = Arc::new(MemorySnapshots::default());
        *list.secrets.lock() = checks(&secrets);
        Self { list, builder, folder }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("builder")
    }

    pub(crate) fn location(&self) -> PathBuf {
        self.folder.path().join("location")
    }

    pub(crate) fn published_file(&self, number: u64) -> PathBuf {
        self.location().join(file_name(SnapshotNumber(number)))
    }

    pub(crate) fn secrets(&self) -> Secrets {
        Secrets::load(&self.data().join(SECRET_FILE)).unwrap()
    }

    pub(crate) fn import(&self, records: Vec<Record>) {
        let mut session = block_on(self.builder.importer.begin(load_from("a"))).unwrap();
        block_on(session.import_batch(records)).unwrap();
        block_on(session.finish()).unwrap();
    }

    pub(crate) fn import_company(&self, name: &str) {
        self.import(vec![a_company(name)]);
    }

    pub(crate) fn publish(&self) -> Snapshot {
        self.try_publish().unwrap()
    }

    pub(crate) fn try_publish(&self) -> Result<Snapshot, SnapshotError> {
        let (data, location) = (self.data(), self.location());
        publish(&*self.list, &PublishFrom { data, location, at: Timestamp::UNIX_EPOCH })
    }

    pub(crate) fn settings(&self, name: &str) -> SnapshotSettings {
        SnapshotSettings {
            data: self.folder.path().join(name),
            location: self.location(),
            secrets: self.secrets(),
            options: Options::default(),
        }
    }

    pub(crate) fn node(&self, name: &str) -> Node {
        self.try_node(name).unwrap()
    }

    pub(crate) fn try_node(&self, name: &str) -> Result<Node, SnapshotError> {
        let settings = self.settings(name);
        let data = settings.data.clone();
        let directory = SnapshotDirectory::open(Arc::clone(&self.list) as _, settings)?;
        Ok(Node { directory, data })
    }
}

impl Node {
    pub(crate) fn live(&self) -> u64 {
        self.directory.status().live.0
    }

    pub(crate) fn wait_for(&self, number: u64) {
        wait_until(|| self.live() == number);
    }

    pub(crate) fn company(&self, name: &str) -> Option<(Company, DirectoryRevision)> {
        let question = Question::Company(CompanyRef::Domain(domain_of(name)));
        let found = block_on(self.directory.find(&question, Projection::Profile)).unwrap()?;
        Some((found.company().unwrap().clone(), found.revision))
    }

    /// Returns the domains of the companies that a name may mean.
    pub(crate) fn candidates(&self, name: &str) -> Vec<String> {
        let question = Question::Candidates { name: company_name(name), country: None };
        let found = block_on(self.directory.find(&question, Projection::Profile)).unwrap();
        let list = found.as_ref().and_then(Found::candidates).unwrap_or_default();
        list.iter().filter_map(|one| one.domain.clone()).collect()
    }

    pub(crate) fn has_person(&self, address: &str) -> bool {
        let question = Question::Person(PersonRef::Email(email(address)));
        block_on(self.directory.find(&question, Projection::Profile)).unwrap().is_some()
    }

    pub(crate) fn files(&self) -> Vec<String> {
        names_in(&self.data.join(enrich_snapshot::SNAPSHOTS))
    }
}

pub(crate) fn checks(secrets: &Secrets) -> Vec<SecretCheck> {
    let check = |secret: &enrich_secrets::Secret| SecretCheck {
        id: secret.id(),
        hash: secret.check_hash(),
    };
    secrets.newest_first().map(check).collect()
}

pub(crate) fn domain_of(name: &str) -> Domain {
    Domain::parse(&format!("{name}.example")).unwrap()
}

pub(crate) fn a_company(name: &str) -> Record {
    hashed(CompanyRecord {
        sites: sites(&[&format!("{name}.example")]),
        emails: emails(&[&format!("info@{name}.example"), &format!("sales@{name}.example")]),
        ..company(name)
    })
}

pub(crate) fn a_person(handle: &str, address: &str) -> Record {
    hashed(PersonRecord {
        page: Some(person_page(handle)),
        emails: emails(&[address]),
        ..person("Ada", handle)
    })
}

pub(crate) fn wait_until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it takes too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
