//! The nodes that `enrich-bench swap` measures, which answer from snapshots of the look-up data,
//! and the data folder of the machine that imports companies.

use std::cell::Cell;
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use enrich_secrets::SECRET_FILE;
use enrich_testkit::http::{Connection, Reply};
use enrich_testkit::serving::Serving;

use crate::call::{Call, domain_to_name};
use crate::contest::wait_until_ready;
use crate::copy::copy_to_database;
use crate::folder::{self, FolderSpec, Keys, SHARED, Scratch};
use crate::postgres::Postgres;
use crate::prepare::prepare;
use crate::program::{Data, Program};

/// Pause between two requests to a node that has not yet given the expected answer.
const PAUSE: Duration = Duration::from_millis(20);
/// Time limit for a forgotten email address to disappear from the answers. After this time, the
/// measurement fails.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(30);

/// The nodes, the database and the folder of the machine that imports.
pub(crate) struct Fleet {
    program: Program,
    importer: Data,
    /// The folder of the snapshots, which all nodes read.
    location: PathBuf,
    // Rust drops the fields in the order of their declaration: the servers before the database.
    servers: Vec<Serving>,
    addresses: Vec<SocketAddr>,
    keys: Keys,
    _postgres: Postgres,
    /// The number of charged requests that [`Fleet`] itself has sent, to see what the nodes answer.
    /// The look-ups of the load are not included.
    charged: Cell<u64>,
}

/// The marker: a company that only the second snapshot has. It shows which snapshot a node answers
/// from.
pub(crate) struct Marker {
    domain: String,
    name: String,
    email: String,
}

impl Marker {
    pub(crate) fn new() -> Self {
        let domain = "wexcombe-marker.example".to_owned();
        Self { name: "Wexcombe Marker Ltd".into(), email: format!("post@{domain}"), domain }
    }

    fn line(&self) -> String {
        let Self { domain, name, email } = self;
        format!(
            r#"{{"type":"company","id":"marker","name":"{name}","country":"GB","domains":["{domain}"],"emails":["{email}"]}}"#
        )
    }
}

impl Fleet {
    /// Prepares the folders, publishes the first snapshot and starts the nodes.
    pub(crate) fn start(
        scratch: &Scratch,
        folder: &Path,
        program: &Program,
        spec: FolderSpec,
        nodes: u16,
        err: &mut dyn Write,
    ) -> anyhow::Result<Self> {
        let keys = prepare(scratch, program, spec, err)?;
        let postgres = Postgres::start(Duration::ZERO, false)?;
        let (importer, location) = (folder.join("importer"), folder.join("snapshots"));
        folder::copy(&scratch.folder(spec), &importer)?;
        // After `folder::copy`, the look-up data of the copy (`directory.sqlite`) is only a link to
        // the original file. The import changes this file, so the link is replaced by a real copy.
        fs::remove_file(importer.join(SHARED))?;
        fs::copy(scratch.folder(spec).join(SHARED), importer.join(SHARED))?;
        copy_to_database(program, &importer, &postgres.database.url())?;
        let importer = Data::with_store(&importer, postgres.url());
        let mut fleet = Self {
            program: program.clone(),
            importer,
            location,
            servers: Vec::new(),
            addresses: Vec::new(),
            keys,
            _postgres: postgres,
            charged: Cell::new(0),
        };
        writeln!(err, "publishing the first snapshot")?;
        fs::create_dir(&fleet.location)?;
        fleet.publish()?;
        for number in 1..=nodes {
            fleet.serve(&folder.join(format!("node-{number}")))?;
        }
        for address in &fleet.addresses {
            wait_until_ready(*address)?;
        }
        Ok(fleet)
    }

    fn serve(&mut self, folder: &Path) -> anyhow::Result<()> {
        DirBuilder::new().mode(0o700).create(folder)?;
        fs::copy(self.importer.folder.join(SECRET_FILE), folder.join(SECRET_FILE))?;
        let data = Data { folder: folder.to_owned(), store: self.importer.store.clone() };
        let location = self.location.to_str().context("the folder's name is not text")?;
        let log = File::create(folder.with_extension("log"))?;
        let options = ["--directory-from".to_owned(), location.to_owned()];
        let serving = self.program.serve(&data, &options, log)?;
        self.addresses.push(serving.address());
        self.servers.push(serving);
        Ok(())
    }

    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Imports the marker, a company that only the second snapshot has, into the folder of the
    /// machine that imports.
    pub(crate) fn import(&self, marker: &Marker) -> anyhow::Result<()> {
        self.program.import(&self.importer, [marker.line()].into_iter())
    }

    pub(crate) fn publish(&self) -> anyhow::Result<()> {
        let location = self.location.to_str().context("the folder's name is not text")?;
        self.run(["directory", "publish", location])
    }

    /// Makes all nodes answer from the snapshot with this number.
    pub(crate) fn answer_from(&self, number: u64) -> anyhow::Result<()> {
        self.run(["directory", "use", &number.to_string()])
    }

    pub(crate) fn forget(&self, marker: &Marker) -> anyhow::Result<()> {
        self.run(["forget", &marker.email])
    }

    fn run<const N: usize>(&self, words: [&str; N]) -> anyhow::Result<()> {
        let mut command = self.program.command(words);
        self.importer.name_in(&mut command);
        let output = command.output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`enrich {}`: {}", words[0], errors.trim());
        Ok(())
    }

    /// Waits until every node finds the company `marker`, which only the second snapshot has. If
    /// `is_there` is false, waits until no node finds it. Returns the times at which the first and
    /// the last node gave the expected answer.
    pub(crate) fn wait_for(
        &self,
        marker: &Marker,
        is_there: bool,
        limit: Duration,
    ) -> anyhow::Result<[Instant; 2]> {
        let call = domain_to_name(&marker.domain, &marker.name);
        let is_changed = |answer: &Reply| {
            let found = call
                .values
                .iter()
                .all(|(at, value)| answer.json().pointer(at).is_some_and(|there| there == value));
            found == is_there
        };
        self.wait_until(&call, is_changed, limit)
    }

    /// Checks that every node answers with the email address of the company `marker`.
    pub(crate) fn expect_address(&self, marker: &Marker) -> anyhow::Result<()> {
        let has_address = |answer: &Reply| answer.body.contains(&marker.email);
        self.wait_until(&emails_of(marker), has_address, Duration::ZERO).map(|_| ())
    }

    /// Waits until no node answers with the email address of the company `marker`. Returns the time
    /// at which the last node's answer changed.
    pub(crate) fn wait_for_no_address(&self, marker: &Marker) -> anyhow::Result<Instant> {
        let has_none = |answer: &Reply| !answer.body.contains(&marker.email);
        let [_, all] = self.wait_until(&emails_of(marker), has_none, FORGOTTEN_AFTER)?;
        Ok(all)
    }

    /// Sends the request of `call` to every node, again and again, until the node gives the
    /// expected answer. Returns the times at which the first and the last node gave it.
    fn wait_until(
        &self,
        call: &Call,
        is_awaited: impl Fn(&Reply) -> bool,
        limit: Duration,
    ) -> anyhow::Result<[Instant; 2]> {
        let request = call.request(&self.keys.hot, None);
        let began = Instant::now();
        let mut connections: Vec<_> = self.addresses.iter().copied().map(Connection::to).collect();
        let mut changed: Vec<Option<Instant>> = vec![None; connections.len()];
        loop {
            for (connection, changed) in connections.iter_mut().zip(&mut changed) {
                if changed.is_none() {
                    let answer = connection.send(&request)?;
                    ensure!(answer.status == 200, "a node answers {}", answer.status);
                    if answer.header("x-credits-used").is_some_and(|used| used != "0") {
                        self.charged.set(self.charged.get() + 1);
                    }
                    *changed = is_awaited(&answer).then(Instant::now);
                }
            }
            if let Some(times) = changed.iter().copied().collect::<Option<Vec<_>>>() {
                let first = times.iter().min().copied();
                let last = times.iter().max().copied();
                return first.zip(last).map(|(a, b)| [a, b]).context("there are no nodes");
            }
            if began.elapsed() >= limit {
                bail!("{} is not answered by all nodes as awaited", call.path);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Stops the nodes, and verifies the ledger: it must have one row for each of the `found`
    /// look-ups of the load (those that found a company), and for each charged request that
    /// [`Fleet`] itself has sent. Returns the number of rows.
    pub(crate) fn stop(self, found: u64) -> anyhow::Result<u64> {
        let Self { program, importer, servers, charged, .. } = self;
        servers.into_iter().try_for_each(Serving::stop)?;
        let proof = program.prove(&importer)?;
        let expected = found + charged.get();
        ensure!(
            proof.charges == expected,
            "the ledger has {} charges, and {expected} were answered",
            proof.charges
        );
        program.check(&importer)?;
        Ok(proof.charges)
    }
}

/// Returns a request for the email addresses of the company `marker`.
fn emails_of(marker: &Marker) -> Call {
    Call::new("/v1/dte", "companyDomain", marker.domain.clone())
}
