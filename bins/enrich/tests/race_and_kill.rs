//! Checks that no credit is spent twice. Also checks that the charge of a call is never lost after
//! the client has received the answer. In one test, many calls compete for the last credit. In
//! another, the server is killed again and again.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails here fails a test, helpers of the tests included"
)]

#[path = "support/server.rs"]
mod server;

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use serde_json::json;

use enrich_testkit::http::{Call, Reply};
use server::{Server, command, import_fixtures, json_of, text};

const CLIENTS: usize = 200;
const RACES: usize = 50;
const WRITERS: usize = 12;
/// The number of kills, if `ENRICH_KILL_ROUNDS` doesn't set another number.
const KILLS: usize = 50;

#[test]
fn of_two_hundred_racing_for_the_last_credit_one_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    import_fixtures(&data);
    let server = Server::start(&data, &folder.path().join("server.log"), &[]);
    let (account, key) = create_account(&data, "0");
    let call = look_up(&key).header("X-Request-Id", "racer");
    let (address, start, end) =
        (server.address, Barrier::new(CLIENTS + 1), Barrier::new(CLIENTS + 1));
    thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS).map(|_| scope.spawn(|| race(address, &call, &start, &end))).collect();
        for race in 0..RACES {
            let said = json_of(&data, &["credits", "grant", &account, "1"]);
            assert_eq!(said["balance"], json!(1), "race {race} starts with one credit");
            start.wait();
            end.wait();
        }
        let races: Vec<Vec<Reply>> =
            clients.into_iter().map(|client| client.join().unwrap()).collect();
        for race in 0..RACES {
            let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
            for client in &races {
                *statuses.entry(client[race].status).or_default() += 1;
            }
            let wanted = BTreeMap::from([(200, 1), (400, CLIENTS - 1)]);
            assert_eq!(statuses, wanted, "race {race}");
        }
        let replies = races.iter().flatten();
        for reply in replies {
            assert_eq!(reply.number("X-Credits-Used"), Some(i64::from(reply.status == 200)));
        }
    });
    server.stop();
    assert_ledger(&data, RACES as u64, RACES as u64);
    assert_eq!(exported(&data, &account).get("racer"), Some(&RACES));
}

#[test]
fn a_killed_server_has_every_charge_it_acknowledged_exactly_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let log = folder.path().join("server.log");
    import_fixtures(&data);
    let (account, key) = create_account(&data, "1000000");
    let mut history = History::default();
    let mut server = Server::start(&data, &log, &[]);
    for round in 0..kills() {
        let seen = load_until_killed(server, &key, round);
        server = Server::start(&data, &log, &[]);
        history.check(&exported(&data, &account), &seen, round);
        history.repeat(server.address, &key, &seen, round);
        history.check_repeats(&exported(&data, &account), &seen, round);
        assert_ledger(&data, 1_000_000, history.charges as u64);
    }
    let History { charges, acknowledged, in_flight } = history;
    println!("{charges} charges, {acknowledged} calls acknowledged, {in_flight} in flight");
    assert!(acknowledged >= kills() * 2, "too little load to prove anything: {acknowledged}");
    assert!(in_flight > 0, "no call was ever in flight when the server was killed");
    server.stop();
}

/// A call that a client thread has sent, and the reply. `request` is the id of the call.
struct Sent {
    request: String,
    /// The `Idempotency-Key`; every second call has one.
    repeat_key: Option<String>,
    /// `None` if the connection broke before the answer.
    reply: Option<Reply>,
}

/// The counts of all rounds of the test. In each round, calls are sent until the server is killed.
/// The counts are: the charges that the ledger must have, the calls that were answered, and the
/// calls that were in flight when the server was killed.
#[derive(Default)]
struct History {
    charges: usize,
    acknowledged: usize,
    in_flight: usize,
}

impl History {
    /// Checks that every answered call has a charge in the ledger, that every charge belongs to a
    /// call, and that no call is charged twice.
    fn check(&mut self, durable: &BTreeMap<String, usize>, seen: &[Sent], round: usize) {
        let twice: Vec<_> = durable.iter().filter(|(_, times)| **times != 1).collect();
        assert!(twice.is_empty(), "round {round}: charged more than once: {twice:?}");
        let mut charged = 0;
        for sent in seen {
            let kept = durable.contains_key(&sent.request);
            charged += usize::from(kept);
            match &sent.reply {
                Some(reply) => {
                    assert_eq!(reply.status, 200, "round {round}: {reply:?}");
                    assert!(kept, "round {round}: {} was acknowledged and is lost", sent.request);
                    self.acknowledged += 1;
                }
                None => self.in_flight += 1,
            }
        }
        let before = self.charges;
        self.charges += charged;
        assert_eq!(durable.len(), self.charges, "round {round}: {before} before, {charged} new");
    }

    /// Sends the calls of a round of the test again, like a client that has lost the answers. Calls
    /// without an `Idempotency-Key` are not repeated.
    fn repeat(&mut self, server: SocketAddr, key: &str, seen: &[Sent], round: usize) {
        for sent in seen {
            let Some(repeat_key) = &sent.repeat_key else { continue };
            let call = look_up(key)
                .header("Idempotency-Key", repeat_key.as_str())
                .header("X-Request-Id", repeated(&sent.request));
            let again = call.send(server).unwrap();
            assert_eq!(again.status, 200, "round {round}: {again:?}");
            if let Some(first) = &sent.reply {
                let marked = again.header("Idempotency-Replayed");
                assert_eq!(marked, Some("true"), "round {round}: {again:?}");
                assert_eq!(again.body, first.body, "round {round}: the first answer again");
                assert_eq!(again.number("X-Credits-Used"), Some(0), "round {round}");
            }
            self.charges += usize::from(again.number("X-Credits-Used") == Some(1));
        }
    }

    /// Checks that a call and its repeat are charged once in total.
    fn check_repeats(&self, durable: &BTreeMap<String, usize>, seen: &[Sent], round: usize) {
        for sent in seen.iter().filter(|sent| sent.repeat_key.is_some()) {
            let times = durable.get(&sent.request).copied().unwrap_or_default()
                + durable.get(&repeated(&sent.request)).copied().unwrap_or_default();
            assert_eq!(times, 1, "round {round}: {} and its repeat", sent.request);
        }
        assert_eq!(durable.len(), self.charges, "round {round}: after the repeats");
    }
}

/// Starts threads that send calls. Kills the server at a random moment. Returns the calls that were
/// sent.
fn load_until_killed(server: Server, key: &str, round: usize) -> Vec<Sent> {
    let address = server.address;
    let over = AtomicBool::new(false);
    let started = Arc::new(Barrier::new(WRITERS + 1));
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (over, started) = (&over, Arc::clone(&started));
                scope.spawn(move || {
                    started.wait();
                    write(address, key, &format!("round-{round}-writer-{writer}"), over)
                })
            })
            .collect();
        started.wait();
        thread::sleep(Duration::from_micros(20_000 + chance() % 180_000));
        server.kill();
        over.store(true, Ordering::SeqCst);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    })
}

/// Sends calls, one after the other, until the connection breaks or the server was killed (`over`).
fn write(server: SocketAddr, key: &str, name: &str, over: &AtomicBool) -> Vec<Sent> {
    let mut sent = Vec::new();
    while !over.load(Ordering::SeqCst) {
        let request = format!("{name}-call-{}", sent.len());
        // If the connection was refused, the server never got the call, so the call isn't counted.
        let Ok(stream) = TcpStream::connect(server) else { break };
        let repeat_key = (sent.len() % 2 == 0).then(|| format!("key-of-{request}"));
        let mut call = look_up(key).header("X-Request-Id", request.as_str());
        if let Some(repeat_key) = &repeat_key {
            call = call.header("Idempotency-Key", repeat_key.as_str());
        }
        let reply = call.send_over(stream).ok();
        let broken = reply.is_none();
        sent.push(Sent { request, repeat_key, reply });
        if broken {
            break;
        }
    }
    sent
}

fn race(server: SocketAddr, call: &Call, start: &Barrier, end: &Barrier) -> Vec<Reply> {
    (0..RACES)
        .map(|_| {
            // All connections are open before the race begins.
            let stream = TcpStream::connect(server).unwrap();
            start.wait();
            let reply = call.send_over(stream).unwrap();
            end.wait();
            reply
        })
        .collect()
}

fn look_up(key: &str) -> Call {
    Call::post("/v1/cuf").json(&json!({ "apiKey": key, "companyName": "Telefónica" }))
}

fn repeated(request: &str) -> String {
    format!("{request}-again")
}

fn create_account(data: &Path, credits: &str) -> (String, String) {
    let said = json_of(data, &["account", "create", "Racer", "--credits", credits]);
    (text(&said, "account"), text(&said, "key"))
}

/// Runs `ledger verify` and compares its totals with the expected ones.
fn assert_ledger(data: &Path, granted: u64, charged: u64) {
    let said = json_of(data, &["ledger", "verify"]);
    let sums = json!([said["ok"], said["granted"], said["charged"], said["charges"]]);
    assert_eq!(sums, json!([true, granted, charged, charged]), "ledger verify said {said}");
}

/// Returns how often each charge's request id is in the account's exported ledger.
fn exported(data: &Path, account: &str) -> BTreeMap<String, usize> {
    let output = command(data, &["ledger", "export", account]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut reader = csv::Reader::from_reader(output.stdout.as_slice());
    let names = reader.headers().unwrap().clone();
    let column = names.iter().position(|name| name.contains("request"));
    let column = column.unwrap_or_else(|| panic!("no column of request ids in {names:?}"));
    let mut times = BTreeMap::new();
    for row in reader.records() {
        let request = row.unwrap()[column].to_owned();
        // The rows of grants have no request id.
        if !request.is_empty() {
            *times.entry(request).or_default() += 1;
        }
    }
    times
}

fn kills() -> usize {
    match std::env::var("ENRICH_KILL_ROUNDS") {
        Ok(rounds) => rounds.parse().unwrap(),
        Err(_) => KILLS,
    }
}

fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}
