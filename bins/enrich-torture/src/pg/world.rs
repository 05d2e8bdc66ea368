//! The accounts in the database, and the file from which the nodes read them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Grant, Granted, Ledger as _};
use enrich_core::{Account, AccountId, Clock as _, KeyId, NewKey};
use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_store::SystemClock;
use enrich_store_postgres::{Options, Store, migrate};

use crate::pg::call::{Micros, now};

/// Number of accounts. The last account has few credits, so that some of its charges are refused.
const ACCOUNTS: usize = 20;
const RICH_CREDITS: i64 = 1_000_000_000_000;
const POOR_CREDITS: i64 = 1;
/// The note of the grants that the accounts get at the beginning.
pub(crate) const FIRST_NOTE: &str = "first";
const WORLD_FILE: &str = "world";

/// What all nodes of a torture share: the secrets, the accounts and the start time.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// The folder with the secrets, and with the file `world` from which the nodes read the
    /// accounts.
    pub(crate) folder: PathBuf,
    /// The accounts, each with the id of its API key.
    pub(crate) accounts: Vec<(AccountId, KeyId)>,
    /// The start time. The idempotency keys have the numbers 0, 1, 2 and so on. At the start time,
    /// all nodes begin to use key 0. After each interval of `KEY_MICROS`, they begin to use one
    /// more key.
    pub(crate) since: Micros,
}

impl World {
    /// Creates Enrich's tables and the accounts in an empty database.
    pub(crate) fn create(url: &str, folder: &Path) -> Result<Self> {
        let secrets = Secrets::create(&folder.join(SECRET_FILE))?;
        migrate(url, &secrets)?;
        let mut world = Self { folder: folder.to_owned(), accounts: Vec::new(), since: now() };
        let store = world.open(url, "first")?;
        for number in 0..ACCOUNTS {
            let time = SystemClock.now();
            let account = Account::new(format!("Payer {number}"), time);
            let id = account.id;
            let key = NewKey::generate(id, "torture", time)?;
            world.accounts.push((id, key.id));
            pollster::block_on(store.accounts.create(account, key))?;
            let credits = if number == world.poor() { POOR_CREDITS } else { RICH_CREDITS };
            let grant = Grant { note: FIRST_NOTE.to_owned(), ..Grant::new(id, credits, time) };
            let granted = pollster::block_on(store.ledger.grant(grant))?;
            ensure!(matches!(granted, Granted::Written { .. }), "{granted:?}");
        }
        let lines = world.accounts.iter().map(|(account, key)| format!("{account} {key}\n"));
        let text = format!("{}\n{}", world.since, lines.collect::<String>());
        fs::write(folder.join(WORLD_FILE), text)?;
        Ok(world)
    }

    /// Reads the accounts, their keys and the start time from the file `world` in `folder`, which
    /// `create` has written.
    pub(crate) fn load(folder: &Path) -> Result<Self> {
        let text = fs::read_to_string(folder.join(WORLD_FILE))?;
        let (since, lines) = text.split_once('\n').context("an empty file")?;
        let account = |line: &str| {
            let (account, key) = line.split_once(' ').context("an account without a key")?;
            Ok((account.parse()?, key.parse()?))
        };
        let accounts = lines.lines().map(account).collect::<Result<_>>()?;
        Ok(Self { folder: folder.to_owned(), accounts, since: since.parse()? })
    }

    /// Opens the store in the database at `url`, under the name `node`.
    pub(crate) fn open(&self, url: &str, node: &str) -> Result<Store> {
        let secrets = Secrets::load(&self.folder.join(SECRET_FILE))?;
        let options =
            Options { node: node.to_owned(), accepts_one_copy: true, ..Options::default() };
        Ok(Store::open(url, &secrets, options)?)
    }

    /// Returns the index in `accounts` of the account with few credits.
    pub(crate) fn poor(&self) -> usize {
        ACCOUNTS - 1
    }
}
