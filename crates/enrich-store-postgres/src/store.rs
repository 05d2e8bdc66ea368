//! Opens the store: checks the database, registers this process, and starts its tasks.

use std::sync::Arc;
use std::time::Instant;

use enrich_core::{RatePolicy, Timestamp};
use enrich_secrets::Secrets;
use jiff::SignedDuration;
use tokio_postgres::Client;

use crate::accounts::PostgresAccounts;
use crate::connect::Connector;
use crate::database::Database;
use crate::heartbeat::Heartbeat;
use crate::janitor;
use crate::ledger::PostgresLedger;
use crate::open_error::OpenError;
use crate::pulse::{self, Pulse, Reading};
use crate::rate_windows::PostgresRateLimiter;
use crate::runtime::Runtime;
use crate::schema;
use crate::sign_ins::PostgresSignIns;
use crate::usage::PostgresUsage;

/// The settings of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The node's name in `enrich store check` and in metrics.
    pub node: String,
    /// Whether a database without a synchronous standby is accepted.
    pub accepts_one_copy: bool,
    /// The most charges and grants that wait for a decision in one of the four lanes; one more is
    /// refused as overloaded.
    pub charge_queue: usize,
    /// The most idempotency records. Once half of them exist, an account that has a sixteenth gets
    /// no more.
    pub max_kept: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            node: String::new(),
            accepts_one_copy: false,
            charge_queue: 4096,
            max_kept: 1_000_000,
        }
    }
}

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
    node: Node,
    heartbeat: Heartbeat,
}

/// The parts that all ports share.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) database: Database,
    pub(crate) pulse: Pulse,
    pub(crate) secrets: Secrets,
    pub(crate) options: Arc<Options>,
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
            node,
            heartbeat,
        })
    }

    /// Starts the rate-limit windows that all nodes share. `policy` must be the service's.
    pub fn rate_limiter(&self, policy: RatePolicy) -> PostgresRateLimiter {
        PostgresRateLimiter::start(&self.node, &self.heartbeat, policy)
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

impl Node {
    /// Connects to the database and checks it.
    pub(crate) fn open(url: &str, secrets: &Secrets, options: Options) -> Result<Self, OpenError> {
        let connector = Connector::new(url)?;
        let runtime = Arc::new(Runtime::start().map_err(OpenError::Thread)?);
        let database = Database::new(connector, Arc::clone(&runtime));
        let (connections, checked) = (database.connections(), secrets.clone());
        let accepts_one_copy = options.accepts_one_copy;
        let opening = async move {
            let connection = connections.connect().await?;
            schema::check(&connection.client, &checked).await?;
            check_durability(&connection.client, accepts_one_copy).await?;
            let began = Instant::now();
            let state = pulse::read(&connection.client).await?;
            if state.mode != "serving" {
                return Err(OpenError::NotServing(state.mode));
            }
            Ok(Reading { state, began, took: began.elapsed(), connection: 0 })
        };
        let opened = runtime.block_on(opening);
        let first = opened.map_err(|lost| OpenError::Statement(lost.into()))??;
        let pulse = Pulse::start(&database, first);
        Ok(Self { database, pulse, secrets: secrets.clone(), options: Arc::new(options) })
    }
}

/// Refuses a database that can lose acknowledged commits. Engines without these settings replicate
/// by themselves.
async fn check_durability(client: &Client, accepts_one_copy: bool) -> Result<(), OpenError> {
    let settings = "SELECT current_setting('fsync', true),
                    current_setting('synchronous_standby_names', true)";
    let rows = client.query_typed(settings, &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let setting = |index: usize| row.try_get::<_, Option<String>>(index);
    if setting(0)?.is_some_and(|fsync| fsync == "off") {
        return Err(OpenError::NoSync);
    }
    if !accepts_one_copy && setting(1)?.is_some_and(|names| names.is_empty()) {
        return Err(OpenError::NoStandby);
    }
    Ok(())
}
