//! The statement that exchanges windows.

use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::background::Background;
use crate::columns::{Value, signed, unsigned};
use crate::failure::Failure;

/// How often an exchange is tried when other transactions are in its way, or a connection is lost.
/// What is added twice then is only lost to all nodes.
const ATTEMPTS: u32 = 3;

/// In the order of the key, so that nodes don't wait for each other in a circle.
const EXCHANGE: &str = "INSERT INTO rate_count (scope, seconds, number, taken)
    SELECT scope, seconds, number, taken
    FROM unnest($1, $2, $3, $4) AS u (scope, seconds, number, taken)
    ORDER BY scope, seconds, number
    ON CONFLICT (scope, seconds, number) DO UPDATE SET taken = rate_count.taken + excluded.taken
    RETURNING scope, taken";

/// What a node adds to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    /// The key or account.
    pub(super) id: Uuid,
    /// The window's length.
    pub(super) seconds: u32,
    /// The window's number.
    pub(super) number: i64,
    /// The requests that were counted already.
    pub(super) counted: u64,
    /// The places to reserve.
    pub(super) places: u64,
}

/// The sum of all nodes for a key or account, this node's part included.
pub(super) type Sum = (Uuid, u64);

/// Adds to windows of different keys and accounts, and returns their sums.
///
/// If it fails, what was added may count, or may not.
pub(super) async fn exchange(background: &Background, asks: &[Ask]) -> Result<Vec<Sum>, Failure> {
    let ids: Vec<Uuid> = asks.iter().map(|ask| ask.id).collect();
    let seconds: Vec<i64> = asks.iter().map(|ask| i64::from(ask.seconds)).collect();
    let numbers: Vec<i64> = asks.iter().map(|ask| ask.number).collect();
    let taken = asks.iter().map(|ask| signed(ask.counted.saturating_add(ask.places)));
    let taken: Vec<i64> = taken.collect::<Result<_, _>>()?;
    let values: [Value<'_>; 4] = [
        (&ids, Type::UUID_ARRAY),
        (&seconds, Type::INT8_ARRAY),
        (&numbers, Type::INT8_ARRAY),
        (&taken, Type::INT8_ARRAY),
    ];
    let mut attempt = 1;
    let rows = loop {
        match background.query(EXCHANGE, &values).await {
            Err(error) if may_repeat(&error) && attempt < ATTEMPTS => attempt += 1,
            result => break result?,
        }
    };
    rows.iter().map(|row| Ok((row.try_get(0)?, unsigned(row.try_get(1)?)?))).collect()
}

fn may_repeat(error: &Failure) -> bool {
    error.is_conflict() || (matches!(error, Failure::Database(_)) && error.loses_connection())
}
