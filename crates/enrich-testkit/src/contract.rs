//! The contract: what a caller may rely on, whatever store is behind the ports.
//!
//! Each sentence is a public function of the module of its port. A store's tests give a
//! [`Harness`] and an executor to the macro beside the sentences, which makes a test of each:
//!
//! ```text
//! enrich_testkit::ledger_contract!(Sqlite::new(), pollster::block_on);
//! ```
//!
//! The sentences use the ports alone, so that a second store runs them unchanged. What only one
//! store can promise, a tampered file being noticed for one, is tested beside that store.

pub mod accounts;
pub mod directory;
pub mod importer;
pub mod ledger;
pub mod sign_ins;
pub mod usage;

use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::port::accounts::Accounts;
use enrich_core::port::directory::Directory;
use enrich_core::port::importer::Importer;
use enrich_core::port::ledger::Ledger;
use enrich_core::port::usage::Usage;
use enrich_core::{Account, AccountId, ApiKey, KeyId, NewKey, RateOverride, Timestamp};
use enrich_sign_in::SignIns;

/// The ports of one store.
pub struct Ports {
    /// Accounts and keys.
    pub accounts: Arc<dyn Accounts>,
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Who signs in to the accounts' pages.
    pub sign_ins: Arc<dyn SignIns>,
    /// The usage counters.
    pub usage: Arc<dyn Usage>,
    /// The look-up data.
    pub directory: Arc<dyn Directory>,
    /// The way into it.
    pub importer: Arc<dyn Importer>,
}

/// What a store's tests bring along: a store, and the same one again.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The ports of an empty store. Called once for each harness.
    async fn fresh(&self) -> Ports;

    /// The ports of an empty store that keeps at most so many answers for repeats. Called in place of
    /// [`fresh`](Self::fresh).
    async fn fresh_keeping(&self, max_kept: u64) -> Ports;

    /// The same store as after a restart: `ports` is dropped before it is opened again, and what
    /// was acknowledged is there.
    async fn reopen(&self, ports: Ports) -> Ports;
}

/// Makes a test of each sentence of a contract; used through the macro of each port.
#[macro_export]
macro_rules! contract_tests {
    ($harness:expr, $run:path, $port:ident: [$($sentence:ident),+ $(,)?]) => {
        mod $port {
            #[allow(unused_imports, reason = "the harness may be named by a full path")]
            use super::*;

            $(
                #[test]
                fn $sentence() {
                    let harness = $harness;
                    $run($crate::contract::$port::$sentence(&harness));
                }
            )+
        }
    };
}

/// The instant from which the sentences count: whole microseconds, as every store keeps them.
pub fn noon() -> Timestamp {
    "2026-11-20T12:00:00Z".parse().expect("a well-formed instant")
}

/// So many seconds after [`noon`].
pub fn after_noon(seconds: i64) -> Timestamp {
    Timestamp::from_second(noon().as_second() + seconds).expect("an instant of this millennium")
}

/// A key to be stored for `account`, made at [`noon`].
pub fn new_key(account: AccountId, label: &str) -> NewKey {
    NewKey {
        id: KeyId::new(noon()),
        account,
        label: label.to_owned(),
        key: ApiKey::generate().expect("randomness"),
        rate: RateOverride::default(),
        created_at: noon(),
        expires_at: None,
    }
}

/// Stores an account with one key, made at [`noon`], and gives back both.
pub async fn account_with_key(ports: &Ports, name: &str) -> (AccountId, NewKey) {
    let id = AccountId::new(noon());
    let key = new_key(id, "first");
    let account = Account { id, ..Account::new(name, noon()) };
    ports.accounts.create(account, key.clone()).await.expect("an account is stored");
    (id, key)
}

#[cfg(test)]
mod tests {
    /// A sentence that is missing from its port's macro would never run anywhere.
    #[test]
    fn every_sentence_is_run() {
        let sources = [
            include_str!("contract/accounts.rs"),
            concat!(
                include_str!("contract/directory.rs"),
                include_str!("contract/directory/people.rs")
            ),
            concat!(
                include_str!("contract/importer.rs"),
                include_str!("contract/importer/companies.rs"),
                include_str!("contract/importer/domains.rs"),
                include_str!("contract/importer/forgetting.rs"),
                include_str!("contract/importer/ids.rs"),
                include_str!("contract/importer/loads.rs"),
                include_str!("contract/importer/people.rs"),
                include_str!("contract/importer/sources.rs")
            ),
            include_str!("contract/ledger.rs"),
            include_str!("contract/sign_ins.rs"),
            include_str!("contract/usage.rs"),
        ];
        for source in sources {
            let (_, list) = source.split_once("macro_rules!").unwrap();
            let names = source.lines().filter_map(|line| line.strip_prefix("pub async fn "));
            for name in names.filter_map(|rest| rest.split('(').next()) {
                assert!(list.contains(&format!(" {name},")), "{name} is in no list");
            }
        }
    }
}
