//! Opens the store: connects to the database, registers this process as a node, and starts its
//! tasks.

use std::sync::Arc;
use std::time::Duration;

use enrich_core::{RatePolicy, Timestamp};
use enrich_ledger::MissCounter;
use enrich_secrets::Secrets;
use jiff::SignedDuration;

use crate::accounts::PostgresAccounts;
use crate::connect::Connector;
use crate::heartbeat::Heartbeat;
use crate::janitor;
use crate::jobs::PostgresJobs;
use crate::ledger::PostgresLedger;
use crate::misses::MissedNames;
use crate::node::{Node, Options};
use crate::open_error::OpenError;
use crate::rate_windows::PostgresRateLimiter;
use crate::runtime::Runtime;
use crate::schema;
use crate::seals;
use crate::sign_ins::PostgresSignIns;
use crate::snapshots::PostgresSnapshots;
use crate::usage::PostgresUsage;

/// The ports of a node: the objects through which the core uses the store.
pub struct Store {
    /// Stores accounts and API keys.
    pub accounts: Arc<PostgresAccounts>,
    /// Decides and stores charges and grants, and reads the ledger.
    pub ledger: Arc<PostgresLedger>,
    /// Stores the sign-ins of owners to account pages.
    pub sign_ins: Arc<PostgresSignIns>,
    /// Counts calls by day, account, key, endpoint and outcome.
    pub usage: Arc<PostgresUsage>,
    /// Stores the list of snapshots (published copies of the look-up data).
    pub snapshots: Arc<PostgresSnapshots>,
    /// The counter of missed names (company names that look-ups did not find); `None` when they are
    /// not counted.
    pub misses: Option<Arc<MissCounter>>,
    /// Stores the records of jobs. A job looks up the rows of an uploaded list.
    pub jobs: Arc<PostgresJobs>,
    node: Node,
    heartbeat: Heartbeat,
}

/// The ports (the traits through which the core uses a store) for an operator's command. A process
/// with these ports is not a node: it has no heartbeat, counts no rate limits and does no
/// background work.
pub struct CommandPorts {
    /// Stores accounts and API keys.
    pub accounts: Arc<PostgresAccounts>,
    /// Decides and stores charges and grants, and reads the ledger.
    pub ledger: Arc<PostgresLedger>,
    /// Stores the sign-ins of owners to account pages.
    pub sign_ins: Arc<PostgresSignIns>,
    /// Stores the list of snapshots (published copies of the look-up data).
    pub snapshots: Arc<PostgresSnapshots>,
    /// The counts of missed names: company names that look-ups did not find.
    pub missed_names: MissedNames,
}

/// Creates or upgrades the schema of the database at `url`. The user in the URL must own the
/// database. Returns the number of migrations that ran: 0 if the schema was up to date.
///
/// # Errors
///
/// See [`OpenError`]. After [`OpenError::Schema`], the schema is unchanged. After any error, the
/// call may be repeated.
pub fn migrate(url: &str, secrets: &Secrets) -> Result<usize, OpenError> {
    let connector = Connector::new(url)?;
    let secrets = secrets.clone();
    let runtime = Runtime::start().map_err(OpenError::Thread)?;
    let migrating = async move { schema::migrate(&connector, &secrets).await };
    runtime.block_on(migrating).map_err(|lost| OpenError::Statement(lost.into()))?
}

impl Store {
    /// Connects to the database at `url`. Checks that its schema is the one that this build needs,
    /// and that the database was created with these secrets.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(url: &str, secrets: &Secrets, options: Options) -> Result<Self, OpenError> {
        let node = Node::open(url, secrets, options)?;
        let heartbeat = Heartbeat::start(&node)?;
        janitor::start(&node, &heartbeat);
        let unsealed = seals::start(&node, &heartbeat);
        let misses = MissCounter::new(node.options.count_misses, secrets).map(Arc::new);
        Ok(Self {
            accounts: Arc::new(PostgresAccounts::new(node.clone())),
            ledger: Arc::new(PostgresLedger::start(&node, Some(unsealed))),
            sign_ins: Arc::new(PostgresSignIns::new(node.clone())),
            usage: Arc::new(PostgresUsage::start(&node, &heartbeat, misses.clone())),
            misses,
            snapshots: Arc::new(PostgresSnapshots::new(&node, Some(&heartbeat))),
            jobs: Arc::new(PostgresJobs::new(&node)),
            node,
            heartbeat,
        })
    }

    /// Starts the rate limiter, whose windows all nodes share. `policy` must be the rate policy of
    /// the service.
    pub fn rate_limiter(&self, policy: RatePolicy) -> PostgresRateLimiter {
        PostgresRateLimiter::start(&self.node, &self.heartbeat, policy)
    }

    /// Returns how long ago the database was last reached.
    pub fn silence(&self) -> Duration {
        self.node.pulse.last().began.elapsed()
    }

    /// Returns the number of nodes, including this node, whose last heartbeat was less than five
    /// seconds ago.
    pub fn live_nodes(&self) -> u32 {
        self.heartbeat.live_nodes().number()
    }

    /// Returns how far the node's clock is ahead of the database's clock; negative if it is behind.
    /// `now` is the time of the node's clock.
    pub fn skew(&self, now: Timestamp) -> SignedDuration {
        self.heartbeat.skew(now)
    }
}

impl CommandPorts {
    /// Connects to the database at `url`, as [`Store::open`] does, but also accepts a database
    /// without a synchronous standby. Only a server, which charges calls, requires a standby.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(url: &str, secrets: &Secrets) -> Result<Self, OpenError> {
        let options = Options { accepts_one_copy: true, ..Options::default() };
        let node = Node::open(url, secrets, options)?;
        Ok(Self {
            accounts: Arc::new(PostgresAccounts::new(node.clone())),
            ledger: Arc::new(PostgresLedger::start(&node, None)),
            snapshots: Arc::new(PostgresSnapshots::new(&node, None)),
            missed_names: MissedNames::new(&node),
            sign_ins: Arc::new(PostgresSignIns::new(node)),
        })
    }
}
