//! Checks the tables that must agree with the log: the index of ids, the stored responses and the
//! usage counters.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};

use enrich_core::{AccountId, ChargeId};
use enrich_ledger::{At, Fault, Findings};
use enrich_secrets::Secrets;
use enrich_store_sqlite::Column;
use rusqlite::Connection;

use crate::ledger::idempotency_store;
use crate::ledger::verify::AccountState;

/// A sum of hashes. Each ledger row adds the hash of its id and position. The sum shows whether the
/// table of rows and the index of ids have the same rows: then the sums over both are equal. The
/// sum does not depend on the order of the rows. Two different sets of rows have the same sum with
/// a probability of only 1 in 2⁶⁴. The hash function has random keys, which are new in each
/// verification, so nobody can choose rows that have a certain sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    hasher: RandomState,
    sum: u64,
}

impl Ids {
    pub(super) fn add(&mut self, id: ChargeId, position: u64) {
        self.sum = self.sum.wrapping_add(self.hasher.hash_one((id, position)));
    }
}

/// Checks that no two ledger rows have the same id, and that the index of ids contains every ledger
/// row with its own id. For the second check, the sum over the index ([`Ids`]) is compared with
/// `in_log`, the sum over all ledger rows. If some rows could not be read, `in_log` is `None`, and
/// only the numbers of rows are compared.
pub(super) fn check_ids(
    connection: &Connection,
    in_log: Option<Ids>,
    found: &mut Findings,
) -> rusqlite::Result<()> {
    let mut in_index = in_log.as_ref().map(|ids| Ids { sum: 0, ..ids.clone() });
    let mut statement =
        connection.prepare("SELECT id, position FROM entry INDEXED BY entry_id ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut before: Option<Column<ChargeId>> = None;
    let mut count = 0_u64;
    while let Some(row) = rows.next()? {
        count += 1;
        let Ok(id) = row.get(0) else {
            found.fault("the index of ids: an id that cannot be read");
            in_index = None;
            continue;
        };
        if before == Some(id) {
            found.fault(format_args!("the id {} stands in two rows", id.0));
        }
        before = Some(id);
        if let Some(ids) = &mut in_index {
            ids.add(id.0, row.get(1).unwrap_or_default());
        }
    }
    let entries = found.rows();
    if count != entries {
        found.fault(format_args!("the index of ids: {count} ids for {entries} rows"));
    } else if let (Some(in_log), Some(in_index)) = (in_log, in_index)
        && in_log.sum != in_index.sum
    {
        found.fault("the index of ids: a row stands under an id that is not its own");
    }
    Ok(())
}

/// Checks that no stored response was altered, that the charges of stored responses exist, and that
/// the number of stored responses of each account is right.
pub(super) fn check_kept(
    connection: &Connection,
    secrets: &Secrets,
    found: &mut Findings,
) -> rusqlite::Result<()> {
    kept_without_charge(connection, found)?;
    check_kept_counts(connection, found)?;
    idempotency_store::check(connection, secrets, |account| match account {
        Some(account) => found.fault(Fault::ResponseAltered(account)),
        None => found.fault(Fault::ResponseUnreadable),
    })
}

/// Checks that, for each account, the number in the table `kept_count` is the number of the
/// account's responses in the table `kept`.
fn check_kept_counts(connection: &Connection, found: &mut Findings) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT account, max(counted), max(kept) FROM (
             SELECT account, answers AS counted, 0 AS kept FROM kept_count
             UNION ALL SELECT account, 0, count(*) FROM kept GROUP BY account)
         GROUP BY account HAVING max(counted) <> max(kept)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Ok(Column::<AccountId>(account)) = row.get(0) else {
            found.fault("the kept answers: a count of nobody's");
            continue;
        };
        let (counted, kept): (i64, i64) = (row.get(1)?, row.get(2)?);
        found.fault(format_args!(
            "account {account}: {counted} kept answers are counted, {kept} are there"
        ));
    }
    Ok(())
}

/// Checks for each stored response with a charge that this charge exists, and has the same balance
/// and time as the response.
fn kept_without_charge(connection: &Connection, found: &mut Findings) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT kept.account, kept.charge, entry.sequence FROM kept LEFT JOIN entry
             ON entry.id = kept.charge AND entry.account = kept.account
         WHERE kept.charge IS NOT NULL AND
             (entry.balance IS NULL OR entry.balance <> kept.balance OR entry.at <> kept.at)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (Ok(Column::<AccountId>(account)), Ok(Column::<ChargeId>(charge))) =
            (row.get(0), row.get(1))
        else {
            found.fault(Fault::ResponseUnreadable);
            continue;
        };
        match row.get::<_, Option<u64>>(2)? {
            Some(sequence) => found.fault(Fault::ResponseDiffers(At(account, sequence))),
            None => found.fault(Fault::ResponseWithoutCharge { account, charge }),
        }
    }
    Ok(())
}

/// Checks the usage counters. A call is counted after its charge, so the counters may show fewer
/// credits than the charges, but not more.
pub(super) fn check_used(
    connection: &Connection,
    states: &HashMap<AccountId, AccountState>,
    found: &mut Findings,
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare("SELECT account, credits FROM used WHERE credits > 0")?;
    let mut rows = statement.query([])?;
    // The credits are added up here, because SQLite's own sum fails beyond 64 bits.
    let mut used_by: BTreeMap<AccountId, i128> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        match (row.get(0), row.get::<_, i64>(1)) {
            (Ok(Column(account)), Ok(used)) => {
                *used_by.entry(account).or_default() += i128::from(used)
            }
            _ => found.fault(Fault::UsageUnreadable),
        }
    }
    for (account, used) in used_by {
        let charged = states.get(&account).map_or(0, |state| state.check.charged);
        if used > charged {
            found.fault(Fault::UsedTooMuch { account, used, charged });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use enrich_core::Timestamp;

    use super::*;

    #[test]
    fn a_row_that_stands_under_the_id_of_another_is_noticed() {
        let connection = Connection::open_in_memory().unwrap();
        let table = "CREATE TABLE entry (position INTEGER NOT NULL PRIMARY KEY, id BLOB NOT NULL);
                     CREATE UNIQUE INDEX entry_id ON entry (id)";
        connection.execute_batch(table).unwrap();
        let ids = [(); 3].map(|()| ChargeId::new(Timestamp::UNIX_EPOCH));
        for id in ids {
            connection.execute("INSERT INTO entry (id) VALUES (?1)", [Column(id)]).unwrap();
        }
        let faults_where = |positions: [u64; 3]| {
            let mut in_log = Ids::default();
            ids.into_iter().zip(positions).for_each(|(id, position)| in_log.add(id, position));
            let mut found = Findings::default();
            ids.iter().for_each(|_| found.count_row());
            check_ids(&connection, Some(in_log), &mut found).unwrap();
            found.into_verification(0).faults
        };
        assert_eq!(faults_where([1, 2, 3]), [] as [&str; 0]);
        assert_eq!(faults_where([2, 1, 3]).len(), 1);
    }
}
