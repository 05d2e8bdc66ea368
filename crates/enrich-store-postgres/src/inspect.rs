//! The report of `enrich store check`: the schema, the durability, the nodes, and the problems.

use std::error::Error;

use enrich_core::Timestamp;
use enrich_secrets::Secrets;
use jiff::SignedDuration;
use tokio_postgres::{Client, IsolationLevel};

use crate::columns::micros;
use crate::connect::Connector;
use crate::failure::Failure;
use crate::node::check_durability;
use crate::open_error::OpenError;
use crate::pulse;
use crate::readiness::is_skewed;
use crate::runtime::Runtime;
use crate::schema;

/// Reads the nodes. A node is alive if its last heartbeat is less than five seconds ago.
const NODES: &str = "SELECT id::text, name, build,
    (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint,
    seen_at > clock_timestamp() - INTERVAL '5 seconds'
    FROM node ORDER BY seen_at DESC, id LIMIT 1000";
/// Counts the standbys that commits may wait for. A database role without the privileges of
/// `pg_read_all_stats` sees only NULL as the state of each standby. These standbys are counted too,
/// because commits may wait for them.
const STANDBYS: &str = "SELECT count(*) FROM pg_stat_replication
    WHERE sync_state IS NULL OR sync_state IN ('sync', 'quorum')";

/// The state of a database, as `enrich store check` reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreReport {
    /// The name and version that the database server reports.
    pub server: String,
    /// The version of the schema; `None` if the database has no schema.
    pub schema: Option<i32>,
    /// The newest version of the schema that this build knows.
    pub known_schema: i32,
    /// The mode: `serving`, `read-only` or `copying`; empty if the database has no schema.
    pub mode: String,
    /// The lineage, a UUID that changes each time an operator accepts a loss of data; empty if the
    /// database has no schema.
    pub lineage: String,
    /// The number of standbys that commits may wait for; `None` if the database does not report it.
    pub standbys: Option<u64>,
    /// How far the clock of this machine is ahead of the database's clock, in milliseconds;
    /// negative if it is behind.
    pub skew_millis: i64,
    /// The processes that used the database, at most 1000. The process with the newest heartbeat
    /// comes first.
    pub nodes: Vec<NodeReport>,
    /// The problems. The text of each problem also says what the operator should do.
    pub problems: Vec<String>,
}

/// A process that uses the database, or used it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeReport {
    /// The id of the process, a UUID.
    pub id: String,
    /// The name of the node, from its options.
    pub name: String,
    /// The version of Enrich that the process runs.
    pub build: String,
    /// The time since the process sent its last heartbeat, in milliseconds.
    pub seen_millis_ago: i64,
    /// Whether the process sent its last heartbeat less than five seconds ago.
    pub is_alive: bool,
}

/// Examines the database at `url`, and changes nothing. `now` is the time of this machine.
///
/// # Errors
///
/// When the database cannot be reached or read. All other problems are in the report.
pub fn inspect(
    url: &str,
    secrets: &Secrets,
    accepts_one_copy: bool,
    now: impl Fn() -> Timestamp + Send + Sync + 'static,
) -> Result<StoreReport, OpenError> {
    let connector = Connector::new(url)?;
    let secrets = secrets.clone();
    let runtime = Runtime::start().map_err(OpenError::Thread)?;
    let inspecting = async move {
        let connection = connector.connect().await?;
        let mut report = StoreReport::default();
        report.gather(&connection.client, &secrets, accepts_one_copy, &now).await?;
        Ok(report)
    };
    runtime.block_on(inspecting).map_err(|lost| OpenError::Statement(lost.into()))?
}

impl StoreReport {
    async fn gather(
        &mut self,
        client: &Client,
        secrets: &Secrets,
        accepts_one_copy: bool,
        now: &(impl Fn() -> Timestamp + Sync),
    ) -> Result<(), OpenError> {
        let version = client.query_typed("SELECT version()", &[]).await?;
        self.server = version.first().map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
        self.known_schema = schema::newest_known();
        self.schema = schema::version(client).await?;
        self.note(schema::check(client, secrets).await)?;
        self.note(check_durability(client, accepts_one_copy).await)?;
        self.see_standbys(client).await?;
        if self.schema != Some(self.known_schema) {
            // If the schema has another version than this build knows, the tables may be different.
            // So nothing more is read from them.
            return Ok(());
        }
        let before = now();
        let state = pulse::read(client).await?;
        let skew = micros(before.min(now())).saturating_sub(state.clock);
        self.see_skew(SignedDuration::from_micros(skew));
        self.lineage = state.lineage.to_string();
        self.see_mode(state.mode);
        self.see_nodes(client).await
    }

    /// Adds a failed check to the problems of the report. But if the check itself could not run,
    /// returns the error instead.
    fn note(&mut self, checked: Result<(), OpenError>) -> Result<(), OpenError> {
        match checked {
            Ok(()) => Ok(()),
            Err(
                error @ (OpenError::Url(_)
                | OpenError::Unreachable(_)
                | OpenError::Thread(_)
                | OpenError::Statement(_)),
            ) => Err(error),
            Err(error) => {
                let mut problem = error.to_string();
                let mut cause: &dyn Error = &error;
                while let Some(source) = cause.source() {
                    problem = format!("{problem}: {source}");
                    cause = source;
                }
                self.problems.push(problem);
                Ok(())
            }
        }
    }

    /// Counts the standbys. If the database server has no `pg_stat_replication`, counts nothing:
    /// the server is then a compatible product with its own kind of replication.
    async fn see_standbys(&mut self, client: &Client) -> Result<(), OpenError> {
        let names = "SELECT current_setting('synchronous_standby_names', true)";
        let names = client.query_typed(names, &[]).await?;
        let names: Option<String> = names.first().map(|row| row.try_get(0)).transpose()?.flatten();
        let Ok(rows) = client.query_typed(STANDBYS, &[]).await else { return Ok(()) };
        let count: i64 = rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
        self.standbys = Some(count.unsigned_abs());
        if count == 0 && names.is_some_and(|names| !names.is_empty()) {
            self.problems.push(
                "no synchronous standby is connected, so commits wait and nothing is charged; \
                 start the standby that synchronous_standby_names names"
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn see_skew(&mut self, skew: SignedDuration) {
        self.skew_millis = i64::try_from(skew.as_millis()).unwrap_or(i64::MAX);
        if is_skewed(skew) {
            self.problems.push(format!(
                "the clock of this machine differs by {} ms from the database's; synchronise both",
                self.skew_millis
            ));
        }
    }

    fn see_mode(&mut self, mode: String) {
        match mode.as_str() {
            "serving" => {}
            "copying" => self.problems.push(
                "a copy is under way or was broken off, or the ledger was moved to a folder; \
                 nothing is charged"
                    .to_owned(),
            ),
            other => self
                .problems
                .push(format!("the database is in mode `{other}`, in which nothing is charged")),
        }
        self.mode = mode;
    }

    async fn see_nodes(&mut self, client: &Client) -> Result<(), OpenError> {
        let node = |row: &tokio_postgres::Row| {
            Ok(NodeReport {
                id: row.try_get(0)?,
                name: row.try_get(1)?,
                build: row.try_get(2)?,
                seen_millis_ago: row.try_get(3)?,
                is_alive: row.try_get(4)?,
            })
        };
        let rows = client.query_typed(NODES, &[]).await?;
        let nodes: Result<_, tokio_postgres::Error> = rows.iter().map(node).collect();
        self.nodes = nodes?;
        Ok(())
    }
}

/// Corrects the credits in the usage counts after a loss of charges. The counted credits of an
/// account, day, key and endpoint must not exceed the credits of its charges in the ledger. If they
/// do, subtracts the difference. Setting the lower number directly would lose credits that nodes
/// add at the same time. The counts of calls stay the same, because the calls were answered. A day
/// has 86,400,000,000 microseconds.
const LOWER_USAGE: &str = "WITH charged AS (
         SELECT account, at - at % 86400000000 AS day_start, api_key, endpoint,
             CAST(-SUM(credits) AS bigint) AS credits
         FROM entry WHERE kind = 'charge' GROUP BY account, day_start, api_key, endpoint)
     UPDATE used SET credits = used.credits - (u.credits - COALESCE(c.credits, 0))
     FROM used u LEFT JOIN charged c ON c.account = u.account AND c.api_key = u.api_key
         AND c.endpoint = u.endpoint AND c.day_start = u.day * 86400000000
     WHERE used.account = u.account AND used.day = u.day AND used.api_key = u.api_key
         AND used.endpoint = u.endpoint AND used.outcome = u.outcome
         AND u.credits > COALESCE(c.credits, 0)";

/// Accepts that the database at `url` has lost ledger rows that nodes had already read, for example
/// because an older backup was restored. Gives the database a new lineage (the id of its history),
/// and returns it. Nodes then forget which rows they have read, and continue from the present
/// content of the database.
///
/// Afterwards, this function removes the credits of lost charges from the usage counts. For this,
/// it reads the whole ledger once.
///
/// # Errors
///
/// See [`OpenError`]. After an error, the call may be repeated.
pub fn accept_loss(url: &str, secrets: &Secrets) -> Result<String, OpenError> {
    let connector = Connector::new(url)?;
    let secrets = secrets.clone();
    let runtime = Runtime::start().map_err(OpenError::Thread)?;
    let accepting = async move {
        let mut connection = connector.connect().await?;
        schema::check(&connection.client, &secrets).await?;
        let transaction = connection.client.transaction().await?;
        transaction.batch_execute("SET LOCAL synchronous_commit = on").await?;
        let change =
            "UPDATE state SET lineage = gen_random_uuid() WHERE id = 1 RETURNING lineage::text";
        let rows = transaction.query_typed(change, &[]).await?;
        let row = rows.first().ok_or_else(|| Failure::of("the row of `state` is missing"))?;
        let lineage = row.try_get(0)?;
        transaction.commit().await?;
        // The lineage is changed before the usage counts are corrected. Nodes discard usage counts
        // of an earlier lineage. So after the correction, no node adds counts of lost charges.
        let builder = connection.client.build_transaction();
        let transaction = builder.isolation_level(IsolationLevel::ReadCommitted).start().await?;
        transaction
            .batch_execute("SET LOCAL synchronous_commit = on; SET LOCAL statement_timeout = 0")
            .await?;
        transaction.batch_execute(LOWER_USAGE).await?;
        transaction.commit().await?;
        Ok(lineage)
    };
    runtime.block_on(accepting).map_err(|lost| OpenError::Statement(lost.into()))?
}

#[cfg(test)]
mod tests {
    use enrich_core::Account;
    use enrich_core::port::accounts::Accounts as _;
    use enrich_core::port::ledger::{Grant, Ledger as _};
    use enrich_testkit::contract::{new_charge, new_key, noon};
    use pollster::block_on;

    use crate::accounts::PostgresAccounts;
    use crate::ledger::PostgresLedger;
    use crate::test_database::TestDatabase;

    #[test]
    fn after_an_accepted_loss_usage_has_no_more_credits_than_the_ledger() {
        let Some(database) = TestDatabase::create() else { return };
        let node = database.node();
        let accounts = PostgresAccounts::new(node.clone());
        let ledger = PostgresLedger::start(&node, None);
        let account = Account::new("Quill", noon());
        let key = new_key(account.id, "");
        let charge = new_charge(account.id, key.id);
        block_on(async {
            accounts.create(account, key).await.unwrap();
            ledger.grant(Grant::new(charge.account, 5, noon())).await.unwrap();
            ledger.charge(charge).await.unwrap();
        });
        // These two rows count four charges of one credit, on two days. The ledger has only one of
        // these charges.
        database.execute(
            "INSERT INTO used (account, day, api_key, endpoint, outcome, calls, credits)
             SELECT account, at / 86400000000 + more, api_key, endpoint, 'found', 2, 2
             FROM entry, (VALUES (0), (1)) AS days (more) WHERE kind = 'charge'",
        );
        assert_eq!(block_on(ledger.verify()).unwrap().faults.len(), 1);
        database.accept_loss();
        assert_eq!(block_on(ledger.verify()).unwrap().faults, [] as [String; 0]);
        assert_eq!(database.number("SELECT sum(credits)::bigint FROM used"), 1);
        assert_eq!(database.number("SELECT sum(calls)::bigint FROM used"), 4);
    }
}
