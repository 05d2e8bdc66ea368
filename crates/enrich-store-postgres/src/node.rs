//! A node (one process that uses the database): its settings, and the objects that its ports share.
//! A port is a trait through which the core uses the store.

use std::sync::Arc;
use std::time::Instant;

use enrich_core::port::misses::CountMisses;
use enrich_secrets::Secrets;
use tokio_postgres::Client;

use crate::connect::Connector;
use crate::database::Database;
use crate::open_error::OpenError;
use crate::pulse::{self, Pulse, Reading};
use crate::runtime::Runtime;
use crate::schema;

/// The settings of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The node's name in `enrich store check` and in metrics.
    pub node: String,
    /// Whether a database without a synchronous standby is accepted. Such a database is the only
    /// copy of the ledger.
    pub accepts_one_copy: bool,
    /// Maximum number of charges and grants that wait for a decision in each lane (a task that
    /// decides charges). If there are more, the further ones are refused as overloaded.
    pub charge_queue: usize,
    /// Maximum number of idempotency records of all accounts together. As soon as half of this
    /// number exist, one account may have at most a sixteenth of this number, so that other
    /// accounts have room.
    pub max_idempotency_records: u64,
    /// Whether company names that look-ups did not find are counted, and whether their texts are
    /// stored. This option should be the same on all nodes.
    pub count_misses: CountMisses,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            node: String::new(),
            accepts_one_copy: false,
            charge_queue: 8192,
            max_idempotency_records: 1_000_000,
            count_misses: CountMisses::Off,
        }
    }
}

/// The objects that all ports of a node share. A port is a trait through which the core uses the
/// store.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) database: Database,
    pub(crate) pulse: Pulse,
    pub(crate) secrets: Secrets,
    pub(crate) options: Arc<Options>,
}

impl Node {
    /// Connects to the database and checks it. Fails if its mode is not `serving`.
    pub(crate) fn open(url: &str, secrets: &Secrets, options: Options) -> Result<Self, OpenError> {
        let node = Self::open_in_any_mode(url, secrets, options)?;
        match node.pulse.last().state.mode.as_str() {
            "serving" => Ok(node),
            mode => Err(OpenError::NotServing(mode.to_owned())),
        }
    }

    /// Connects to the database and checks it. Accepts every mode of the database, such as
    /// `copying`.
    pub(crate) fn open_in_any_mode(
        url: &str,
        secrets: &Secrets,
        options: Options,
    ) -> Result<Self, OpenError> {
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
            Ok::<_, OpenError>(Reading { state, began, took: began.elapsed(), connection: 0 })
        };
        let opened = runtime.block_on(opening);
        let first = opened.map_err(|lost| OpenError::Statement(lost.into()))??;
        let pulse = Pulse::start(&database, first);
        Ok(Self { database, pulse, secrets: secrets.clone(), options: Arc::new(options) })
    }
}

/// Refuses a database that can lose commits which it has confirmed. A server that does not know the
/// settings `fsync` and `synchronous_standby_names` is accepted: it is not PostgreSQL itself, but a
/// compatible product that replicates in its own way.
pub(crate) async fn check_durability(
    client: &Client,
    accepts_one_copy: bool,
) -> Result<(), OpenError> {
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
