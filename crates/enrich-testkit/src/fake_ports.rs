//! An in-memory store for tests. It implements all ports: the traits through which the service and
//! the account page use a store. A test can set the store's answers, and see how the store was
//! called.

mod accounts;
mod directory;
mod jobs;
mod ledger;
mod sign_ins;
mod snapshots;
mod usage;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use enrich_core::port::ledger::{Charge, ChargeError, Charged};
use enrich_core::port::usage::DayCount;
use enrich_core::{
    Account, AccountId, ApiKey, BodyTemplate, ChargeId, Clock, Company, Credits, Entry, EntryKind,
    KeyId, KeyInfo, MemoryWindows, NewKey, Projection, Service, ServicePorts, Site, StoredResponse,
    SubjectId, Timestamp,
};
use enrich_sign_in::{PasswordHash, Session, SignIn};
use parking_lot::Mutex;

pub use jobs::{JobConnection, MemoryJobs};
pub use snapshots::MemorySnapshots;

/// A function that decides charges in place of the fake ledger. A test sets it to simulate
/// refusals, failures and slow decisions. If its future returns `None`, the fake ledger decides the
/// charge.
pub type DecideCharge = Box<dyn Fn(&Charge) -> DecidedCharge + Send + Sync>;
/// The result of a [`DecideCharge`] function: a future with the decision on a charge.
pub type DecidedCharge = Pin<Box<dyn Future<Output = Option<Result<Charged, ChargeError>>> + Send>>;

/// A stored response to a call with an idempotency key. It contains the request and the answer of
/// the first call, the balance after this call, and the number of items in the answer.
struct Stored {
    request_bytes: Vec<u8>,
    body: BodyTemplate,
    balance: Credits,
    items: u64,
}

/// An in-memory store for tests. It implements all traits through which the service and the account
/// page use a store.
#[derive(Default)]
pub struct FakePorts {
    /// The accounts.
    pub accounts: Mutex<Vec<Account>>,
    /// The keys of all accounts.
    pub keys: Mutex<Vec<(KeyInfo, ApiKey)>>,
    /// The rows of the ledger of all accounts.
    pub entries: Mutex<Vec<Entry>>,
    stored: Mutex<BTreeMap<(AccountId, String), Stored>>,
    /// The counted calls, one element for each call, with the account that made it. A real store
    /// adds the calls up; this fake store does not.
    pub counts: Mutex<Vec<(AccountId, DayCount)>>,
    /// The email addresses and password hashes with which owners sign in.
    pub sign_ins: Mutex<Vec<SignIn>>,
    /// The account and the expiry of each invitation, by the invitation's token.
    pub invitations: Mutex<BTreeMap<String, (AccountId, Timestamp)>>,
    /// The sessions, by their token.
    pub sessions: Mutex<BTreeMap<String, Session>>,
    /// The companies that look-ups can find.
    pub companies: Mutex<Vec<Company>>,
    /// The forgotten domains, which must not be in answers.
    pub suppressed: Mutex<Vec<String>>,

    /// Simulates a broken disk: if `true`, all look-ups fail, and so do all reads of the
    /// directory's revision (the number of the state of the look-up data).
    pub directory_fails: AtomicBool,
    /// Simulates a ledger in a database that cannot be reached: if `true`, all reads of balances
    /// fail.
    pub ledger_is_away: AtomicBool,
    /// Simulates the state after a failed commit: if `true`, the ledger reports that charging has
    /// stopped.
    pub has_stopped_charging: AtomicBool,
    /// The function that decides all charges in place of the fake ledger; `None` if the ledger
    /// decides.
    pub decide_charge: Mutex<Option<DecideCharge>>,
    /// Simulated results for the next reads of a stored response. Each read returns and removes the
    /// first result. When there are no more results, a read returns what the fake ledger has
    /// stored.
    pub next_stored: Mutex<VecDeque<Option<StoredResponse>>>,
    /// Simulates a cached balance that is out of date; `None` if the cached balance is the current
    /// balance.
    pub cached_balance: Mutex<Option<Credits>>,
    /// Simulates an owner who changes the password while somebody signs in: the account of the next
    /// session gets this password just before the session begins. Used for one session only.
    pub password_before_session: Mutex<Option<PasswordHash>>,

    /// The projection of each look-up so far: which parts of a company or person the answer needed.
    pub projections: Mutex<Vec<Projection>>,
    /// The charges that the ledger was asked to decide.
    pub charges: Mutex<Vec<Charge>>,
    /// The names of the threads on which rows of the ledger or usage counters were read.
    pub reading_threads: Mutex<BTreeSet<String>>,
}

impl FakePorts {
    /// Creates a store whose directory (the look-up data) has one company: Quill, at quill.example.
    pub fn with_quill() -> Self {
        let quill = Company {
            sites: vec![Site { domain: "quill.example".to_owned(), country: None }],
            ..Company::named(SubjectId(1), "Quill".to_owned())
        };
        Self { companies: Mutex::new(vec![quill]), ..Self::default() }
    }

    /// Creates a service that uses this store.
    pub fn service(self: &Arc<Self>, clock: Arc<dyn Clock>) -> Service {
        Service::new(ServicePorts {
            directory: Arc::<Self>::clone(self),
            accounts: Arc::<Self>::clone(self),
            ledger: Arc::<Self>::clone(self),
            rate_limiter: Arc::new(MemoryWindows::default()),
            usage: Arc::<Self>::clone(self),
            clock,
        })
    }

    /// Adds an account with credits. Returns the key of the account.
    pub fn add_account(&self, credits: i64, now: Timestamp) -> ApiKey {
        let account = Account::new("Caller", now);
        let first_key = NewKey::generate(account.id, "", now).unwrap();
        let (id, key) = (account.id, first_key.key.clone());
        self.accounts.lock().push(account);
        self.keys.lock().push((key_info(&first_key), first_key.key));
        self.add_entry(id, EntryKind::Grant, credits, now);
        key
    }

    /// Adds a row to the ledger of an account.
    pub fn add_entry(&self, account: AccountId, kind: EntryKind, credits: i64, at: Timestamp) {
        let balance = Credits(self.balance_of(account).checked_add_signed(credits).unwrap());
        let mut entries = self.entries.lock();
        let sequence = entries.iter().filter(|entry| entry.account == account).count() as u64 + 1;
        let (id, note) = (ChargeId::new(at), String::new());
        entries.push(Entry { account, sequence, id, kind, credits, balance, note, at });
    }

    /// Makes `decide` decide all later charges, in place of the fake ledger.
    pub fn decide_charges(
        &self,
        decide: impl Fn(&Charge) -> Result<Charged, ChargeError> + Send + Sync + 'static,
    ) {
        let decide = move |charge: &Charge| -> DecidedCharge {
            let decided = decide(charge);
            Box::pin(async { Some(decided) })
        };
        *self.decide_charge.lock() = Some(Box::new(decide));
    }

    /// Returns a text with the accounts, keys, ledger rows and password hashes, and with the tokens
    /// of the invitations and sessions. A test compares the texts before and after a call, to see
    /// whether the call has changed anything.
    pub fn state_text(&self) -> String {
        let sessions: Vec<String> = self.sessions.lock().keys().cloned().collect();
        let passwords: Vec<String> = self
            .sign_ins
            .lock()
            .iter()
            .map(|sign_in| {
                let hash = sign_in.password.as_ref().map_or("", PasswordHash::expose);
                format!("{} {hash}", sign_in.email)
            })
            .collect();
        let keys: Vec<KeyInfo> = self.keys.lock().iter().map(|(info, _)| info.clone()).collect();
        format!(
            "{:?} {keys:?} {:?} {passwords:?} {:?} {sessions:?}",
            self.accounts.lock(),
            self.entries.lock(),
            self.invitations.lock().keys(),
        )
    }

    fn change_key(&self, id: KeyId, change: impl FnOnce(&mut KeyInfo)) -> bool {
        let mut keys = self.keys.lock();
        let key = keys.iter_mut().find(|(info, _)| info.id == id);
        key.map(|(info, _)| change(info)).is_some()
    }

    /// Notes the name of the current thread, which reads rows of the ledger or usage counters.
    fn note_thread(&self) {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        self.reading_threads.lock().insert(name);
    }

    fn balance_of(&self, account: AccountId) -> u64 {
        let entries = self.entries.lock();
        entries.iter().rfind(|entry| entry.account == account).map_or(0, |entry| entry.balance.0)
    }
}

fn key_info(key: &NewKey) -> KeyInfo {
    KeyInfo {
        id: key.id,
        account: key.account,
        label: key.label.clone(),
        hint: key.key.hint().to_owned(),
        rate: key.rate,
        created_at: key.created_at,
        expires_at: None,
        has_ended: false,
        last_used_at: None,
        is_account_active: true,
        country: None,
    }
}
