//! The SQL statement that adds a node's requests to the rate-limit windows in the database. For
//! each window, it returns the sum of all nodes.

use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::background::Background;
use crate::columns::{Value, signed, unsigned};
use crate::failure::Failure;

/// Maximum number of attempts of an exchange of counts that conflicts with other transactions or
/// loses its connection. If an attempt was written although its connection was lost, the next
/// attempt adds the same requests again. Then all nodes together admit fewer requests than the
/// limit, never more.
const ATTEMPTS: u32 = 3;

/// Adds requests and reserved places to the rows of rate-limit windows, and returns the new sums. A
/// place is room for one request. The rows are written in the order of their primary key, so that
/// the statements of two nodes cannot deadlock.
const EXCHANGE: &str = "INSERT INTO rate_count (scope, seconds, number, taken)
    SELECT scope, seconds, number, taken
    FROM unnest($1, $2, $3, $4) AS u (scope, seconds, number, taken)
    ORDER BY scope, seconds, number
    ON CONFLICT (scope, seconds, number) DO UPDATE SET taken = rate_count.taken + excluded.taken
    RETURNING scope, taken";

/// What a node adds to one rate-limit window in the database: counted requests, and places that it
/// reserves. A place is room for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Addition {
    /// The id of the key or account.
    pub(super) id: Uuid,
    /// The length of the window, in seconds.
    pub(super) seconds: u32,
    /// The number of windows of this length between the Unix epoch and this window.
    pub(super) number: i64,
    /// The number of requests that the node has counted and not yet added to the database.
    pub(super) counted: u64,
    /// The number of places that the node reserves for later requests. A place is room for one
    /// request.
    pub(super) places: u64,
}

/// The id of an API key or account, and the sum of its window: the requests that all nodes have
/// added, and the places that they have reserved for later requests.
pub(super) type Sum = (Uuid, u64);

/// Adds `additions` to the windows in the database: counted requests, and places that this node
/// reserves for later requests. Returns the new sum of each window. Each API key or account may be
/// in `additions` at most once.
///
/// After an error, it is unknown whether anything was added.
pub(super) async fn exchange(
    background: &Background,
    additions: &[Addition],
) -> Result<Vec<Sum>, Failure> {
    let ids: Vec<Uuid> = additions.iter().map(|addition| addition.id).collect();
    let seconds: Vec<i64> = additions.iter().map(|addition| i64::from(addition.seconds)).collect();
    let numbers: Vec<i64> = additions.iter().map(|addition| addition.number).collect();
    let taken =
        additions.iter().map(|addition| signed(addition.counted.saturating_add(addition.places)));
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
