//! Sends requests before anything is timed, and checks the answers.

use std::net::SocketAddr;

use anyhow::Context;

use crate::call::{Call, Outcome};
use enrich_testkit::http::Reply;

use crate::client;
use crate::reconciliation::Prices;

const CONNECTIONS: usize = 16;

/// A request, and the call from which it was made.
#[derive(Clone)]
pub(crate) struct Sampled {
    pub(crate) call: Call,
    pub(crate) request: Vec<u8>,
}

pub(crate) struct Prober<'a> {
    address: SocketAddr,
    prices: &'a Prices,
    keys: &'a [String],
    chance: fastrand::Rng,
}

impl<'a> Prober<'a> {
    pub(crate) fn new(
        address: SocketAddr,
        prices: &'a Prices,
        keys: &'a [String],
        chance: fastrand::Rng,
    ) -> Self {
        Self { address, prices, keys, chance }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.prices.keys().map(String::as_str)
    }

    /// Sends every call once. Returns the calls that found something. The others cost no credits,
    /// and are left out. Returns an error if a call that found something got a wrong answer.
    pub(crate) fn found(&mut self, calls: Vec<Call>) -> anyhow::Result<Vec<Call>> {
        let sampled = self.with_keys(calls, |_| None);
        let answers = send(self.address, &sampled)?;
        let mut found = Vec::new();
        for (Sampled { call, .. }, answer) in sampled.into_iter().zip(answers) {
            if answer.header("x-credits-used") != Some("0") {
                call.check(&answer, Outcome::Found, price_of(self.prices, &call)?)?;
                found.push(call);
            }
        }
        Ok(found)
    }

    /// Sends every call once with an idempotency key, and checks the answer. Returns the requests,
    /// so that they can be repeated.
    pub(crate) fn answered_once(&mut self, calls: Vec<Call>) -> anyhow::Result<Vec<Sampled>> {
        let sampled = self.with_keys(calls, |number| Some(format!("repeat-{number}")));
        check_sample(self.address, &sampled, Outcome::Found, self.prices)?;
        Ok(sampled)
    }

    fn with_keys(&mut self, calls: Vec<Call>, once: fn(usize) -> Option<String>) -> Vec<Sampled> {
        let keyed = calls.into_iter().enumerate().map(|(number, call)| {
            let key = &self.keys[self.chance.usize(..self.keys.len())];
            let request = call.request(key, once(number).as_deref());
            Sampled { call, request }
        });
        keyed.collect()
    }
}

/// Sends the requests of a sample and checks every answer. Returns the answers.
pub(crate) fn check_sample(
    address: SocketAddr,
    sample: &[Sampled],
    outcome: Outcome,
    prices: &Prices,
) -> anyhow::Result<Vec<Reply>> {
    let answers = send(address, sample)?;
    for (Sampled { call, .. }, answer) in sample.iter().zip(&answers) {
        call.check(answer, outcome, price_of(prices, call)?)?;
    }
    Ok(answers)
}

/// Sends the requests of a sample. Returns the answers in the order of the requests.
pub(crate) fn send(address: SocketAddr, sample: &[Sampled]) -> anyhow::Result<Vec<Reply>> {
    let requests: Vec<Vec<u8>> = sample.iter().map(|sampled| sampled.request.clone()).collect();
    client::send_all(address, &requests, CONNECTIONS)
}

fn price_of(prices: &Prices, call: &Call) -> anyhow::Result<u64> {
    prices.get(call.path).copied().with_context(|| format!("{} has no price", call.path))
}
