//! The load: several clients. Each client sends one request after the other over its own
//! connection, and records the answers.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use fastrand::Rng;

use crate::call_log::{Answer, Call, End};
use crate::world::{Question, World};
use enrich_testkit::http::Connection;

/// Percentage of requests that have an idempotency key.
const KEYED_PERCENT: u8 = 30;
/// Of the requests with an idempotency key, this percentage repeats a request whose outcome is
/// unknown. If no outcome is unknown, only [`REPEATED_PERCENT`] applies.
const UNSETTLED_PERCENT: u8 = 50;
/// Of the requests with an idempotency key that repeat no request with an unknown outcome, this
/// percentage repeats any earlier request with an idempotency key. The rest are new requests.
const REPEATED_PERCENT: u8 = 40;
/// Percentage of requests that the account with few credits sends.
const POOR_PERCENT: u8 = 10;
/// Of the requests that repeat any earlier request, this percentage repeats one of the [`NEWEST`]
/// newest. The server may still be answering the first request with this idempotency key. The
/// torture tests this case too.
const NEWEST_PERCENT: u8 = 50;
const NEWEST: usize = 32;

/// A request that a client can repeat.
#[derive(Clone, Debug)]
pub(crate) struct Keyed {
    pub(crate) key: Arc<str>,
    /// The index of the request's account in `World::payers`.
    pub(crate) account: usize,
    /// The index in `World::questions` of the request's path and body.
    pub(crate) question: usize,
}

/// The idempotency keys that were used in a data folder: all of them, and the unsettled ones, whose
/// requests have an unknown outcome.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    all: Mutex<Vec<Keyed>>,
    unsettled: Mutex<Vec<Keyed>>,
}

/// Several clients that send requests to a server at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<'a> {
    /// The accounts, and the paths and bodies of the requests.
    pub(crate) world: &'a World,
    /// The idempotency keys used so far.
    pub(crate) keys: &'a Keys,
    /// The beginning of all request ids of this load. Each load has its own name.
    pub(crate) name: &'a str,
    pub(crate) clients: usize,
    /// The pause of a client between two requests.
    pub(crate) pause: Duration,
    /// The seed of the random choices.
    pub(crate) seed: u64,
}

impl Keys {
    /// Stores a request whose outcome is unknown, so that a client repeats it later.
    pub(crate) fn unsettled(&self, keyed: Keyed) {
        held(&self.unsettled).push(keyed);
    }

    /// Returns all requests whose outcome is unknown, and removes them from the list of such
    /// requests.
    pub(crate) fn take_unsettled(&self) -> Vec<Keyed> {
        std::mem::take(&mut held(&self.unsettled))
    }

    /// Selects the request to send: an earlier request, which is then repeated, or the request
    /// `new`.
    fn choose(&self, chance: &mut Rng, new: Keyed) -> Keyed {
        if chance.u8(..100) < UNSETTLED_PERCENT
            && let Some(keyed) = held(&self.unsettled).pop()
        {
            return keyed;
        }
        let mut all = held(&self.all);
        if chance.u8(..100) < REPEATED_PERCENT && !all.is_empty() {
            let oldest = match chance.u8(..100) < NEWEST_PERCENT {
                true => all.len().saturating_sub(NEWEST),
                false => 0,
            };
            return all[chance.usize(oldest..all.len())].clone();
        }
        all.push(new.clone());
        new
    }
}

impl Load<'_> {
    /// Runs `act` while the clients send requests. A client stops early if its connection fails.
    /// Returns the calls of all clients, and the result of `act`.
    pub(crate) fn run<T>(
        &self,
        server: SocketAddr,
        act: impl FnOnce() -> T,
    ) -> Result<(Vec<Call>, T)> {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let clients: Vec<_> = (0..self.clients)
                .map(|client| {
                    let is_over = &is_over;
                    scope.spawn(move || self.ask(server, client, is_over))
                })
                .collect();
            let acted = act();
            is_over.store(true, Ordering::Relaxed);
            let mut calls = Vec::new();
            for client in clients {
                calls.extend(client.join().map_err(|_| anyhow!("a client panicked"))?);
            }
            Ok((calls, acted))
        })
    }

    /// Runs one client until the load ends, or until the client's connection fails. Returns the
    /// calls of the client.
    fn ask(&self, server: SocketAddr, client: usize, is_over: &AtomicBool) -> Vec<Call> {
        let mut chance = Rng::with_seed(self.seed ^ ((client as u64 + 1) << 48));
        let mut connection = Connection::to(server);
        let mut calls = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            let request_id = format!("{}-{client}-{}", self.name, calls.len());
            let (account, question, repeat_key) = self.choose(&mut chance, &request_id);
            let call =
                ask_once(self.world, &mut connection, request_id, account, question, repeat_key);
            let is_broken = call.end == End::NoAnswer;
            calls.push(call);
            if is_broken {
                break;
            }
            if !self.pause.is_zero() {
                thread::sleep(self.pause);
            }
        }
        calls
    }

    fn choose(&self, chance: &mut Rng, request_id: &str) -> (usize, usize, Option<Arc<str>>) {
        let question = chance.usize(..self.world.questions.len());
        let poor = self.world.poor();
        let account = if chance.u8(..100) < POOR_PERCENT { poor } else { chance.usize(..poor) };
        if chance.u8(..100) >= KEYED_PERCENT {
            return (account, question, None);
        }
        let new = Keyed { key: format!("key-{request_id}").into(), account, question };
        let keyed = self.keys.choose(chance, new);
        (keyed.account, keyed.question, Some(keyed.key))
    }
}

/// Sends one request and waits until it has ended.
pub(crate) fn ask_once(
    world: &World,
    connection: &mut Connection,
    request_id: String,
    account: usize,
    question: usize,
    repeat_key: Option<Arc<str>>,
) -> Call {
    let Question { path, body, .. } = &world.questions[question];
    let mut headers =
        vec![("x-api-key", world.payers[account].key.as_str()), ("X-Request-Id", &request_id)];
    headers.extend(repeat_key.as_deref().map(|key| ("Idempotency-Key", key)));
    let sent = Instant::now();
    let end = match connection.post(path, &headers, body) {
        Ok(reply) => End::Answered(Answer::of(&reply, Instant::now())),
        Err(_) => End::NoAnswer,
    };
    Call { request_id, account, question, repeat_key, sent, end }
}

/// Locks the mutex, even if another client panicked while it held the lock. That panic is reported
/// when the client's thread is joined.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
