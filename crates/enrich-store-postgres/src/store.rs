//! Opens the store: connects to the database, registers this process, and starts its tasks.

use std::sync::Arc;
use std::time::Duration;

use enrich_core::{RatePolicy, Timestamp};
use enrich_secrets::Secrets;
use jiff::SignedDuration;

use crate::accounts::PostgresAccounts;
use crate::connect::Connector;
use crate::heartbeat::Heartbeat;
use crate::janitor;
use crate::ledger::PostgresLedger;
use crate::node::{Node, Options};
use crate::open_error::OpenError;
use crate::rate_windows::PostgresRateLimiter;
use crate::runtime::Runtime;
use crate::schema;
use crate::sign_ins::PostgresSignIns;
use crate::snapshots::PostgresSnapshots;
use crate::usage::PostgresUsage;

/// The ports of a node.
pub struct Store {
    /// Accounts and keys.
    pub accounts: Arc<PostgresAccounts>,
    /// The ledger.
    pub ledger: Arc<PostgresLedger>,
    /// Sign-ins to the account page.
    pub sign_ins: Arc<PostgresSignIns>,
    /// The usage counters.
    pub usage: Arc<PostgresUsage>,
    /// The snapshots of the directory.
    pub snapshots: Arc<PostgresSnapshots>,
    node: Node,
    heartbeat: Heartbeat,
}

/// The ports of an operator's command. Its process is no node: it has no heartbeat, and no part in
/// rate limits and background work.
pub struct CommandPorts {
    /// Accounts and keys.
    pub accounts: Arc<PostgresAccounts>,
    /// The ledger.
    pub ledger: Arc<PostgresLedger>,
    /// Sign-ins to the account page.
    pub sign_ins: Arc<PostgresSignIns>,
    /// The snapshots of the directory.
    pub snapshots: Arc<PostgresSnapshots>,
}

/// Makes or upgrades the schema of the database at `url`, which belongs to the user of the URL.
/// Returns the number of migrations that ran; 0 if the schema was up to date.
///
/// # Errors
///
/// See [`OpenError`]; the schema is unchanged then.
pub fn migrate(url: &str, secrets: &Secrets) -> Result<usize, OpenError> {
    let connector = Connector::new(url)?;
    let secrets = secrets.clone();
    let runtime = Runtime::start().map_err(OpenError::Thread)?;
    let migrating = async move { schema::migrate(&connector, &secrets).await };
    runtime.block_on(migrating).map_err(|lost| OpenError::Statement(lost.into()))?
}

impl Store {
    /// Connects to the database at `url`, and checks that it has the schema of this build and
    /// belongs to these secrets. Blocks until it is done.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(url: &str, secrets: &Secrets, options: Options) -> Result<Self, OpenError> {
        let node = Node::open(url, secrets, options)?;
        let heartbeat = Heartbeat::start(&node)?;
        janitor::start(&node, &heartbeat);
        Ok(Self {
            accounts: Arc::new(PostgresAccounts::new(node.clone())),
            ledger: Arc::new(PostgresLedger::start(&node)),
            sign_ins: Arc::new(PostgresSignIns::new(node.clone())),
            usage: Arc::new(PostgresUsage::start(&node, &heartbeat)),
            snapshots: Arc::new(PostgresSnapshots::new(&node, Some(&heartbeat))),
            node,
            heartbeat,
        })
    }

    /// Starts the rate-limit windows that all nodes share. `policy` must be the service's.
    pub fn rate_limiter(&self, policy: RatePolicy) -> PostgresRateLimiter {
        PostgresRateLimiter::start(&self.node, &self.heartbeat, policy)
    }

    /// How long ago the database was last reached.
    pub(crate) fn silence(&self) -> Duration {
        self.node.pulse.last().began.elapsed()
    }

    /// The number of nodes that were alive in the last seconds, this one included.
    pub fn live_nodes(&self) -> u32 {
        self.heartbeat.live_nodes()
    }

    /// The time by which the node's clock, which tells `now`, is ahead of the database's; negative
    /// if it is behind.
    pub fn skew(&self, now: Timestamp) -> SignedDuration {
        self.heartbeat.skew(now)
    }
}

impl CommandPorts {
    /// Connects to the database at `url` as [`Store::open`] does. A database without a synchronous
    /// standby is accepted, because it is the servers that depend on one.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(url: &str, secrets: &Secrets) -> Result<Self, OpenError> {
        let options = Options { accepts_one_copy: true, ..Options::default() };
        let node = Node::open(url, secrets, options)?;
        Ok(Self {
            accounts: Arc::new(PostgresAccounts::new(node.clone())),
            ledger: Arc::new(PostgresLedger::start(&node)),
            snapshots: Arc::new(PostgresSnapshots::new(&node, None)),
            sign_ins: Arc::new(PostgresSignIns::new(node)),
        })
    }
}
