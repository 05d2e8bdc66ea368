//! A server process that is a node: its accounts and its ledger are in PostgreSQL, and it shares
//! them with other nodes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use enrich_core::port::directory::Directory;
use enrich_core::{Clock, Service, ServicePorts};
use enrich_server::{Prepared, SharedStore};
use enrich_snapshot::{SnapshotDirectory, SnapshotSettings};
use enrich_store::{DirectoryStore, Options, Secrets, SystemClock, load_secrets};
use enrich_store_postgres as postgres;

use crate::account_ports::node_folder_error;
use crate::served::{LISTS, with_settings};
use crate::settings::{Settings, StoreUrl};
use crate::store_metrics;

/// A node: its directory, and its connection to PostgreSQL.
pub(crate) struct Node {
    directory: Arc<dyn Directory>,
    /// The same directory as `directory`, if it consists of snapshots (published copies of the
    /// look-up data); otherwise `None`. The metrics show its status.
    snapshots: Option<Arc<SnapshotDirectory>>,
    store: postgres::Store,
    lists: PathBuf,
}

impl Node {
    /// Opens the PostgreSQL database and the directory (the look-up data). If the settings name a
    /// location of snapshots (published copies of the look-up data), the directory consists of
    /// snapshots. Otherwise it is the directory in the folder `data`. In this case, also loads what
    /// look-ups need, so that the first look-up is not slower than later ones.
    ///
    /// # Errors
    ///
    /// When the directory or PostgreSQL cannot be used.
    pub(crate) fn open(data: &Path, url: &StoreUrl, settings: &Settings) -> anyhow::Result<Self> {
        let Some(location) = &settings.directory_from else {
            let (node, directory) = Self::with_directory(data, url, settings)?;
            directory.directory.prepare()?;
            return Ok(node);
        };
        let secrets = load_secrets(data).map_err(node_folder_error)?;
        let store = open_store(url, &secrets, settings)?;
        let snapshots = SnapshotSettings {
            data: data.into(),
            location: location.clone(),
            secrets,
            options: directory_options(settings),
        };
        let directory = SnapshotDirectory::open(Arc::clone(&store.snapshots) as _, snapshots)?;
        let directory = Arc::new(directory);
        let (snapshots, lists) = (Some(Arc::clone(&directory)), data.join(LISTS));
        Ok(Self { directory, snapshots, store, lists })
    }

    /// Opens PostgreSQL, and the directory (the look-up data) in the folder `data`.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open).
    pub(crate) fn with_directory(
        data: &Path,
        url: &StoreUrl,
        settings: &Settings,
    ) -> anyhow::Result<(Self, DirectoryStore)> {
        let directory = DirectoryStore::open_or_create_with(data, &directory_options(settings));
        let directory = directory.map_err(node_folder_error)?;
        let store = open_store(url, directory.secrets(), settings)?;
        let look_ups = Arc::clone(&directory.directory) as _;
        let lists = data.join(LISTS);
        Ok((Self { directory: look_ups, snapshots: None, store, lists }, directory))
    }

    /// Returns what the server needs to serve this node, such as the service, the sign-ins and the
    /// folder of bulk lists.
    pub(crate) fn prepared(self, settings: &Settings, greeting: String) -> Prepared {
        let Self { directory, snapshots, store, lists } = self;
        let job_records = Some(Arc::clone(&store.jobs) as _);
        let lists = settings.lists.clone().unwrap_or(lists);
        let mut service = Service::new(ServicePorts {
            directory,
            accounts: Arc::clone(&store.accounts) as _,
            ledger: Arc::clone(&store.ledger) as _,
            rate_limiter: Arc::new(store.rate_limiter(settings.rate_policy.into())),
            usage: Arc::clone(&store.usage) as _,
            clock: Arc::new(SystemClock),
        });
        service.misses = store.misses.clone().map(|misses| misses as _);
        let sign_ins = Arc::clone(&store.sign_ins) as _;
        let store = Arc::new(store);
        let asked = Arc::clone(&store);
        let reason = move || asked.not_ready(SystemClock.now()).map(|reason| reason.to_string());
        let metrics = move || {
            let snapshot = snapshots.as_ref().map(|directory| directory.status());
            store_metrics::metrics(&store, snapshot)
        };
        let shared_store =
            SharedStore { unready_reason: Arc::new(reason), metrics: Arc::new(metrics) };
        Prepared {
            service: with_settings(service, settings),
            sign_ins,
            lists,
            job_records,
            shares_lists: settings.lists.is_some(),
            shared_store: Some(shared_store),
            greeting,
        }
    }
}

fn directory_options(settings: &Settings) -> Options {
    Options { min_name_confidence: settings.min_confidence.0, ..Options::default() }
}

fn open_store(
    url: &StoreUrl,
    secrets: &Secrets,
    settings: &Settings,
) -> anyhow::Result<postgres::Store> {
    let options = postgres::Options {
        node: host_name(),
        accepts_one_copy: settings.one_copy,
        max_idempotency_records: settings.max_kept,
        count_misses: settings.count_misses.into(),
        ..postgres::Options::default()
    };
    Ok(postgres::Store::open(url.expose(), secrets, options)?)
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
