//! A node of the torture: a process that charges through the Rust interface of the PostgreSQL
//! store, without HTTP. It writes the result of each call to its standard output.
//!
//! Each line of its standard input is a number of milliseconds: the mean pause of its clients
//! between two calls. When the input ends, the node makes no more calls. The node ends when the
//! outcome of every call is known.

use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use enrich_core::port::ledger::{Charge, ChargeError, Charged, Grant, Granted, Ledger as _};
use enrich_core::{
    BodyTemplate, ChargeId, Clock as _, DirectoryRevision, IdempotencyKey, IdempotencyRecord,
    Price, RequestId, StoredResponse,
};
use enrich_store::SystemClock;
use enrich_store_postgres::{Doubts, PostgresLedger, Store};
use fastrand::Rng;

use crate::pg::call::{Call, End, Micros, now};
use crate::pg::world::World;

/// The environment variable with the URL of the database. The URL contains a password.
pub(crate) const URL_VARIABLE: &str = "ENRICH_STORE";
/// The beginning of a node's last line. The rest of the line has the four counts of [`Doubts`]: the
/// outcomes of charges and grants whose first reply from the database was lost.
pub(crate) const DOUBTS: &str = "doubts ";
/// Time limit for a node to open the store.
const OPEN_WITHIN: Duration = Duration::from_secs(60);
/// Percentage of calls that are grants. All grants are for the account with few credits.
const GRANT_PERCENT: u8 = 2;
/// Percentage of calls that are charges of the account with few credits.
const POOR_PERCENT: u8 = 6;
/// Of the charges of all accounts except the one with few credits, this percentage has an
/// idempotency key. Grants, and charges of the account with few credits, never have such a key.
const KEYED_PERCENT: u8 = 40;
/// The interval, in microseconds, at which all nodes begin to use one more idempotency key. They
/// use key n when n intervals have passed since `World::since`.
const KEY_MICROS: Micros = 2_000;
/// Number of idempotency keys that count as the newest. Most calls with an idempotency key use one
/// of the newest keys.
const NEWEST: u64 = 32;
/// Of the calls with an idempotency key, this percentage uses any key from the first to the newest,
/// at random. The other calls use one of the [`NEWEST`] newest keys.
const OLD_PERCENT: u8 = 15;
/// One of every [`MISS_OF`] idempotency keys belongs to calls that find nothing.
const MISS_OF: u64 = 4;
/// The pause of a client after a call that was refused or whose outcome is unknown. A call is
/// refused if too many calls wait, or if charging has stopped.
const REFUSED_PAUSE: Duration = Duration::from_millis(30);

/// The command-line arguments of a node, a process that the torture starts.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct NodeArgs {
    /// Folder with the file of accounts and keys, and with the secrets
    #[arg(long)]
    pub(crate) world: PathBuf,
    /// Name of the node
    #[arg(long)]
    pub(crate) name: String,
    /// Seed of the random choices
    #[arg(long)]
    pub(crate) seed: u64,
    /// Number of clients
    #[arg(long)]
    pub(crate) clients: usize,
}

/// The parts of a node that all its clients use.
struct Node {
    world: World,
    name: String,
    store: Store,
    is_over: AtomicBool,
    pause_millis: AtomicU64,
    /// The output for lines about calls. It is locked while a line is written, so that lines are
    /// never mixed.
    output: Mutex<io::Stdout>,
}

/// A client's request to the store.
enum Question {
    Charge(Box<Charge>),
    Grant(Grant),
}

/// Runs a node until its input ends.
pub(crate) fn run(args: &NodeArgs) -> Result<()> {
    let url = std::env::var(URL_VARIABLE).context("the URL of the database is missing")?;
    let world = World::load(&args.world)?;
    let store = open(&world, &url, &args.name)?;
    let node = Node {
        world,
        name: args.name.clone(),
        store,
        is_over: AtomicBool::new(false),
        pause_millis: AtomicU64::new(0),
        output: Mutex::new(io::stdout()),
    };
    thread::scope(|scope| {
        for client in 0..args.clients {
            let (node, seed) = (&node, args.seed ^ ((client as u64 + 1) << 40));
            scope.spawn(move || node.ask_on(client, Rng::with_seed(seed)));
        }
        for line in io::stdin().lock().lines() {
            let Ok(Ok(pause)) = line.map(|line| line.parse()) else { break };
            node.pause_millis.store(pause, Ordering::Relaxed);
        }
        node.is_over.store(true, Ordering::Relaxed);
    });
    let Doubts { taken, replayed, refused, unknown } = node.store.ledger.doubts();
    let mut output = node.output.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(output, "{DOUBTS}{taken} {replayed} {refused} {unknown}")?;
    Ok(())
}

/// Opens the store. After an error, tries again for up to [`OPEN_WITHIN`], because there may be no
/// primary for a while.
fn open(world: &World, url: &str, name: &str) -> Result<Store> {
    let begun = Instant::now();
    loop {
        match world.open(url, name) {
            Err(_) if begun.elapsed() < OPEN_WITHIN => thread::sleep(Duration::from_millis(50)),
            opened => return opened,
        }
    }
}

impl Node {
    fn ask_on(&self, client: usize, mut chance: Rng) {
        let mut count = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            let pause = self.pause_millis.load(Ordering::Relaxed);
            thread::sleep(Duration::from_millis(chance.u64(0..=2 * pause)));
            count += 1;
            let call = self.ask(format!("{}-{client}-{count}", self.name), &mut chance);
            let is_put_off = matches!(call.end, End::Overloaded | End::Stopped | End::Unknown);
            let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
            // If the process of the torture has ended, nobody reads the output any more.
            if output.write_all(format!("{call}\n").as_bytes()).is_err() {
                return;
            }
            drop(output);
            if is_put_off {
                thread::sleep(REFUSED_PAUSE);
            }
        }
    }

    fn ask(&self, request_id: String, chance: &mut Rng) -> Call {
        let (question, account, key) = self.choose(request_id, chance);
        let (id, credits) = match &question {
            Question::Charge(charge) => {
                (charge.id, -i64::try_from(charge.credits().0).unwrap_or(i64::MAX))
            }
            Question::Grant(grant) => (grant.id, grant.credits),
        };
        let asked_at = now();
        let end = pollster::block_on(ask_ledger(&self.store.ledger, question));
        Call { id, account, credits, key, asked_at, ended_at: now(), end }
    }

    fn choose(&self, request_id: String, chance: &mut Rng) -> (Question, usize, Option<u64>) {
        let (poor, roll) = (self.world.poor(), chance.u8(..100));
        if roll < GRANT_PERCENT {
            let (account, time) = (self.world.accounts[poor].0, SystemClock.now());
            let grant = Grant { note: request_id, ..Grant::new(account, chance.i64(1..4), time) };
            return (Question::Grant(grant), poor, None);
        }
        if roll < GRANT_PERCENT + POOR_PERCENT {
            let charge = self.charge(request_id, poor, 1);
            return (Question::Charge(Box::new(charge)), poor, None);
        }
        if chance.u8(..100) >= KEYED_PERCENT {
            let account = chance.usize(..poor);
            let charge = self.charge(request_id, account, chance.u64(1..4));
            return (Question::Charge(Box::new(charge)), account, None);
        }
        // The number of the idempotency key alone determines the account, the price and whether
        // something is found. So all nodes send the same request with the same key.
        let newest = (now() - self.world.since) / KEY_MICROS;
        let key = match chance.u8(..100) < OLD_PERCENT {
            true => chance.u64(..=newest),
            false => newest.saturating_sub(chance.u64(..NEWEST)),
        };
        let account = (key % poor as u64) as usize;
        let mut charge = self.charge(format!("{request_id}-key{key}"), account, 1 + key % 3);
        charge.items = u64::from(key % MISS_OF != 0);
        let body = format!("{} ", charge.id).into_bytes();
        let end = body.len();
        charge.idempotency = IdempotencyKey::parse(&format!("key-{key}")).ok().map(|name| {
            let request_bytes = key.to_string().into_bytes();
            IdempotencyRecord { key: name, request_bytes, body: BodyTemplate::new(body, Some(end)) }
        });
        (Question::Charge(Box::new(charge)), account, Some(key))
    }

    fn charge(&self, request_id: String, account: usize, price: u64) -> Charge {
        let (time, (account, key)) = (SystemClock.now(), self.world.accounts[account]);
        Charge {
            id: ChargeId::new(time),
            account,
            key,
            endpoint: "/v1/dtc",
            items: 1,
            price: Price::PerAnswer(price),
            request_id: RequestId::accept(&request_id).unwrap_or_else(|| RequestId::make(time)),
            revision: DirectoryRevision(1),
            at: time,
            idempotency: None,
        }
    }
}

async fn ask_ledger(ledger: &PostgresLedger, question: Question) -> End {
    let error = match question {
        Question::Charge(charge) => match ledger.charge(*charge).await {
            Ok(Charged::Taken { balance }) => return End::Taken(balance.0),
            Ok(Charged::Insufficient { balance }) => return End::Insufficient(balance.0),
            Ok(Charged::Replayed(response)) => return replayed(response),
            Err(error) => error,
        },
        Question::Grant(grant) => match ledger.grant(grant).await {
            Ok(Granted::Written { balance }) => return End::Taken(balance.0),
            Ok(refused) => return End::Wrong(format!("{refused:?}")),
            Err(error) => error,
        },
    };
    match error {
        ChargeError::Overloaded => End::Overloaded,
        ChargeError::Stopped => End::Stopped,
        ChargeError::Unknown(_) => End::Unknown,
        ChargeError::NotTaken(_) | ChargeError::IdempotencyStoreFull => {
            End::Wrong(format!("{:#}", anyhow::Error::from(error)))
        }
    }
}

/// Returns the result of a call that got a stored response. The response begins with the id of the
/// first call with the same idempotency key.
fn replayed(response: StoredResponse) -> End {
    let StoredResponse::Answer { body, balance, .. } = response else {
        return End::Wrong("the key is said to be of another question".to_owned());
    };
    let text = String::from_utf8_lossy(body.bytes());
    match text.split_whitespace().next().map(str::parse) {
        Some(Ok(first)) => End::Replayed(first, balance.0),
        _ => End::Wrong(format!("not a stored answer: {text:?}")),
    }
}
