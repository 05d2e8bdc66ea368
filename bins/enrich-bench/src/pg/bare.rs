//! A bare insert, with which the speed of the ledger in PostgreSQL is compared. It inserts the rows
//! that the ledger inserts for charges, in groups of 100 over four connections. But unlike the
//! ledger, it takes no locks, and does not read or compare the last rows of the accounts.

use std::time::{Duration, Instant};

use anyhow::Result;
use enrich_core::{ChargeId, Clock as _};
use enrich_store::SystemClock;
use futures_util::future::{join3, try_join_all};
use tokio::runtime::Builder;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use crate::pg::setting::Setting;

/// Number of connections. Each inserts one group at a time.
const CONNECTIONS: usize = 4;
/// Number of rows in a group. The four connections together have 4 × 100 = 400 rows in flight.
const GROUP: usize = 100;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS bare (LIKE entry INCLUDING ALL)";
const INSERT: &str = "INSERT INTO bare (account, sequence, id, kind, credits, balance, endpoint, \
    items, price, api_key, request_id, generation, note, at, secret, chain)
    SELECT a, s, i, 'charge', -1, 1000000, '/v1/dtl', 1, 'answer/1', k, r, 1, '', t, 1, c
    FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], \
    $7::bytea[]) AS n (a, s, i, k, r, t, c)";

pub(crate) struct BareInsert {
    url: String,
}

impl BareInsert {
    pub(crate) fn new(setting: &Setting) -> Result<Self> {
        setting.execute(TABLE)?;
        Ok(Self { url: setting.url() })
    }

    /// Inserts rows for `duration`. Returns the number of rows per second.
    pub(crate) fn run(self, duration: Duration) -> Result<f64> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let began = Instant::now();
        let inserted: Vec<u64> = runtime.block_on(try_join_all(
            (0..CONNECTIONS).map(|_| insert(&self.url, began + duration)),
        ))?;
        Ok(inserted.into_iter().sum::<u64>() as f64 / began.elapsed().as_secs_f64())
    }
}

async fn insert(url: &str, end: Instant) -> Result<u64> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let driver = tokio::spawn(connection);
    let accounts: Vec<Uuid> = (0..GROUP).map(|_| new_id()).collect();
    let (mut sequence, mut inserted) = (0, 0);
    while Instant::now() < end {
        sequence += 1;
        group(&client, &accounts, sequence).await?;
        inserted += GROUP as u64;
    }
    drop(client);
    driver.abort();
    Ok(inserted)
}

/// Returns a new id of the same form as the ids of the service's charges.
fn new_id() -> Uuid {
    ChargeId::new(SystemClock.now()).0
}

async fn group(client: &Client, accounts: &Vec<Uuid>, sequence: i64) -> Result<()> {
    let sequences = vec![sequence; GROUP];
    let ids: Vec<Uuid> = accounts.iter().map(|_| new_id()).collect();
    let requests: Vec<String> = ids.iter().map(|id| id.simple().to_string()).collect();
    let times = vec![1_700_000_000_000_000_i64 + sequence; GROUP];
    let chains = vec![vec![7_u8; 32]; GROUP];
    let values: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 7] = [
        (accounts, Type::UUID_ARRAY),
        (&sequences, Type::INT8_ARRAY),
        (&ids, Type::UUID_ARRAY),
        (accounts, Type::UUID_ARRAY),
        (&requests, Type::TEXT_ARRAY),
        (&times, Type::INT8_ARRAY),
        (&chains, Type::BYTEA_ARRAY),
    ];
    let (begun, added, committed) = join3(
        client.batch_execute("BEGIN; SET LOCAL synchronous_commit = on"),
        client.execute_typed(INSERT, &values),
        client.batch_execute("COMMIT"),
    )
    .await;
    begun?;
    added?;
    committed?;
    Ok(())
}
