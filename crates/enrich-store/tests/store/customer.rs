//! An account with credits in a new store, for tests.

use std::path::Path;

use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Charge, Charged, Grant, Granted, Ledger as _};
use enrich_core::{
    Account, AccountId, ApiKey, BodyTemplate, ChargeId, DirectoryRevision, IdempotencyKey,
    IdempotencyRecord, KeyId, NewKey, Price, RateOverride, RequestId, Timestamp,
};
use enrich_store::Store;
use pollster::block_on;
use rusqlite::Connection;
use tempfile::TempDir;

pub(crate) struct Customer {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
    pub(crate) account: AccountId,
    pub(crate) key: KeyId,
    pub(crate) secret: ApiKey,
}

impl Customer {
    pub(crate) fn with(credits: i64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let (account, key) = (AccountId::new(now()), KeyId::new(now()));
        let secret = ApiKey::generate().unwrap();
        let new = Account { id: account, ..Account::new("Northwind", now()) };
        let first = NewKey {
            id: key,
            account,
            label: "first".to_owned(),
            key: secret.clone(),
            rate: RateOverride::default(),
            created_at: now(),
            expires_at: None,
        };
        block_on(store.accounts.create(new, first)).unwrap();
        let customer = Self { folder, store, account, key, secret };
        customer.grant(&customer.store, credits);
        customer
    }

    /// Creates another account in the same store, without credits.
    pub(crate) fn another_account(&self) -> AccountId {
        let account = AccountId::new(now());
        let new = Account { id: account, ..Account::new("Southwind", now()) };
        let first = NewKey {
            id: KeyId::new(now()),
            account,
            label: "first".to_owned(),
            key: ApiKey::generate().unwrap(),
            rate: RateOverride::default(),
            created_at: now(),
            expires_at: None,
        };
        block_on(self.store.accounts.create(new, first)).unwrap();
        account
    }

    pub(crate) fn grant(&self, store: &Store, credits: i64) {
        self.grant_to(store, self.account, credits);
    }

    pub(crate) fn grant_to(&self, store: &Store, account: AccountId, credits: i64) {
        let note = "an invoice".to_owned();
        let id = ChargeId::new(now());
        let grant = Grant { id, account, credits, note, corrects: None, at: now() };
        let granted = block_on(store.ledger.grant(grant)).unwrap();
        assert!(matches!(granted, Granted::Written { .. }), "{granted:?}");
    }

    /// Returns a charge of one credit.
    pub(crate) fn charge(&self) -> Charge {
        Charge {
            id: ChargeId::new(now()),
            account: self.account,
            key: self.key,
            endpoint: "/v1/cuf",
            items: 1,
            price: Price::PerAnswer(1),
            request_id: RequestId::accept("a-request").unwrap(),
            revision: DirectoryRevision(1),
            at: now(),
            idempotency: None,
        }
    }

    pub(crate) fn keyed(&self, key: &str) -> Charge {
        let idempotency = IdempotencyRecord {
            key: IdempotencyKey::parse(key).unwrap(),
            request_bytes: b"the question of ada@people.example".to_vec(),
            body: BodyTemplate::new(b"the answer about ada@people.example".to_vec(), None),
        };
        Charge { idempotency: Some(idempotency), ..self.charge() }
    }

    pub(crate) fn take(&self, charge: Charge) -> ChargeId {
        let id = charge.id;
        let charged = block_on(self.store.ledger.charge(charge)).unwrap();
        assert!(matches!(charged, Charged::Taken { .. }), "{charged:?}");
        id
    }

    pub(crate) fn balance(&self) -> u64 {
        block_on(self.store.ledger.balance(self.account)).unwrap().unwrap().0
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        block_on(self.store.ledger.verify()).unwrap().faults
    }

    /// Opens the database file of the ledger, to read it or to tamper with it. SQLite does not
    /// check foreign keys on this connection.
    pub(crate) fn file(&self) -> Connection {
        let connection = Connection::open(self.folder.path().join("ledger.sqlite")).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection
    }
}

pub(crate) fn open(folder: &Path) -> Store {
    Store::open_or_create(folder).unwrap()
}

pub(crate) fn now() -> Timestamp {
    "2026-11-20T12:00:00Z".parse().unwrap()
}
