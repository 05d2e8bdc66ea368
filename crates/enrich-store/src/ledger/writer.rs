//! The one thread that writes the ledger: groups of decisions, one transaction and one wait for
//! the disk each.

use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use enrich_core::port::ledger::ChargeError;
use rusqlite::{Connection, ErrorCode};

use crate::error::OpenError;
use crate::ledger::NotAsWritten;
use crate::ledger::book::{Book, BookError, Heads, Written};
use crate::ledger::decide::{Desk, GroupFailed};
use crate::ledger::job::{Job, decide, refuse, tell};
use crate::ledger::keeping::Shelf;
use crate::ledger::queue::{Exit, Waited};
use crate::ledger::reply::Woken;
use crate::secret::Secrets;
use crate::sqlite::{self, Durability};

/// How far apart groups begin, while more than one decision at a time is asked for.
///
/// A commit costs some 100 µs of the kernel's time whatever is in it, which this spreads over more
/// decisions. With half of it, many callers have less where the processor is short; with twice as
/// much, they have no more, and few callers wait for nobody (`docs/performance.md`).
const GATHERING: Duration = Duration::from_millis(1);
/// After how long without a newcomer everybody is taken to be there.
const LULL: Duration = Duration::from_micros(200);

/// After how long whoever was not woken by another is woken from here.
const OVERSLEPT: Duration = Duration::from_millis(2);

/// How the ledger is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most that is decided in one transaction.
    pub(super) group: usize,
    /// The most idempotency records.
    pub(super) kept: u64,
    /// When what was told has reached the disk.
    pub(super) durability: Durability,
}

/// Ends a transaction: `COMMIT`, or in tests a disk that fails.
type Commit = Box<dyn FnMut(&Connection) -> rusqlite::Result<()> + Send>;

/// The writing side of the ledger.
pub(super) struct Writer {
    path: PathBuf,
    secrets: Secrets,
    limits: Limits,
    /// Absent after a connection could not be used any more; opened again for the next group.
    connection: Option<Connection>,
    book: Book,
    /// The idempotency records as this connection last saw them; counted when the first is kept.
    shelf: Option<Shelf>,
    is_charging: Arc<AtomicBool>,
    commit: Commit,
    /// Who was told last.
    woken: Woken,
}

/// What became of a group.
enum Settled {
    /// Durable.
    Written,
    /// Certainly not written; what failed.
    NotWritten(rusqlite::Error),
    /// Certainly not written: others kept the database busy for too long.
    Busy,
    /// Certainly not written: the log is not what it was.
    Altered(NotAsWritten),
    /// Perhaps written; what failed.
    Unknown(rusqlite::Error),
}

/// One failure that a whole group met.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the group of charges could not be written")]
struct Shared(#[source] Arc<dyn std::error::Error + Send + Sync>);

impl Writer {
    /// Opens the writing side.
    pub(super) fn open(
        path: PathBuf,
        secrets: Secrets,
        limits: Limits,
        is_charging: Arc<AtomicBool>,
    ) -> Result<Self, OpenError> {
        let failed = |source| OpenError::of_sqlite(&path, source);
        let mut connection = sqlite::writer(&path, limits.durability).map_err(failed)?;
        make_durable(&connection).map_err(failed)?;
        let book = Book::open(&mut connection, secrets.clone()).map_err(|error| match error {
            BookError::Read(source) => failed(source),
            BookError::NotAsWritten(source) => {
                OpenError::NotAsWritten { path: path.clone(), source: source.into() }
            }
        })?;
        let commit: Commit = Box::new(|connection| connection.execute_batch("COMMIT"));
        let connection = Some(connection);
        let (shelf, woken) = (None, Woken::default());
        Ok(Self { path, secrets, limits, connection, book, shelf, is_charging, commit, woken })
    }

    /// Where accounts stand, for everyone to read.
    pub(super) fn heads(&self) -> Arc<Heads> {
        self.book.heads()
    }

    /// Decides what arrives until nobody can send any more and the queue is empty.
    pub(super) fn run(mut self, queue: &Exit<Job>) {
        // Also when this thread panics: who asks then must not wait for an answer.
        let _stop = StopAtEnd(Arc::clone(&self.is_charging));
        let (mut began, mut last_len) = (Instant::now(), 1);
        let mut group = Vec::new();
        while self.wait(queue) {
            // Where one at a time asks, nobody else is waited for.
            if last_len > 1 {
                self.gather(queue, began + GATHERING);
            }
            queue.take(self.limits.group, &mut group);
            began = Instant::now();
            last_len = group.len();
            self.settle(&mut group);
        }
        self.woken.complete();
    }

    /// Waits for a job; meanwhile sees to it that everybody who was told is awake. `false` when there
    /// will be none.
    fn wait(&mut self, queue: &Exit<Job>) -> bool {
        if !self.woken.is_complete() {
            match queue.wait(Some(OVERSLEPT)) {
                Waited::InVain => self.woken.complete(),
                waited => return waited == Waited::Arrived,
            }
        }
        queue.wait(None) == Waited::Arrived
    }

    /// Waits for others until then, as long as they keep coming. This thread sleeps meanwhile: to be
    /// woken by each would cost each a call to the system.
    fn gather(&self, queue: &Exit<Job>, until: Instant) {
        let (mut known, mut waiting) = (0, queue.len());
        while waiting < self.limits.group && waiting > known && Instant::now() < until {
            known = waiting;
            thread::sleep(LULL.min(until.saturating_duration_since(Instant::now())));
            waiting = queue.len();
        }
    }

    /// Decides a group, tells everyone in it and empties it.
    fn settle(&mut self, group: &mut Vec<Job>) {
        let told = if self.is_charging.load(Ordering::Acquire) {
            match self.write(group) {
                Settled::Written => tell(group),
                Settled::Busy => refuse(group, || ChargeError::Overloaded),
                // Perhaps it is one of them that fails: each for itself.
                Settled::NotWritten(_) if group.len() > 1 => {
                    return mem::take(group).into_iter().for_each(|job| {
                        self.settle(&mut vec![job]);
                    });
                }
                Settled::NotWritten(error) => {
                    let shared = Shared(Arc::new(error));
                    refuse(group, || ChargeError::NotTaken(Box::new(shared.clone())))
                }
                Settled::Altered(error) => {
                    self.stop();
                    let shared = Shared(Arc::new(error));
                    refuse(group, || ChargeError::NotTaken(Box::new(shared.clone())))
                }
                Settled::Unknown(error) => {
                    self.stop();
                    let shared = Shared(Arc::new(error));
                    refuse(group, || ChargeError::Unknown(Box::new(shared.clone())))
                }
            }
        } else {
            refuse(group, || ChargeError::Stopped)
        };
        // Those of the group before have had as long as this one took.
        self.woken.complete();
        self.woken = told;
    }

    /// Decides nothing any more.
    fn stop(&mut self) {
        self.is_charging.store(false, Ordering::Release);
        self.connection = None;
    }

    /// Writes a group in one transaction.
    fn write(&mut self, group: &mut [Job]) -> Settled {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => match sqlite::writer(&self.path, self.limits.durability) {
                Ok(connection) => {
                    // What another connection saw says nothing about what this one will see.
                    self.shelf = None;
                    self.book.new_connection();
                    connection
                }
                Err(error) => return Settled::NotWritten(error),
            },
        };
        let settled = self.write_on(&connection, group);
        // A connection that is stuck in its transaction is closed, which ends that unwritten.
        if connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok() {
            self.connection = Some(connection);
        }
        settled
    }

    fn write_on(&mut self, connection: &Connection, group: &mut [Job]) -> Settled {
        let begin = if group.iter().any(Job::writes) { "BEGIN IMMEDIATE" } else { "BEGIN" };
        if let Err(error) = connection.execute_batch(begin) {
            return match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Settled::Busy,
                _ => Settled::NotWritten(error),
            };
        }
        match self.book.refresh(connection) {
            Ok(()) => {}
            Err(BookError::Read(error)) => return Settled::NotWritten(error),
            Err(BookError::NotAsWritten(fault)) => return Settled::Altered(fault),
        }
        let decided = self.decide_on(connection, group);
        let (page, shelf) = match decided {
            Ok(decided) => decided,
            Err(GroupFailed(error)) => return Settled::NotWritten(error),
        };
        match (self.commit)(connection) {
            Ok(()) => {
                self.shelf = shelf;
                self.book.turn(page);
                Settled::Written
            }
            Err(error) => match error.sqlite_error_code() {
                // The record that ends the transaction did not fit into the log, or was not
                // tried: there is nothing that could come back.
                Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy) => Settled::NotWritten(error),
                _ => Settled::Unknown(error),
            },
        }
    }

    fn decide_on(
        &self,
        connection: &Connection,
        group: &mut [Job],
    ) -> Result<(Written, Option<Shelf>), GroupFailed> {
        let mut desk = Desk {
            connection,
            secrets: &self.secrets,
            page: self.book.page(connection).map_err(GroupFailed)?,
            shelf: self.shelf,
            max_kept: self.limits.kept,
        };
        decide(&mut desk, group)?;
        let written = desk.page.close().map_err(GroupFailed)?;
        Ok((written, desk.shelf))
    }
}

/// Makes durable what was found in the log: commits of a process that did not live to see them on
/// the disk. What is built on them would be lost with them.
fn make_durable(connection: &Connection) -> rusqlite::Result<()> {
    let checkpoint = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    match checkpoint {
        // Waits for the disk with the log first, and only then finds no room in the file.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => Ok(()),
        done => done,
    }
}

/// Says that nothing is charged any more when the thread has ended.
struct StopAtEnd(Arc<AtomicBool>);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use enrich_core::port::accounts::Accounts as _;
    use enrich_core::port::ledger::{Charge, Charged, Grant, Granted, Ledger as _};
    use enrich_core::{
        Account, AccountId, ApiKey, ChargeId, Credits, Generation, IdempotencyKey, Keep, KeyId,
        NewKey, Price, RateOverride, RequestId, Timestamp,
    };
    use pollster::block_on;
    use tempfile::TempDir;

    use super::*;
    use crate::ledger::job::Open;
    use crate::ledger::keeping;
    use crate::ledger::queue::{self, Refused};
    use crate::sqlite::LEDGER;
    use crate::{Options, Store};

    const IO_ERROR_FSYNC: i32 = rusqlite::ffi::SQLITE_IOERR_FSYNC;

    /// A writer without its thread, over a ledger with one account.
    struct Desk {
        folder: TempDir,
        account: AccountId,
        writer: Writer,
    }

    impl Desk {
        fn with_credits(credits: i64) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open_or_create(folder.path(), Options::default()).unwrap();
            let id = AccountId::new(now());
            let account = Account { id, name: "Northwind".to_owned(), created_at: now() };
            let key = NewKey {
                id: KeyId::new(now()),
                account: id,
                label: String::new(),
                key: ApiKey::generate().unwrap(),
                rate: RateOverride::default(),
                created_at: now(),
            };
            block_on(store.accounts.create(account, key)).unwrap();
            drop(store);
            let writer = writer(folder.path(), 1_000);
            let mut desk = Self { folder, account: id, writer };
            assert!(matches!(desk.settle_grant(credits), Ok(Granted::Written { .. })));
            desk
        }

        fn charge(&self, keep: Option<&str>) -> Charge {
            let keep = keep.map(|key| Keep {
                key: IdempotencyKey::parse(key).unwrap(),
                asked: b"q".to_vec(),
                body: vec![b'x'; 2_000],
            });
            Charge {
                id: ChargeId::new(now()),
                account: self.account,
                key: KeyId::new(now()),
                endpoint: "/v1/cuf",
                items: 1,
                price: Price::PerAnswer(1),
                request_id: RequestId::accept("a-request").unwrap(),
                generation: Generation(1),
                at: now(),
                keep,
            }
        }

        /// Settles charges as one group.
        fn settle(&mut self, charges: Vec<Charge>) -> Vec<Result<Charged, ChargeError>> {
            let secrets = self.writer.secrets.clone();
            let (mut jobs, decisions): (Vec<_>, Vec<_>) = charges
                .into_iter()
                .map(|mut charge| {
                    let keep = charge.keep.take();
                    let to_keep = keep.map(|keep| {
                        keeping::seal(&secrets, charge.account, &keep, charge.at).unwrap()
                    });
                    let (open, decision) = Open::new((charge, to_keep));
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

        /// The balance as another process sees it.
        fn balance(&self) -> u64 {
            let store = Store::open(self.folder.path(), Options::default()).unwrap();
            assert_eq!(block_on(store.ledger.verify()).unwrap().faults, [] as [&str; 0]);
            block_on(store.ledger.balance(self.account)).unwrap().unwrap().0
        }

        fn pragma(&self, name: &str, value: u32) {
            let connection = self.writer.connection.as_ref().unwrap();
            connection.pragma_update(None, name, value).unwrap();
        }

        /// How many idempotency records there are.
        fn kept(&self) -> u64 {
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

    fn writer(folder: &Path, max_kept: u64) -> Writer {
        let secrets = Secrets::load(&folder.join(crate::secret::FILE)).unwrap();
        let limits = Limits { group: 512, kept: max_kept, durability: Durability::Commit };
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
        let mut desk = Desk::with_credits(10);
        desk.writer.commit = Box::new(|connection| {
            connection.execute_batch("ROLLBACK")?;
            Err(failure(IO_ERROR_FSYNC))
        });
        let group = vec![desk.charge(None), desk.charge(Some("k"))];
        let decided = desk.settle(group);
        assert!(decided.iter().all(|d| matches!(d, Err(ChargeError::Unknown(_)))), "{decided:?}");
        assert!(!desk.writer.is_charging.load(Ordering::Acquire));
        desk.writer.commit = Box::new(|connection| connection.execute_batch("COMMIT"));
        assert!(matches!(desk.settle_one(), Err(ChargeError::Stopped)));
        assert!(matches!(desk.settle_grant(5), Err(ChargeError::Stopped)));
        assert_eq!(desk.balance(), 10);
    }

    #[test]
    fn when_the_thread_dies_nobody_waits_for_ever_and_charging_stops() {
        let mut desk = Desk::with_credits(10);
        let (dies, died) = std::sync::mpsc::channel::<()>();
        desk.writer.commit = Box::new(move |_| {
            died.recv().unwrap();
            panic!("as if there were a bug")
        });
        let [charge, behind, another] = [desk.charge(None), desk.charge(None), desk.charge(None)];
        let Desk { folder: _folder, writer, .. } = desk;
        let is_charging = Arc::clone(&writer.is_charging);
        let (entry, exit) = queue::bounded(9);
        let ask = |charge| {
            let (open, decision) = Open::new((charge, None));
            (entry.put(Job::Charge(open)), decision)
        };
        let (_, decision) = ask(charge);
        let thread = thread::spawn(move || writer.run(&exit));
        // It is being written once it does not wait any more.
        while entry.len() > 0 {
            thread::yield_now();
        }
        let (_, decision_behind) = ask(behind);
        dies.send(()).unwrap();
        assert!(block_on(decision).is_err() && block_on(decision_behind).is_err());
        assert!(thread.join().is_err());
        assert!(!is_charging.load(Ordering::Acquire));
        assert_eq!(ask(another).0, Err(Refused::Closed));
    }

    #[test]
    fn an_unknown_charge_that_came_through_is_replayed_and_not_repeated() {
        let mut desk = Desk::with_credits(10);
        desk.writer.commit = Box::new(|connection| {
            connection.execute_batch("COMMIT")?;
            Err(failure(IO_ERROR_FSYNC))
        });
        let first = desk.settle(vec![desk.charge(Some("k"))]).remove(0);
        assert!(matches!(first, Err(ChargeError::Unknown(_))), "{first:?}");
        desk.writer = writer(desk.folder.path(), 1_000);
        let repeat = desk.settle(vec![desk.charge(Some("k"))]).remove(0);
        assert!(matches!(repeat, Ok(Charged::Replayed(_))), "{repeat:?}");
        assert_eq!(desk.balance(), 9);
    }

    #[test]
    fn a_log_without_room_takes_nothing_and_charging_goes_on() {
        let mut desk = Desk::with_credits(10);
        desk.writer.commit = Box::new(|_| Err(failure(rusqlite::ffi::SQLITE_FULL)));
        let group = vec![desk.charge(None), desk.charge(Some("k"))];
        let decided = desk.settle(group);
        assert!(decided.iter().all(|d| matches!(d, Err(ChargeError::NotTaken(_)))), "{decided:?}");
        assert_eq!(desk.balance(), 10);
        desk.writer.commit = Box::new(|connection| connection.execute_batch("COMMIT"));
        assert_eq!(desk.settle_one().unwrap(), taken(9));
    }

    #[test]
    fn a_full_database_takes_nothing_and_charging_goes_on() {
        let mut desk = Desk::with_credits(1_000);
        desk.pragma("max_page_count", desk.pages());
        let mut taken_before = 0;
        let refused = loop {
            let key = format!("k{taken_before}");
            match desk.settle(vec![desk.charge(Some(&key))]).remove(0) {
                Ok(charged) => {
                    taken_before += 1;
                    assert_eq!(charged, taken(1_000 - taken_before));
                }
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, ChargeError::NotTaken(_)), "{refused:?}");
        assert_eq!(desk.balance(), 1_000 - taken_before);
        desk.pragma("max_page_count", u32::MAX / 2);
        assert_eq!(desk.settle_one().unwrap(), taken(999 - taken_before));
    }

    #[test]
    fn one_that_does_not_fit_takes_nobody_along() {
        let mut desk = Desk::with_credits(1_000);
        let mut large = desk.charge(Some("large"));
        large.keep.as_mut().unwrap().body = vec![b'x'; 1_000_000];
        desk.pragma("max_page_count", desk.pages() + 8);
        let group = vec![desk.charge(None), large, desk.charge(None)];
        let decided = desk.settle(group);
        assert!(matches!(decided[0], Ok(Charged::Taken { .. })), "{decided:?}");
        assert!(matches!(decided[1], Err(ChargeError::NotTaken(_))), "{decided:?}");
        assert!(matches!(decided[2], Ok(Charged::Taken { .. })), "{decided:?}");
        assert_eq!(desk.balance(), 998);
    }

    #[test]
    fn a_group_is_one_transaction() {
        let mut desk = Desk::with_credits(1_000);
        let commits = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counter = Arc::clone(&commits);
        desk.writer.commit = Box::new(move |connection| {
            counter.fetch_add(1, Ordering::Relaxed);
            connection.execute_batch("COMMIT")
        });
        let group = (0..512).map(|_| desk.charge(None)).collect();
        assert!(desk.settle(group).iter().all(Result::is_ok));
        assert_eq!(commits.load(Ordering::Relaxed), 1);
        assert_eq!(desk.balance(), 488);
    }

    #[test]
    fn a_full_shelf_refuses_new_keys_until_old_ones_expire() {
        let mut desk = Desk::with_credits(100);
        desk.writer.limits.kept = 2;
        let group = ["a", "b", "c"].map(|key| desk.charge(Some(key))).to_vec();
        let decided = desk.settle(group);
        assert!(decided[..2].iter().all(Result::is_ok), "{decided:?}");
        assert!(matches!(decided[2], Err(ChargeError::KeepsFull)), "{decided:?}");
        let repeat = desk.settle(vec![desk.charge(Some("a"))]).remove(0);
        assert!(matches!(repeat, Ok(Charged::Replayed(_))), "{repeat:?}");
        assert_eq!(desk.balance(), 98);

        // The records are counted anew when the ledger is opened again.
        desk.writer = writer(desk.folder.path(), 2);
        let refused = desk.settle(vec![desk.charge(Some("c"))]).remove(0);
        assert!(matches!(refused, Err(ChargeError::KeepsFull)), "{refused:?}");

        let tomorrow = Timestamp::from_second(now().as_second() + Keep::SECONDS).unwrap();
        let late = Charge { at: tomorrow, ..desk.charge(Some("c")) };
        assert_eq!(desk.settle(vec![late]).remove(0).unwrap(), taken(97));
        assert_eq!(desk.kept(), 1, "the expired ones are gone");
    }

    #[test]
    fn room_that_another_process_makes_or_takes_is_noticed() {
        let mut desk = Desk::with_credits(100);
        desk.writer.limits.kept = 2;
        let group = ["a", "b"].map(|key| desk.charge(Some(key))).to_vec();
        assert!(desk.settle(group).iter().all(Result::is_ok));
        let other = sqlite::writer(&desk.writer.path, Durability::Commit).unwrap();
        other
            .execute("DELETE FROM kept WHERE key_hash = (SELECT min(key_hash) FROM kept)", [])
            .unwrap();
        let group = ["c", "d"].map(|key| desk.charge(Some(key))).to_vec();
        let decided = desk.settle(group);
        assert!(decided[0].is_ok(), "the other made room: {decided:?}");
        assert!(matches!(decided[1], Err(ChargeError::KeepsFull)), "{decided:?}");

        desk.writer.limits.kept = 4;
        let copy =
            "INSERT INTO kept SELECT account, ?1, asked_hash, sealed, secret, balance, charge,
                        at FROM kept LIMIT 1";
        for name in [[1_u8; 32], [2; 32]] {
            other.execute(copy, [name]).unwrap();
        }
        // What was counted a moment ago still counts.
        let shelf = desk.writer.shelf.as_mut().unwrap();
        shelf.counted = shelf.counted.checked_sub(Duration::from_secs(1)).unwrap();
        let refused = desk.settle(vec![desk.charge(Some("e"))]).remove(0);
        assert!(matches!(refused, Err(ChargeError::KeepsFull)), "the other took it: {refused:?}");
    }

    #[test]
    fn a_group_that_keeps_nothing_leaves_the_kept_answers_alone() {
        let mut desk = Desk::with_credits(100);
        assert!(desk.settle(vec![desk.charge(Some("a"))]).remove(0).is_ok());
        let tomorrow = Timestamp::from_second(now().as_second() + Keep::SECONDS).unwrap();
        let late = |charge| Charge { at: tomorrow, ..charge };
        assert!(desk.settle(vec![late(desk.charge(None))]).remove(0).is_ok());
        assert_eq!(desk.kept(), 1);
        assert!(desk.settle(vec![late(desk.charge(Some("b")))]).remove(0).is_ok());
        assert_eq!(desk.kept(), 1, "the expired one is gone");
    }

    #[test]
    fn others_that_keep_the_database_busy_are_waited_for_and_then_told() {
        let mut desk = Desk::with_credits(10);
        let other = sqlite::writer(&desk.writer.path, Durability::Commit).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        desk.writer.connection.as_ref().unwrap().busy_timeout(std::time::Duration::ZERO).unwrap();
        assert!(matches!(desk.settle_one(), Err(ChargeError::Overloaded)));
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(desk.settle_one().unwrap(), taken(9));
    }
}
