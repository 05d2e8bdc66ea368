//! Prepares the data folders of a run: companies, accounts with keys and credits, and charges.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use enrich_core::port::accounts::Accounts;
use enrich_core::port::ledger::{Charge, Charged, Grant, Granted, Ledger};
use enrich_core::{
    Account, AccountId, ChargeId, Clock, DirectoryRevision, KeyId, NewKey, Price, RequestId,
};
use enrich_store::{Store, SystemClock};
use futures_util::stream::{self, StreamExt, TryStreamExt};

use crate::folder::{self, FolderSpec, Keys, Scratch};
use crate::generated::Generated;
use crate::program::{Data, Program};

/// Number of accounts that share the load.
const ACCOUNTS: usize = 1000;
/// Credits of each account. They are more than any run uses.
const CREDITS: i64 = 1_000_000_000_000;
/// Maximum number of charges or grants in flight.
const IN_FLIGHT: usize = 2000;
/// Number of charges after which a progress message is written.
const CHARGES_A_NOTE: u64 = 1_000_000;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich-bench prepare --scratch target/bench --companies 10000000

What is there is left as it is; what was begun is completed. `enrich-bench run` prepares what it
needs by itself.")]
pub(crate) struct Prepare {
    /// Folder that contains the data folders
    #[arg(long, value_name = "DIR")]
    scratch: PathBuf,
    /// Number of companies
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    companies: u64,
    /// Number of charges in the ledger before the measurement
    #[arg(long, value_name = "N", default_value_t = 0)]
    charges: u64,
    /// The `enrich` program, which creates the data folders
    #[arg(long, value_name = "FILE", default_value = "target/release/enrich")]
    enrich: PathBuf,
}

impl Prepare {
    pub(crate) fn run(self, err: &mut dyn Write) -> anyhow::Result<()> {
        let (scratch, program) = (Scratch::at(&self.scratch)?, Program::at(&self.enrich)?);
        let spec = FolderSpec { companies: self.companies, charges: self.charges };
        prepare(&scratch, &program, spec, err).map(|_| ())
    }
}

/// Creates what a prepared folder still lacks: companies, accounts or charges. Returns the API keys
/// of its accounts.
pub(crate) fn prepare(
    scratch: &Scratch,
    program: &Program,
    spec: FolderSpec,
    err: &mut dyn Write,
) -> anyhow::Result<Keys> {
    let plain = FolderSpec { charges: 0, ..spec };
    if !scratch.is_ready(plain) {
        writeln!(err, "making a folder of {}", plain.description())?;
        let data = Data::folder(&scratch.folder(plain));
        program.import(&data, Generated::new(spec.companies).lines())?;
        scratch.set_ready(plain)?;
    }
    let keys = match scratch.keys(plain)? {
        Some(keys) => keys,
        None => {
            writeln!(err, "making {ACCOUNTS} accounts in it, and a hot one")?;
            let keys = make_accounts(&scratch.folder(plain))?;
            scratch.keep_keys(plain, &keys)?;
            keys
        }
    };
    if spec.charges == 0 {
        return Ok(keys);
    }
    if !scratch.is_ready(spec) {
        let charged = scratch.folder(spec);
        if scratch.keys(spec)?.is_none() {
            // Removes an incomplete copy of an earlier run.
            match std::fs::remove_dir_all(&charged) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error.into());
                }
                _ => folder::copy(&scratch.folder(plain), &charged)?,
            }
            scratch.keep_keys(spec, &keys)?;
        }
        writeln!(err, "making a folder of {}", spec.description())?;
        add_charges(&charged, spec.charges, err)?;
        scratch.set_ready(spec)?;
    }
    scratch.keys(spec)?.context("the keys of its accounts are gone; remove the folder")
}

fn open(folder: &Path) -> anyhow::Result<Store> {
    let store = Store::open(folder);
    store.with_context(|| folder.display().to_string())
}

/// Creates a folder's accounts, each with a key and more credits than a run can use.
pub(crate) fn make_accounts(folder: &Path) -> anyhow::Result<Keys> {
    let store = open(folder)?;
    let make = |number: usize| {
        let store = &store;
        async move {
            let now = SystemClock.now();
            let name = if number < ACCOUNTS { format!("load {number}") } else { "hot".to_owned() };
            let account = Account::new(name, now);
            let (id, key) = (account.id, NewKey::generate(account.id, "", now)?);
            let secret = key.key.expose().to_owned();
            store.accounts.create(account, key).await?;
            let granted = store.ledger.grant(Grant::new(id, CREDITS, SystemClock.now())).await?;
            ensure!(matches!(granted, Granted::Written { .. }), "the ledger says {granted:?}");
            Ok(secret)
        }
    };
    let made = stream::iter(0..=ACCOUNTS).map(make).buffered(IN_FLIGHT);
    let mut many: Vec<String> = pollster::block_on(made.try_collect())?;
    let hot = many.pop().context("there are no accounts")?;
    Ok(Keys { many, hot })
}

/// Charges the accounts of a data folder in turn until the ledger has `charges` charges.
fn add_charges(folder: &Path, charges: u64, err: &mut dyn Write) -> anyhow::Result<()> {
    let store = open(folder)?;
    let payers = pollster::block_on(payers(&store))?;
    let found = pollster::block_on(store.ledger.verify())?;
    ensure!(found.faults.is_empty(), "the ledger does not add up: {:?}", found.faults);
    let missing = charges.checked_sub(found.charges);
    missing.with_context(|| format!("its ledger holds {} charges already", found.charges))?;
    let charge = |number: u64| {
        let (account, key) = payers[number as usize % payers.len()];
        let (ledger, now) = (&store.ledger, SystemClock.now());
        let charge = Charge {
            id: ChargeId::new(now),
            account,
            key,
            endpoint: "/v1/dtc",
            items: 1,
            price: Price::PerAnswer(1),
            request_id: RequestId::make(now),
            revision: DirectoryRevision(1),
            at: now,
            idempotency: None,
        };
        async move {
            let charged = ledger.charge(charge).await?;
            ensure!(matches!(charged, Charged::Taken { .. }), "the ledger says {charged:?}");
            anyhow::Ok(number)
        }
    };
    let mut charging = stream::iter(found.charges..charges).map(charge).buffer_unordered(IN_FLIGHT);
    pollster::block_on(async {
        let mut done = found.charges;
        while let Some(result) = charging.next().await {
            result?;
            done += 1;
            if done.is_multiple_of(CHARGES_A_NOTE) {
                writeln!(err, "{done} of {charges} charges")?;
            }
        }
        Ok(())
    })
}

/// Returns all accounts that have a key, each with its first key.
async fn payers(store: &Store) -> anyhow::Result<Vec<(AccountId, KeyId)>> {
    let mut payers = Vec::new();
    for account in store.accounts.accounts().await? {
        let keys = store.accounts.keys(account.id).await?;
        payers.extend(keys.first().map(|key| (account.id, key.id)));
    }
    ensure!(!payers.is_empty(), "there are no accounts to charge");
    Ok(payers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_and_charges_are_there_as_often_as_they_were_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("data");
        drop(Store::open_or_create(&folder).unwrap());
        let keys = make_accounts(&folder).unwrap();
        assert_eq!(keys.many.len(), ACCOUNTS);
        let mut err = Vec::new();
        add_charges(&folder, 3000, &mut err).unwrap();
        add_charges(&folder, 5000, &mut err).unwrap();
        let store = open(&folder).unwrap();
        let found = pollster::block_on(store.ledger.verify()).unwrap();
        assert_eq!((found.charges, found.charged, found.accounts), (5000, 5000, 1001));
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        drop(store);
        assert!(add_charges(&folder, 10, &mut err).is_err(), "there are more by now");
    }
}
