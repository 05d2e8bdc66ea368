//! Balances that this node has read or written recently, and the reads of balances that are not
//! cached. Several callers share one read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use enrich_core::port::error::StoreError;
use enrich_core::{AccountId, Credits};
use parking_lot::RwLock;
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::unsigned;
use crate::database::Connections;
use crate::failure::Failure;

/// Maximum age of a cached balance.
const VALID_FOR: Duration = Duration::from_secs(1);
/// Maximum number of cached balances. A full cache is emptied.
const MAX: usize = 100_000;

/// Reads the balances of accounts: 0 for an account without ledger rows, and no row for an account
/// that does not exist.
const BALANCES: &str = "SELECT p.account, COALESCE(l.balance, 0) FROM purse p
     LEFT JOIN LATERAL (SELECT e.balance FROM entry e WHERE e.account = p.account
                        ORDER BY e.sequence DESC LIMIT 1) l ON true
     WHERE p.account = ANY($1)";

/// The balances that this node has read or written, each with the time of the read or write. A
/// balance is used only until it is [`VALID_FOR`] old.
#[derive(Debug, Default)]
pub(super) struct Balances {
    known: RwLock<FxHashMap<AccountId, (Credits, Instant)>>,
}

/// An account and the channel to which its balance is sent. The balance is `None` if the account
/// does not exist.
pub(super) type Asked = (AccountId, oneshot::Sender<Result<Option<Credits>, StoreError>>);

/// A read of several balances failed. Each waiting caller gets this error.
#[derive(Debug, thiserror::Error)]
#[error("the balances of several callers could not be read")]
struct BalancesNotRead(#[source] Arc<Failure>);

impl Balances {
    /// Returns the account's cached balance, if this node has read or written it within the last
    /// second.
    pub(super) fn recent(&self, account: AccountId) -> Option<Credits> {
        let (balance, at) = *self.known.read().get(&account)?;
        (at.elapsed() < VALID_FOR).then_some(balance)
    }

    /// Stores balances in the cache with the time `at`: when the read of the balances began, or
    /// when their write had ended. If a cached balance has a later time, it is kept.
    pub(super) fn note(&self, balances: impl Iterator<Item = (AccountId, Credits)>, at: Instant) {
        let mut known = self.known.write();
        if known.len() >= MAX {
            known.clear();
        }
        for (account, balance) in balances {
            // The cached balance may be newer, for example after a charge. A read that began before
            // the charge must not replace it.
            let slot = known.entry(account).or_insert((balance, at));
            if slot.1 <= at {
                *slot = (balance, at);
            }
        }
    }
}

/// Reads balances until the ledger is closed. All requests that arrive during a read are answered
/// by the next read.
pub(super) async fn read_balances(
    mut asked: UnboundedReceiver<Asked>,
    connections: Arc<Connections>,
    balances: Arc<Balances>,
) {
    let mut group: Vec<Asked> = Vec::new();
    while let Some(first) = asked.recv().await {
        group.push(first);
        while let Ok(next) = asked.try_recv() {
            group.push(next);
        }
        let accounts: FxHashSet<Uuid> = group.iter().map(|(account, _)| account.0).collect();
        let accounts: Vec<Uuid> = accounts.into_iter().collect();
        let began = Instant::now();
        let read = connections
            .read(&move |client| {
                let accounts = accounts.clone();
                Box::pin(async move {
                    let values = [(&accounts as _, Type::UUID_ARRAY)];
                    let mut found = FxHashMap::default();
                    for row in client.query_typed(BALANCES, &values).await? {
                        let balance = Credits(unsigned(row.try_get(1)?)?);
                        found.insert(AccountId(row.try_get(0)?), balance);
                    }
                    Ok(found)
                })
            })
            .await;
        match read {
            Ok(found) => {
                balances.note(found.iter().map(|(account, balance)| (*account, *balance)), began);
                for (account, reply) in group.drain(..) {
                    // Sending fails if the caller no longer waits. That is no error.
                    let _ = reply.send(Ok(found.get(&account).copied()));
                }
            }
            Err(failure) => {
                tracing::warn!(error = %failure, "balances could not be read");
                let failure = Arc::new(failure);
                for (_, reply) in group.drain(..) {
                    let failure = BalancesNotRead(Arc::clone(&failure));
                    let _ = reply.send(Err(StoreError::unavailable(failure)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::Timestamp;

    use super::*;

    #[test]
    fn an_earlier_read_does_not_hide_a_later_charge() {
        let (balances, account) = (Balances::default(), AccountId::new(Timestamp::UNIX_EPOCH));
        let began = Instant::now();
        let note = |credits, at| balances.note([(account, Credits(credits))].into_iter(), at);
        note(4, began + Duration::from_micros(1));
        note(5, began);
        assert_eq!(balances.recent(account), Some(Credits(4)));
        assert_eq!(balances.recent(AccountId::new(Timestamp::UNIX_EPOCH)), None);
    }
}
