//! Stores how often look-ups did not find a company name (missed it), if the operator enables this.
//!
//! Counts are collected in memory ([`MissCounter`]). The task that writes the usage counters also
//! writes these counts, once a minute. A count may be lost, or added twice, when the database
//! fails. The janitor deletes expired counts.

use std::sync::Arc;
use std::time::Duration;

use enrich_core::Timestamp;
use enrich_core::port::error::StoreError;
use enrich_ledger::{
    MissCount, MissCounter, MissedName, expired_day_of_misses, missed_name_hashes,
};
use enrich_secrets::Secrets;
use enrich_text::CompanyName;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::background::Background;
use crate::columns::{Hash, Value, hash, signed, unsigned};
use crate::database::{Connections, Database};
use crate::failure::Failure;
use crate::node::Node;
use crate::statements::{find, list, run};

const LONGEST: Duration = Duration::from_secs(5);

const ADD: &str = "INSERT INTO missed_name (day, hash, name, calls)
    SELECT day, hash, name, calls FROM unnest($1, $2, $3, $4) AS u (day, hash, name, calls)
    ORDER BY day, hash
    ON CONFLICT (day, hash) DO UPDATE
    SET calls = missed_name.calls + excluded.calls,
        name = coalesce(excluded.name, missed_name.name)";
/// Deletes the counts of a day, except those of the `$2` most frequent names.
const BOUND: &str = "DELETE FROM missed_name WHERE day = $1 AND hash IN
    (SELECT hash FROM missed_name WHERE day = $1 ORDER BY calls DESC, hash DESC OFFSET $2)";
const MOST: &str = "SELECT hash, max(name), sum(calls)::bigint, max(day) FROM missed_name
    WHERE day > $1 GROUP BY hash ORDER BY sum(calls) DESC, hash LIMIT $2";
const ONE: &str = "SELECT coalesce(sum(calls), 0)::bigint FROM missed_name
    WHERE hash = ANY($1) AND day > $2";
const FORGET: &str = "DELETE FROM missed_name WHERE hash = ANY($1)";

/// Writes the counts of missed names (names that look-ups did not find) that one node has collected
/// in memory.
pub(crate) struct MissWriter {
    counter: Arc<MissCounter>,
    background: Background,
}

/// Reads and deletes the counts of missed names: company names that look-ups did not find. All
/// nodes write these counts.
pub struct MissedNames {
    database: Database,
    secrets: Secrets,
}

impl MissWriter {
    pub(crate) fn new(counter: Arc<MissCounter>, connections: Arc<Connections>) -> Self {
        Self { counter, background: Background::new(connections, LONGEST) }
    }

    /// Writes the collected counts to the database. If this fails, the counts stay in memory for
    /// the next call.
    pub(crate) async fn write(&self) -> Result<(), Failure> {
        let taken = self.counter.take();
        if taken.lost > 0 {
            tracing::warn!(names = taken.lost, "missed names were not counted: too many at once");
        }
        if taken.counts.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.add(&taken.counts).await {
            taken.counts.into_iter().for_each(|count| self.counter.add(count));
            return Err(error);
        }
        let mut days: Vec<i64> = taken.counts.iter().map(|count| count.day).collect();
        days.dedup();
        let most = i64::from(MissCounter::MAX_PER_DAY);
        for day in days {
            self.background.query(BOUND, &[(&day, Type::INT8), (&most, Type::INT8)]).await?;
        }
        Ok(())
    }

    async fn add(&self, counts: &[MissCount]) -> Result<(), Failure> {
        let days: Vec<i64> = counts.iter().map(|count| count.day).collect();
        let hashes: Vec<&[u8]> = counts.iter().map(|count| &count.hash[..]).collect();
        let names: Vec<Option<&str>> = counts.iter().map(|count| count.name.as_deref()).collect();
        let calls: Vec<i64> = counts.iter().map(|it| signed(it.calls)).collect::<Result<_, _>>()?;
        let values: [Value<'_>; 4] = [
            (&days, Type::INT8_ARRAY),
            (&hashes, Type::BYTEA_ARRAY),
            (&names, Type::TEXT_ARRAY),
            (&calls, Type::INT8_ARRAY),
        ];
        self.background.query(ADD, &values).await?;
        Ok(())
    }
}

impl MissedNames {
    pub(crate) fn new(node: &Node) -> Self {
        Self { database: node.database.clone(), secrets: node.secrets.clone() }
    }

    /// Returns the company names that were missed most in the last 30 days, at most `most`.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub async fn most(&self, now: Timestamp, most: usize) -> Result<Vec<MissedName>, StoreError> {
        let (expired, most) = (expired_day_of_misses(now), i64::try_from(most).unwrap_or(i64::MAX));
        let reading = self.database.read(move |client| {
            Box::pin(async move {
                let values: [Value<'_>; 2] = [(&expired, Type::INT8), (&most, Type::INT8)];
                list(client, MOST, &values, missed_name).await
            })
        });
        reading.await
    }

    /// Returns how often a name was missed in the last 30 days.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub async fn calls(&self, now: Timestamp, name: &CompanyName) -> Result<u64, StoreError> {
        let (hashes, expired) = (self.hashes(name), expired_day_of_misses(now));
        let reading = self.database.read(move |client| {
            let hashes = Arc::clone(&hashes);
            Box::pin(async move {
                let hashes: Vec<&[u8]> = hashes.iter().map(|hash| &hash[..]).collect();
                let values: [Value<'_>; 2] = [(&hashes, Type::BYTEA_ARRAY), (&expired, Type::INT8)];
                let sum = find(client, ONE, &values, |row| unsigned(row.try_get(0)?)).await?;
                Ok(sum.unwrap_or_default())
            })
        });
        reading.await
    }

    /// Deletes the counts of a name on all days. Returns how many counts were deleted.
    ///
    /// # Errors
    ///
    /// When the database cannot be changed.
    pub async fn forget(&self, name: &CompanyName) -> Result<u64, StoreError> {
        let hashes = self.hashes(name);
        let forgetting = self.database.write(move |client| {
            let hashes = Arc::clone(&hashes);
            Box::pin(async move {
                let hashes: Vec<&[u8]> = hashes.iter().map(|hash| &hash[..]).collect();
                run(client, FORGET, &[(&hashes, Type::BYTEA_ARRAY)]).await
            })
        });
        forgetting.await
    }

    fn hashes(&self, name: &CompanyName) -> Arc<Vec<Hash>> {
        Arc::new(missed_name_hashes(&self.secrets, name))
    }
}

fn missed_name(row: &Row) -> Result<MissedName, Failure> {
    Ok(MissedName {
        hash: hash(row.try_get(0)?)?,
        name: row.try_get(1)?,
        calls: unsigned(row.try_get(2)?)?,
        last_day: row.try_get(3)?,
    })
}

#[cfg(test)]
mod tests;
