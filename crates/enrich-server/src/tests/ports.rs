//! Ports in memory: one key, one company, and switches that make them fail.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use enrich_core::port::accounts::{AccountChanged, Accounts, KeyStored};
use enrich_core::port::directory::Directory;
use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::{
    Charge, ChargeError, Charged, Grant, Granted, Ledger, Verification,
};
use enrich_core::port::usage::{DayCount, Usage, Use};
use enrich_core::{
    Account, AccountChange, AccountId, ApiKey, Clock, Company, CompanyRef, Confidence, Credits,
    DirectoryRevision, Entry, Found, IdempotencyKey, KeyId, KeyInfo, KeyLimit, MemoryWindows,
    NewKey, Projection, Question, RateOverride, Service, ServicePorts, Site, StoredResponse,
    Subject, SubjectId, Timestamp,
};
use parking_lot::Mutex;

/// How the ledger answers a charge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Charging {
    #[default]
    Works,
    Fails,
    IsUnknown,
    Panics,
    /// Waits until [`Switches::go_on`].
    Waits,
}

/// The switches of the ports, and the calls that they recorded.
#[derive(Default)]
pub(super) struct Switches {
    pub(super) charging: Mutex<Charging>,
    pub(super) go_on: AtomicBool,
    pub(super) has_stopped_charging: AtomicBool,
    pub(super) directory_fails: AtomicBool,
    pub(super) charged: AtomicU64,
}

struct Ports {
    switches: Arc<Switches>,
    key: ApiKey,
    info: KeyInfo,
}

/// A clock that always shows the middle of a minute.
struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        "2026-03-04T12:00:30Z".parse().unwrap()
    }
}

/// A service over these ports, its switches, and the key it accepts.
pub(super) fn service() -> (Service, Arc<Switches>, String) {
    let key = ApiKey::generate().unwrap();
    let text = key.expose().to_owned();
    let now = Noon.now();
    let info = KeyInfo {
        id: KeyId::new(now),
        account: AccountId::new(now),
        label: String::new(),
        hint: key.hint().to_owned(),
        rate: RateOverride::default(),
        created_at: now,
        expires_at: None,
        has_ended: false,
        last_used_at: None,
        is_account_active: true,
        country: None,
    };
    let switches = Arc::new(Switches::default());
    let ports = Arc::new(Ports { switches: Arc::clone(&switches), key, info });
    let rate_limiter = Arc::new(MemoryWindows::default());
    let directory: Arc<dyn Directory> = ports.clone();
    let service = Service::new(ServicePorts {
        directory,
        accounts: ports.clone(),
        ledger: ports.clone(),
        rate_limiter,
        usage: ports,
        clock: Arc::new(Noon),
    });
    (service, switches, text)
}

fn not_here<T>() -> Result<T, StoreError> {
    Err(StoreError::failed("these ports do not do that"))
}

#[async_trait]
impl Directory for Ports {
    async fn find(&self, question: &Question, _: Projection) -> Result<Option<Found>, StoreError> {
        if self.switches.directory_fails.load(Ordering::SeqCst) {
            return Err(StoreError::failed("disk I/O error"));
        }
        let is_known = match question {
            Question::Company(CompanyRef::Name { name, .. }) => name.display() == "Quill",
            _ => false,
        };
        let company = || Company {
            id: SubjectId(1),
            name: "Quill".to_owned(),
            aliases: Vec::new(),
            seats: Vec::new(),
            sites: vec![Site { domain: "quill.example".to_owned(), country: None }],
            pages: Vec::new(),
            emails: Vec::new(),
            phones: Vec::new(),
            employees: Vec::new(),
        };
        Ok(is_known.then(|| Found {
            subject: Subject::Company(company()),
            confidence: Confidence::FULL,
            revision: DirectoryRevision(7),
        }))
    }

    async fn revision(&self) -> Result<DirectoryRevision, StoreError> {
        if self.switches.directory_fails.load(Ordering::SeqCst) {
            return Err(StoreError::failed("disk I/O error"));
        }
        Ok(DirectoryRevision(7))
    }
}

#[async_trait]
impl Ledger for Ports {
    async fn balance(&self, _: AccountId) -> Result<Option<Credits>, StoreError> {
        Ok(Some(Credits(1000 - self.switches.charged.load(Ordering::SeqCst))))
    }

    async fn kept(
        &self,
        _: AccountId,
        _: &IdempotencyKey,
        _: &[u8],
        _: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        Ok(None)
    }

    async fn charge(&self, charge: Charge) -> Result<Charged, ChargeError> {
        let charging = *self.switches.charging.lock();
        match charging {
            Charging::Works => {}
            Charging::Fails => return Err(ChargeError::NotTaken("database is full".into())),
            Charging::IsUnknown => return Err(ChargeError::Unknown("disk I/O error".into())),
            Charging::Panics => panic!("a panic that quotes {:?}", charge.endpoint),
            Charging::Waits => {
                while !self.switches.go_on.load(Ordering::SeqCst) {
                    actix_web::rt::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            }
        }
        let credits = charge.credits();
        let before = self.switches.charged.fetch_add(credits.0, Ordering::SeqCst);
        Ok(Charged::Taken { balance: Credits(1000 - before - credits.0) })
    }

    async fn grant(&self, _: Grant) -> Result<Granted, ChargeError> {
        Err(ChargeError::Overloaded)
    }

    async fn entries(&self, _: AccountId, _: u64, _: u32) -> Result<Vec<Entry>, StoreError> {
        not_here()
    }

    async fn newest_entries(
        &self,
        _: AccountId,
        _: Option<u64>,
        _: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        not_here()
    }

    async fn first_entry_at(&self, _: AccountId, _: Timestamp) -> Result<u64, StoreError> {
        not_here()
    }

    async fn end_of_entries_before(&self, _: AccountId, _: Timestamp) -> Result<u64, StoreError> {
        not_here()
    }

    async fn verify(&self) -> Result<Verification, StoreError> {
        not_here()
    }

    fn is_charging(&self) -> bool {
        !self.switches.has_stopped_charging.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Accounts for Ports {
    async fn create(&self, _: Account, _: NewKey) -> Result<(), StoreError> {
        not_here()
    }

    async fn account(&self, _: AccountId) -> Result<Option<Account>, StoreError> {
        not_here()
    }

    async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        not_here()
    }

    async fn change(&self, _: AccountId, _: AccountChange) -> Result<AccountChanged, StoreError> {
        not_here()
    }

    async fn add_key(&self, _: NewKey, _: KeyLimit) -> Result<KeyStored, StoreError> {
        not_here()
    }

    async fn rotate_key(
        &self,
        _: KeyId,
        _: Timestamp,
        _: NewKey,
        _: KeyLimit,
    ) -> Result<KeyStored, StoreError> {
        not_here()
    }

    async fn find_key(&self, key: &ApiKey) -> Result<Option<Arc<KeyInfo>>, StoreError> {
        Ok((key.expose() == self.key.expose()).then(|| Arc::new(self.info.clone())))
    }

    async fn key(&self, _: KeyId) -> Result<Option<KeyInfo>, StoreError> {
        not_here()
    }

    async fn keys(&self, _: AccountId) -> Result<Vec<KeyInfo>, StoreError> {
        not_here()
    }

    async fn reveal(&self, _: KeyId) -> Result<Option<ApiKey>, StoreError> {
        not_here()
    }

    async fn set_rate(&self, _: KeyId, _: RateOverride) -> Result<bool, StoreError> {
        not_here()
    }

    async fn set_label(&self, _: KeyId, _: &str) -> Result<bool, StoreError> {
        not_here()
    }

    async fn expire_key(&self, _: KeyId, _: Timestamp, _: Timestamp) -> Result<bool, StoreError> {
        not_here()
    }

    async fn settle_ends(&self, _: Timestamp) -> Result<u64, StoreError> {
        not_here()
    }
}

#[async_trait]
impl Usage for Ports {
    fn count(&self, _: Use) {}

    async fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn days(&self, _: AccountId, _: i64, _: i64) -> Result<Vec<DayCount>, StoreError> {
        not_here()
    }
}

static LOG: OnceLock<Arc<Mutex<Vec<u8>>>> = OnceLock::new();

/// A writer into the log that tests read.
#[derive(Clone)]
struct IntoLog(Arc<Mutex<Vec<u8>>>);

impl Write for IntoLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Starts to record this process's log; call it before the code whose log is tested.
pub(super) fn keep_log() {
    LOG.get_or_init(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let into = IntoLog(Arc::clone(&log));
        let writer = move || into.clone();
        tracing_subscriber::fmt().json().flatten_event(true).with_writer(writer).init();
        log
    });
}

/// The log lines of a request.
pub(super) fn logged(request_id: &str) -> Vec<String> {
    let log = LOG.get().unwrap().lock();
    let log = String::from_utf8_lossy(&log);
    let needle = format!("\"request_id\":\"{request_id}\"");
    log.lines().filter(|line| line.contains(&needle)).map(str::to_owned).collect()
}
