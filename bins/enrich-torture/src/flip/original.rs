//! The undamaged ledger, of which copies are made and damaged. Also reads the content of a ledger,
//! so that a damaged copy can be compared with the undamaged ledger.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Charge, Charged, Grant, Granted, Ledger as _};
use enrich_core::port::usage::{DayCount, Usage as _, Use, UseOutcome};
use enrich_core::{
    Account, AccountId, BodyTemplate, ChargeId, Clock as _, Credits, DirectoryRevision, Entry,
    IdempotencyKey, IdempotencyRecord, KeyId, NewKey, Price, RequestId, StoredResponse, Timestamp,
};
use enrich_store::{Store, SystemClock};

use super::aim::{LEDGER, LOG, Pages, TABLES};

const OTHERS: [&str; 2] = ["directory.sqlite", "secret.key"];

const ACCOUNTS: usize = 20;
/// Number of charges of each account; all accounts together have 20,000. The ledger writes the
/// table `head` after every 16,384 rows. It writes a row of the table `mark` after every 256 rows
/// of an account. So both tables have rows.
const CHARGES_EACH: u64 = 1000;
/// Number of charges of each account that are only in the write-ahead log.
const CHARGES_EACH_IN_LOG: u64 = 20;
/// Number of clients for each account. They charge at the same time, so several charges are
/// committed together.
const CLIENTS_EACH: usize = 5;
/// One of every [`KEPT_EVERY`] charges of an account has a stored response. Between every two of
/// these charges, there is also one charge of 0 credits with a stored response, as for a look-up
/// that finds nothing.
const KEPT_EVERY: u64 = 20;
const GRANTED_CREDITS: i64 = 2000;
const ENDPOINT: &str = "/v1/dtc";
const ANSWER: &[u8] = br#"{"query":"quill.example","url":"Quill Ltd"}"#;
/// The range of days for reading the usage counters: all days.
const DAYS: (i64, i64) = (0, i64::MAX);

/// The undamaged ledger. It is copied, and bits are flipped in the copies.
#[derive(Debug)]
pub(super) struct Original {
    folder: PathBuf,
    /// The bytes of the database file.
    pub(super) ledger: Vec<u8>,
    /// The bytes of the write-ahead log; empty if the ledger was closed.
    pub(super) log: Vec<u8>,
    /// The SQLite pages of each table in [`TABLES`]. Some bit flips are aimed at these pages. Only
    /// the closed ledger has them; for the ledger of a killed process, they are empty.
    pub(super) pages: [Pages; TABLES.len()],
    /// The content of the undamaged ledger.
    pub(super) state: State,
    accounts: Vec<(AccountId, KeyId)>,
    keeps: Vec<(AccountId, IdempotencyKey)>,
    at: Timestamp,
    written: u64,
}

/// The content of a ledger.
#[derive(Debug, Default)]
pub(super) struct State {
    accounts: Vec<AccountSnapshot>,
    /// The stored response for each idempotency key. The inner `None` means that no response is
    /// stored. The outer `None` means that the read has failed. This counts as a report of the
    /// damage.
    kept: Vec<Option<Option<StoredResponse>>>,
    /// The usage of each account; `None` if the usage cannot be read.
    used: Vec<Option<Vec<DayCount>>>,
}

#[derive(Debug, PartialEq)]
struct AccountSnapshot {
    account: AccountId,
    balance: Option<Credits>,
    entries: Vec<Entry>,
}

impl Original {
    /// Makes a closed ledger. All its data is in the database file, and none in the write-ahead
    /// log.
    pub(super) fn closed(folder: &Path) -> Result<Self> {
        let (mut original, store) = Self::begin(folder)?;
        original.write(&store, CHARGES_EACH)?;
        drop(store);
        original.remember()?;
        ensure!(original.log.is_empty(), "a ledger that was closed has left a log");
        original.pages = Pages::of_tables(folder)?;
        Ok(original)
    }

    /// Makes the ledger that a killed process leaves: its newest rows are only in the write-ahead
    /// log. For this, adds charges to a copy of the closed ledger.
    pub(super) fn died(closed: &Self, folder: &Path) -> Result<Self> {
        closed.copy_to(folder, |_, _| {})?;
        let mut original = Self {
            folder: folder.to_owned(),
            ledger: Vec::new(),
            log: Vec::new(),
            pages: Default::default(),
            state: State::default(),
            accounts: closed.accounts.clone(),
            keeps: closed.keeps.clone(),
            at: closed.at,
            written: closed.written,
        };
        let store = Store::open(folder)?;
        original.write(&store, CHARGES_EACH_IN_LOG)?;
        // The files are read while the store is still open. A kill at this moment would leave the
        // same files.
        original.remember()?;
        ensure!(!original.log.is_empty(), "a ledger that is open has no log");
        Ok(original)
    }

    /// Writes a copy of the ledger to `folder`. Before that, `spoil` may change the bytes of the
    /// database and of the log.
    pub(super) fn copy_to(
        &self,
        folder: &Path,
        spoil: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>),
    ) -> Result<()> {
        let (mut ledger, mut log) = (self.ledger.clone(), self.log.clone());
        spoil(&mut ledger, &mut log);
        fs::create_dir(folder).with_context(|| format!("making {}", folder.display()))?;
        for file in OTHERS {
            fs::copy(self.folder.join(file), folder.join(file))?;
        }
        fs::write(folder.join(LEDGER), ledger)?;
        if !log.is_empty() {
            fs::write(folder.join(LOG), log)?;
        }
        Ok(())
    }

    /// Returns a new charge of one credit.
    pub(super) fn charge(&self, account: AccountId) -> Result<Charge> {
        let key = self.accounts.iter().find(|(id, _)| *id == account);
        let (_, key) = *key.context("an account of this ledger")?;
        self.charge_of(account, key, "flip-after", None)
    }

    fn begin(folder: &Path) -> Result<(Self, Store)> {
        let store = Store::open_or_create(folder)?;
        let at = SystemClock.now();
        let mut accounts = Vec::new();
        for number in 0..ACCOUNTS {
            let account = Account::new(format!("Payer {number}"), at);
            let id = account.id;
            let key = NewKey::generate(id, "", at)?;
            accounts.push((id, key.id));
            pollster::block_on(store.accounts.create(account, key))?;
            let granted =
                pollster::block_on(store.ledger.grant(Grant::new(id, GRANTED_CREDITS, at)))?;
            ensure!(matches!(granted, Granted::Written { .. }), "a grant was refused");
        }
        let original = Self {
            folder: folder.to_owned(),
            ledger: Vec::new(),
            log: Vec::new(),
            pages: Default::default(),
            state: State::default(),
            accounts,
            keeps: Vec::new(),
            at,
            written: 0,
        };
        Ok((original, store))
    }

    /// Makes `charges_each` charges for each account, with several clients at the same time, and
    /// counts the usage.
    fn write(&mut self, store: &Store, charges_each: u64) -> Result<()> {
        let mut batches: Vec<Vec<Charge>> = Vec::new();
        batches.resize_with(ACCOUNTS * CLIENTS_EACH, Vec::new);
        for number in 0..charges_each {
            for (place, (account, key)) in self.accounts.clone().into_iter().enumerate() {
                let client = place * CLIENTS_EACH + number as usize % CLIENTS_EACH;
                let name = format!("flip-{:05}", self.written);
                self.written += 1;
                let is_kept = number % KEPT_EVERY == 0;
                let idempotency = is_kept.then(|| self.new_keep(account)).transpose()?;
                batches[client].push(self.charge_of(account, key, &name, idempotency)?);
                if number % KEPT_EVERY == KEPT_EVERY / 2 {
                    let idempotency = Some(self.new_keep(account)?);
                    let miss =
                        self.charge_of(account, key, &format!("{name}-miss"), idempotency)?;
                    batches[client].push(Charge { items: 0, ..miss });
                }
            }
        }
        thread::scope(|scope| {
            let charge_all = |batch| scope.spawn(move || charge_all(store, batch));
            let clients: Vec<_> = batches.into_iter().map(charge_all).collect();
            let mut ends = clients.into_iter().map(|client| client.join());
            ends.try_for_each(|end| end.map_err(|_| anyhow!("a client panicked"))?)
        })?;
        Ok(pollster::block_on(store.usage.flush())?)
    }

    /// Makes a new idempotency key, and remembers it, so that its response can be checked later.
    fn new_keep(&mut self, account: AccountId) -> Result<IdempotencyKey> {
        let key = IdempotencyKey::parse(&format!("key-{}", self.keeps.len()))?;
        self.keeps.push((account, key.clone()));
        Ok(key)
    }

    fn charge_of(
        &self,
        account: AccountId,
        key: KeyId,
        request_id: &str,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Charge> {
        let idempotency = idempotency.map(|key| IdempotencyRecord {
            key,
            request_bytes: b"asked".to_vec(),
            body: BodyTemplate::new(ANSWER.to_vec(), None),
        });
        Ok(Charge {
            id: ChargeId::new(self.at),
            account,
            key,
            endpoint: ENDPOINT,
            items: 1,
            price: Price::PerAnswer(1),
            request_id: RequestId::accept(request_id).context("a request id")?,
            revision: DirectoryRevision(1),
            at: self.at,
            idempotency,
        })
    }

    /// Reads the files of the ledger, and reads the content of the ledger from a copy.
    fn remember(&mut self) -> Result<()> {
        self.ledger = fs::read(self.folder.join(LEDGER))?;
        self.log = match self.folder.join(LOG) {
            log if log.exists() => fs::read(log)?,
            _ => Vec::new(),
        };
        let copy = tempfile::tempdir()?;
        let copy = copy.path().join("copy");
        self.copy_to(&copy, |_, _| {})?;
        let store = Store::open(&copy)?;
        let proof = pollster::block_on(store.ledger.verify())?;
        ensure!(proof.faults.is_empty(), "the ledger is not whole: {:?}", proof.faults);
        self.state = State::of(&store, self)?;
        let rows = ACCOUNTS as u64 * (1 + CHARGES_EACH);
        ensure!(self.state.rows() >= rows, "only {} rows in the ledger", self.state.rows());
        ensure!(
            self.state
                .kept
                .iter()
                .all(|kept| matches!(kept, Some(Some(StoredResponse::Answer { .. })))),
            "not every answer is kept"
        );
        ensure!(
            self.state.used.iter().flatten().all(|used| used.len() == 2),
            "not every call was counted: {:?}",
            self.state.used
        );
        Ok(())
    }
}

/// Makes the charges of one client, one after the other. For each charge, adds two calls to the
/// usage counters: one that found something, and one that found nothing.
fn charge_all(store: &Store, charges: Vec<Charge>) -> Result<()> {
    for charge in charges {
        let (account, key, at) = (charge.account, charge.key, charge.at);
        let taken = charge.credits();
        let told = pollster::block_on(store.ledger.charge(charge))?;
        ensure!(matches!(told, Charged::Taken { .. }), "a charge was refused: {told:?}");
        for (outcome, credits) in [(UseOutcome::Found, taken), (UseOutcome::NotFound, Credits(0))] {
            store.usage.count(Use { account, key, endpoint: ENDPOINT, outcome, credits, at });
        }
    }
    Ok(())
}

impl State {
    /// Reads the content of a ledger from an open store.
    pub(super) fn of(store: &Store, original: &Original) -> Result<Self> {
        let mut state = Self::default();
        for (account, _) in &original.accounts {
            let entries = pollster::block_on(store.ledger.entries(*account, 0, u32::MAX))?;
            let balance = pollster::block_on(store.ledger.balance(*account))?;
            state.accounts.push(AccountSnapshot { account: *account, balance, entries });
        }
        for (account, key) in &original.keeps {
            let kept = pollster::block_on(store.ledger.stored_response(
                *account,
                key,
                b"asked",
                original.at,
            ));
            state.kept.push(kept.ok());
        }
        let (first, last) = DAYS;
        for (account, _) in &original.accounts {
            state.used.push(pollster::block_on(store.usage.days(*account, first, last)).ok());
        }
        Ok(state)
    }

    pub(super) fn rows(&self) -> u64 {
        self.accounts.iter().map(|told| told.entries.len() as u64).sum()
    }

    pub(super) fn balances(&self) -> impl Iterator<Item = (AccountId, Credits)> {
        self.accounts.iter().map(|told| (told.account, told.balance.unwrap_or_default()))
    }

    /// Describes the first account whose balance or rows differ in the ledger `other`; `None` if
    /// all accounts are equal.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if self.accounts.len() != other.accounts.len() {
            return Some("not the same accounts".to_owned());
        }
        let differs = |(was, is): (&AccountSnapshot, &AccountSnapshot)| {
            let row = was.entries.iter().zip(&is.entries).find(|(was, is)| was != is);
            let row = row.map(|(was, _)| was.sequence);
            (was != is).then(|| {
                format!(
                    "account {}: balance {:?} became {:?}, {} rows became {}, the first other row \
                     is {row:?}",
                    was.account,
                    was.balance,
                    is.balance,
                    was.entries.len(),
                    is.entries.len(),
                )
            })
        };
        self.accounts.iter().zip(&other.accounts).find_map(differs)
    }

    /// Whether `self` is an earlier state of the ledger `later`. In `self`, some of the newest rows
    /// may be missing. All its rows must also be in `later`, without a change.
    pub(super) fn is_earlier_than(&self, later: &Self) -> bool {
        let pairs = self.accounts.iter().zip(&later.accounts);
        self.accounts.len() == later.accounts.len()
            && pairs.into_iter().all(|(is, later)| {
                let last = is.entries.last().map(|entry| entry.balance);
                later.entries.starts_with(&is.entries) && is.balance == last
            })
    }

    /// Whether the usage counters differ from those of the undamaged ledger `original`. Counters
    /// that cannot be read count as equal.
    pub(super) fn is_used_otherwise(&self, original: &Self) -> bool {
        let pairs = self.used.iter().zip(&original.used);
        pairs.into_iter().any(|(is, was)| is.is_some() && is != was)
    }

    /// Compares the stored responses of this ledger with those of the undamaged ledger `original`.
    /// Returns the worst result.
    pub(super) fn kept_beside(&self, original: &Self) -> super::StoredResponseOutcome {
        let beside = |(is, was): (
            &Option<Option<StoredResponse>>,
            &Option<Option<StoredResponse>>,
        )| match is {
            Some(None) if *was != Some(None) => super::StoredResponseOutcome::Gone,
            Some(Some(_)) if is != was => super::StoredResponseOutcome::Other,
            Some(_) | None => super::StoredResponseOutcome::Same,
        };
        let worst = self.kept.iter().zip(&original.kept).map(beside).max();
        worst.unwrap_or(super::StoredResponseOutcome::Same)
    }
}
