use std::path::Path;

use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Charge, Charged, Grant, Granted, Ledger as _};
use enrich_core::{
    Account, AccountId, ApiKey, BodyTemplate, ChargeId, Credits, DirectoryRevision, IdempotencyKey,
    IdempotencyRecord, KeyId, NewKey, Price, RateOverride, RequestId, Timestamp,
};
use enrich_ledger::seal_response;
use enrich_secrets::SECRET_FILE;
use enrich_store::Store;
use enrich_store_sqlite::Durability;
use pollster::block_on;
use tempfile::TempDir;
use tokio::sync::mpsc::{self, error::TrySendError};

use super::*;
use crate::LEDGER;
use crate::ledger::job::Open;

const IO_ERROR_FSYNC: i32 = rusqlite::ffi::SQLITE_IOERR_FSYNC;

/// A writer that runs without a thread of its own, on a ledger with one account.
struct WriterFixture {
    folder: TempDir,
    account: AccountId,
    writer: Writer,
}

impl WriterFixture {
    fn with_credits(credits: i64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let id = AccountId::new(now());
        let account = Account { id, ..Account::new("Northwind", now()) };
        let key = NewKey {
            id: KeyId::new(now()),
            account: id,
            label: String::new(),
            key: ApiKey::generate().unwrap(),
            rate: RateOverride::default(),
            created_at: now(),
            expires_at: None,
        };
        block_on(store.accounts.create(account, key)).unwrap();
        drop(store);
        let writer = writer(folder.path(), 1_000);
        let mut fixture = Self { folder, account: id, writer };
        assert!(matches!(fixture.settle_grant(credits), Ok(Granted::Written { .. })));
        fixture
    }

    fn charge(&self, idempotency: Option<&str>) -> Charge {
        let idempotency = idempotency.map(|key| IdempotencyRecord {
            key: IdempotencyKey::parse(key).unwrap(),
            request_bytes: b"q".to_vec(),
            body: BodyTemplate::new(vec![b'x'; 2_000], None),
        });
        Charge {
            id: ChargeId::new(now()),
            account: self.account,
            key: KeyId::new(now()),
            endpoint: "/v1/cuf",
            items: 1,
            price: Price::PerAnswer(1),
            request_id: RequestId::accept("a-request").unwrap(),
            revision: DirectoryRevision(1),
            at: now(),
            idempotency,
        }
    }

    fn settle(&mut self, charges: Vec<Charge>) -> Vec<Result<Charged, ChargeError>> {
        let secrets = self.writer.secrets.clone();
        let (mut jobs, decisions): (Vec<_>, Vec<_>) = charges
            .into_iter()
            .map(|mut charge| {
                let idempotency = charge.idempotency.take();
                let record = idempotency.map(|idempotency| {
                    seal_response(&secrets, charge.account, &idempotency, charge.at).unwrap()
                });
                let (open, decision) = Open::new((charge, record));
                (Job::Charge(open), decision)
            })
            .unzip();
        self.writer.settle(&mut jobs);
        decisions.into_iter().map(|decision| block_on(decision).unwrap()).collect()
    }

    fn settle_one(&mut self) -> Result<Charged, ChargeError> {
        self.settle(vec![self.charge(None)]).remove(0)
    }

    fn settle_grant(&mut self, credits: i64) -> Result<Granted, ChargeError> {
        let (id, account, note) = (ChargeId::new(now()), self.account, String::new());
        let grant = Grant { id, account, credits, note, corrects: None, at: now() };
        let (open, decision) = Open::new(grant);
        self.writer.settle(&mut vec![Job::Grant(open)]);
        block_on(decision).unwrap()
    }

    /// Returns the account's balance as another process reads it. Also verifies the ledger.
    fn balance(&self) -> u64 {
        let store = Store::open(self.folder.path()).unwrap();
        assert_eq!(block_on(store.ledger.verify()).unwrap().faults, [] as [&str; 0]);
        block_on(store.ledger.balance(self.account)).unwrap().unwrap().0
    }

    fn pragma(&self, name: &str, value: u32) {
        let connection = self.writer.connection.as_ref().unwrap();
        connection.pragma_update(None, name, value).unwrap();
    }

    fn stored_responses(&self) -> u64 {
        let connection = self.writer.connection.as_ref().unwrap();
        connection.query_row("SELECT count(*) FROM kept", [], |row| row.get(0)).unwrap()
    }

    fn pages(&self) -> u32 {
        let connection = self.writer.connection.as_ref().unwrap();
        connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap()
    }
}

fn now() -> Timestamp {
    "2026-11-20T12:00:00Z".parse().unwrap()
}

fn writer(folder: &Path, max_idempotency_records: u64) -> Writer {
    let secrets = Secrets::load(&folder.join(SECRET_FILE)).unwrap();
    let limits = Options { max_idempotency_records, ..Options::default() };
    let is_charging = Arc::new(AtomicBool::new(true));
    Writer::open(folder.join(LEDGER.file), secrets, limits, is_charging).unwrap()
}

fn failure(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)
}

fn taken(balance: u64) -> Charged {
    Charged::Taken { balance: Credits(balance) }
}

#[test]
fn a_failed_wait_for_the_disk_stops_charging() {
    let mut fixture = WriterFixture::with_credits(10);
    fixture.writer.commit = Box::new(|connection| {
        connection.execute_batch("ROLLBACK")?;
        Err(failure(IO_ERROR_FSYNC))
    });
    let group = vec![fixture.charge(None), fixture.charge(Some("k"))];
    let decided = fixture.settle(group);
    assert!(decided.iter().all(|d| matches!(d, Err(ChargeError::Unknown(_)))), "{decided:?}");
    assert!(!fixture.writer.is_charging.load(Ordering::Acquire));
    fixture.writer.commit = Box::new(|connection| connection.execute_batch("COMMIT"));
    assert!(matches!(fixture.settle_one(), Err(ChargeError::Stopped)));
    assert!(matches!(fixture.settle_grant(5), Err(ChargeError::Stopped)));
    assert_eq!(fixture.balance(), 10);
}

#[test]
fn when_the_thread_dies_nobody_waits_for_ever_and_charging_stops() {
    let mut fixture = WriterFixture::with_credits(10);
    let (dies, died) = std::sync::mpsc::channel::<()>();
    fixture.writer.commit = Box::new(move |_| {
        died.recv().unwrap();
        panic!("as if there were a bug")
    });
    let [charge, behind, another] =
        [fixture.charge(None), fixture.charge(None), fixture.charge(None)];
    let WriterFixture { folder: _folder, writer, .. } = fixture;
    let is_charging = Arc::clone(&writer.is_charging);
    let (sender, queue) = mpsc::channel(9);
    let ask = |charge| {
        let (open, decision) = Open::new((charge, None));
        (sender.try_send(Job::Charge(open)), decision)
    };
    let (_, decision) = ask(charge);
    let thread = thread::spawn(move || writer.run(queue));
    // Waits until the writer has taken the first charge, which empties the queue.
    while sender.capacity() < sender.max_capacity() {
        thread::yield_now();
    }
    let (_, decision_behind) = ask(behind);
    dies.send(()).unwrap();
    assert!(block_on(decision).is_err() && block_on(decision_behind).is_err());
    assert!(thread.join().is_err());
    assert!(!is_charging.load(Ordering::Acquire));
    assert!(matches!(ask(another).0, Err(TrySendError::Closed(_))));
}

#[test]
fn an_unknown_charge_that_came_through_is_replayed_and_not_repeated() {
    let mut fixture = WriterFixture::with_credits(10);
    fixture.writer.commit = Box::new(|connection| {
        connection.execute_batch("COMMIT")?;
        Err(failure(IO_ERROR_FSYNC))
    });
    let first = fixture.settle(vec![fixture.charge(Some("k"))]).remove(0);
    assert!(matches!(first, Err(ChargeError::Unknown(_))), "{first:?}");
    fixture.writer = writer(fixture.folder.path(), 1_000);
    let repeat = fixture.settle(vec![fixture.charge(Some("k"))]).remove(0);
    assert!(matches!(repeat, Ok(Charged::Replayed(_))), "{repeat:?}");
    assert_eq!(fixture.balance(), 9);
}

#[test]
fn a_log_without_room_takes_nothing_and_charging_goes_on() {
    let mut fixture = WriterFixture::with_credits(10);
    fixture.writer.commit = Box::new(|_| Err(failure(rusqlite::ffi::SQLITE_FULL)));
    let group = vec![fixture.charge(None), fixture.charge(Some("k"))];
    let decided = fixture.settle(group);
    assert!(decided.iter().all(|d| matches!(d, Err(ChargeError::NotTaken(_)))), "{decided:?}");
    assert_eq!(fixture.balance(), 10);
    fixture.writer.commit = Box::new(|connection| connection.execute_batch("COMMIT"));
    assert_eq!(fixture.settle_one().unwrap(), taken(9));
}

#[test]
fn a_full_database_takes_nothing_and_charging_goes_on() {
    let mut fixture = WriterFixture::with_credits(1_000);
    fixture.pragma("max_page_count", fixture.pages());
    let mut taken_before = 0;
    let refused = loop {
        let key = format!("k{taken_before}");
        match fixture.settle(vec![fixture.charge(Some(&key))]).remove(0) {
            Ok(charged) => {
                taken_before += 1;
                assert_eq!(charged, taken(1_000 - taken_before));
            }
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, ChargeError::NotTaken(_)), "{refused:?}");
    assert_eq!(fixture.balance(), 1_000 - taken_before);
    fixture.pragma("max_page_count", u32::MAX / 2);
    assert_eq!(fixture.settle_one().unwrap(), taken(999 - taken_before));
}

#[test]
fn one_that_does_not_fit_takes_nobody_along() {
    let mut fixture = WriterFixture::with_credits(1_000);
    let mut large = fixture.charge(Some("large"));
    large.idempotency.as_mut().unwrap().body = BodyTemplate::new(vec![b'x'; 1_000_000], None);
    fixture.pragma("max_page_count", fixture.pages() + 8);
    let group = vec![fixture.charge(None), large, fixture.charge(None)];
    let decided = fixture.settle(group);
    assert!(matches!(decided[0], Ok(Charged::Taken { .. })), "{decided:?}");
    assert!(matches!(decided[1], Err(ChargeError::NotTaken(_))), "{decided:?}");
    assert!(matches!(decided[2], Ok(Charged::Taken { .. })), "{decided:?}");
    assert_eq!(fixture.balance(), 998);
}

#[test]
fn a_group_is_one_transaction() {
    let mut fixture = WriterFixture::with_credits(1_000);
    let commits = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = Arc::clone(&commits);
    fixture.writer.commit = Box::new(move |connection| {
        counter.fetch_add(1, Ordering::Relaxed);
        connection.execute_batch("COMMIT")
    });
    let group = (0..512).map(|_| fixture.charge(None)).collect();
    assert!(fixture.settle(group).iter().all(Result::is_ok));
    assert_eq!(commits.load(Ordering::Relaxed), 1);
    assert_eq!(fixture.balance(), 488);
}

#[test]
fn a_full_shelf_refuses_new_keys_until_old_ones_expire() {
    let mut fixture = WriterFixture::with_credits(100);
    fixture.writer.limits.max_idempotency_records = 2;
    let group = ["a", "b", "c"].map(|key| fixture.charge(Some(key))).to_vec();
    let decided = fixture.settle(group);
    assert!(decided[..2].iter().all(Result::is_ok), "{decided:?}");
    assert!(matches!(decided[2], Err(ChargeError::IdempotencyStoreFull)), "{decided:?}");
    let repeat = fixture.settle(vec![fixture.charge(Some("a"))]).remove(0);
    assert!(matches!(repeat, Ok(Charged::Replayed(_))), "{repeat:?}");
    assert_eq!(fixture.balance(), 98);

    // A new writer does not know the number of idempotency records, so it counts them.
    fixture.writer = writer(fixture.folder.path(), 2);
    let refused = fixture.settle(vec![fixture.charge(Some("c"))]).remove(0);
    assert!(matches!(refused, Err(ChargeError::IdempotencyStoreFull)), "{refused:?}");

    let tomorrow = Timestamp::from_second(now().as_second() + IdempotencyRecord::SECONDS).unwrap();
    let late = Charge { at: tomorrow, ..fixture.charge(Some("c")) };
    assert_eq!(fixture.settle(vec![late]).remove(0).unwrap(), taken(97));
    assert_eq!(fixture.stored_responses(), 1, "the expired ones are gone");
}

#[test]
fn room_that_another_process_makes_or_takes_is_noticed() {
    let mut fixture = WriterFixture::with_credits(100);
    fixture.writer.limits.max_idempotency_records = 2;
    let group = ["a", "b"].map(|key| fixture.charge(Some(key))).to_vec();
    assert!(fixture.settle(group).iter().all(Result::is_ok));
    let other = sqlite::writer(&fixture.writer.path, Durability::Commit).unwrap();
    other
        .execute("DELETE FROM kept WHERE key_hash = (SELECT min(key_hash) FROM kept)", [])
        .unwrap();
    let group = ["c", "d"].map(|key| fixture.charge(Some(key))).to_vec();
    let decided = fixture.settle(group);
    assert!(decided[0].is_ok(), "the other made room: {decided:?}");
    assert!(matches!(decided[1], Err(ChargeError::IdempotencyStoreFull)), "{decided:?}");

    fixture.writer.limits.max_idempotency_records = 4;
    let copy = "INSERT INTO kept SELECT account, ?1, asked_hash, sealed, secret, balance, charge,
                    at FROM kept LIMIT 1";
    for name in [[1_u8; 32], [2; 32]] {
        other.execute(copy, [name]).unwrap();
    }
    // The time of the writer's last count is set back, so that the writer counts again.
    let record_count = fixture.writer.record_count.as_mut().unwrap();
    record_count.counted = record_count.counted.checked_sub(Duration::from_secs(1)).unwrap();
    let refused = fixture.settle(vec![fixture.charge(Some("e"))]).remove(0);
    assert!(
        matches!(refused, Err(ChargeError::IdempotencyStoreFull)),
        "the other took it: {refused:?}"
    );
}

#[test]
fn a_group_too_large_for_the_room_that_is_known_of_has_it_counted() {
    let mut fixture = WriterFixture::with_credits(100);
    fixture.writer.limits.max_idempotency_records = 2;
    assert!(fixture.settle(vec![fixture.charge(Some("a"))]).remove(0).is_ok());
    let other = sqlite::writer(&fixture.writer.path, Durability::Commit).unwrap();
    other.execute("DELETE FROM kept", []).unwrap();
    let group = ["b", "c"].map(|key| fixture.charge(Some(key))).to_vec();
    let decided = fixture.settle(group);
    assert!(decided.iter().all(Result::is_ok), "the other made room: {decided:?}");
}

#[test]
fn a_group_that_keeps_nothing_leaves_the_kept_answers_alone() {
    let mut fixture = WriterFixture::with_credits(100);
    assert!(fixture.settle(vec![fixture.charge(Some("a"))]).remove(0).is_ok());
    let tomorrow = Timestamp::from_second(now().as_second() + IdempotencyRecord::SECONDS).unwrap();
    let late = |charge| Charge { at: tomorrow, ..charge };
    assert!(fixture.settle(vec![late(fixture.charge(None))]).remove(0).is_ok());
    assert_eq!(fixture.stored_responses(), 1);
    assert!(fixture.settle(vec![late(fixture.charge(Some("b")))]).remove(0).is_ok());
    assert_eq!(fixture.stored_responses(), 1, "the expired one is gone");
}

#[test]
fn a_log_that_cannot_be_moved_is_written_once_more_as_it_is() {
    let mut fixture = WriterFixture::with_credits(10);
    let mut other = sqlite::reader(&fixture.writer.path).unwrap();
    let earlier = other.transaction().unwrap();
    let rows = "SELECT count(*) FROM entry";
    assert_eq!(earlier.query_row(rows, [], |row| row.get::<_, u64>(0)).unwrap(), 1);
    assert_eq!(fixture.settle_one().unwrap(), taken(9));

    let connection = fixture.writer.connection.as_ref().unwrap();
    assert!(!sqlite::move_log(connection).unwrap(), "an older state is read");
    let log = fixture.folder.path().join("ledger.sqlite-wal");
    let before = std::fs::read(&log).unwrap();
    make_durable(connection, &fixture.writer.path).unwrap();
    assert!(std::fs::read(&log).unwrap() == before, "the log is another");

    fixture.writer = writer(fixture.folder.path(), 1_000);
    assert_eq!(fixture.settle_one().unwrap(), taken(8));
    assert_eq!(earlier.query_row(rows, [], |row| row.get::<_, u64>(0)).unwrap(), 1);
    drop(earlier);
    assert!(sqlite::move_log(fixture.writer.connection.as_ref().unwrap()).unwrap());
}

#[test]
fn what_others_wrote_counts_as_seen_up_to_a_commit_and_not_after_it() {
    let mut fixture = WriterFixture::with_credits(10);
    assert_eq!(fixture.settle_one().unwrap(), taken(9));
    // This simulates a commit that takes long because it moves the write-ahead log into the
    // database.
    fixture.writer.commit = Box::new(|connection| {
        connection.execute_batch("COMMIT")?;
        thread::sleep(Duration::from_millis(20));
        Ok(())
    });
    assert_eq!(fixture.settle_one().unwrap(), taken(8));
    assert!(fixture.writer.heads().is_refresh_due());
}

#[test]
fn others_that_keep_the_database_busy_are_waited_for_and_then_told() {
    let mut fixture = WriterFixture::with_credits(10);
    let other = sqlite::writer(&fixture.writer.path, Durability::Commit).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    fixture.writer.connection.as_ref().unwrap().busy_timeout(std::time::Duration::ZERO).unwrap();
    assert!(matches!(fixture.settle_one(), Err(ChargeError::Overloaded)));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(fixture.settle_one().unwrap(), taken(9));
}
