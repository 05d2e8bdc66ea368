//! The contract suite: tests that every store must pass. The tests of one port (a trait that stores
//! implement, such as `Ledger`) are public functions in the module of this port. Each port has a
//! macro, which makes a `#[test]` of each function. A store's crate calls the macro with a
//! [`Harness`], which creates the store, and with a function that runs a future to its end:
//!
//! ```text
//! enrich_testkit::ledger_contract!(Sqlite::new(), pollster::block_on);
//! ```
//!
//! The modules [`jobs`] and [`snapshots`] have no macro: a store's tests call their functions
//! directly.
//!
//! The functions use only the ports, so that they run unchanged with every store. A promise that
//! only one store makes is tested in the crate of that store. For example, the SQLite store
//! promises to notice an altered file.

pub mod accounts;
pub mod directory;
pub mod importer;
pub mod jobs;
pub mod ledger;
pub mod sign_ins;
pub mod snapshots;
pub mod usage;

use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::port::accounts::Accounts;
use enrich_core::port::directory::Directory;
use enrich_core::port::importer::Importer;
use enrich_core::port::ledger::{Charge, Ledger};
use enrich_core::port::usage::Usage;
use enrich_core::{
    Account, AccountId, ApiKey, ChargeId, DirectoryRevision, KeyId, NewKey, Price, RateOverride,
    RequestId, Timestamp,
};
use enrich_sign_in::SignIns;

/// The parts of one store that the tests call. Each part implements one port (a trait such as
/// `Ledger`).
pub struct Ports {
    /// Stores accounts and their API keys.
    pub accounts: Arc<dyn Accounts>,
    /// Decides and stores charges and grants, and reads the ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Stores the owners' sign-ins to the account page.
    pub sign_ins: Arc<dyn SignIns>,
    /// Counts the calls of each account and key.
    pub usage: Arc<dyn Usage>,
    /// Answers look-ups.
    pub directory: Arc<dyn Directory>,
    /// Imports records into the directory (the look-up data).
    pub importer: Arc<dyn Importer>,
}

/// Creates and reopens a store for the tests.
#[async_trait]
pub trait Harness: Send + Sync {
    /// Creates an empty store and returns its [`Ports`]. Each test creates a harness of its own,
    /// and calls this method once.
    async fn fresh(&self) -> Ports;

    /// Returns the [`Ports`] of an empty store that keeps at most `max_idempotency_records` answers
    /// of calls with an idempotency key. A test calls this method in place of
    /// [`fresh`](Self::fresh).
    async fn fresh_keeping(&self, max_idempotency_records: u64) -> Ports;

    /// Drops `ports` and opens the same store again, as after a restart of the process. Everything
    /// that the store has confirmed as written must still exist.
    async fn reopen(&self, ports: Ports) -> Ports;
}

/// Defines one `#[test]` for each function in a list of contract tests. The `#[test]` creates a new
/// harness and calls the function with it. Only the macros of the ports, such as
/// `ledger_contract!`, use this macro.
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

/// Returns the time at which the tests begin: 2026-11-20 at noon (UTC). The time is in whole
/// microseconds, because stores keep no finer times.
pub fn noon() -> Timestamp {
    "2026-11-20T12:00:00Z".parse().expect("a well-formed instant")
}

/// Returns the instant `seconds` after [`noon`].
pub fn after_noon(seconds: i64) -> Timestamp {
    Timestamp::from_second(noon().as_second() + seconds).expect("an instant of this millennium")
}

/// Returns a charge of 1 credit for one item, made at [`noon`].
pub fn new_charge(account: AccountId, key: KeyId) -> Charge {
    Charge {
        id: ChargeId::new(noon()),
        account,
        key,
        endpoint: "/v1/dtl",
        items: 1,
        price: Price::PerAnswer(1),
        request_id: RequestId::accept("a-request").expect("a valid request id"),
        revision: DirectoryRevision(7),
        at: noon(),
        idempotency: None,
    }
}

/// Returns a new key for `account`, created at [`noon`].
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

/// Stores an account with one key, created at [`noon`]. Returns the id of the account, and the key.
pub async fn account_with_key(ports: &Ports, name: &str) -> (AccountId, NewKey) {
    let id = AccountId::new(noon());
    let key = new_key(id, "first");
    let account = Account { id, ..Account::new(name, noon()) };
    ports.accounts.create(account, key.clone()).await.expect("an account is stored");
    (id, key)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Checks that each contract test is in the list of its macro. A test that is missing in the
    /// list would never run. The macro of the tests in `contract/ledger.rs` and in the folder
    /// `contract/ledger` is in `contract/ledger.rs`, for example.
    #[test]
    fn every_contract_test_is_in_a_list() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/contract");
        let mut lists = 0;
        for file in rust_files(&folder) {
            let source = fs::read_to_string(&file).unwrap();
            let Some((_, list)) = source.split_once("macro_rules!") else { continue };
            lists += 1;
            let inner = rust_files(&file.with_extension(""));
            let inner = inner.iter().map(|file| fs::read_to_string(file).unwrap());
            for source in inner.chain([source.clone()]) {
                let names = source.lines().filter_map(|line| line.strip_prefix("pub async fn "));
                for name in names.filter_map(|rest| rest.split('(').next()) {
                    assert!(list.contains(&format!(" {name},")), "{name} is in no list");
                }
            }
        }
        assert!(lists > 0);
    }

    /// Returns the Rust files in a folder; none if the folder does not exist.
    fn rust_files(folder: &Path) -> Vec<PathBuf> {
        let files = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
    }
}
