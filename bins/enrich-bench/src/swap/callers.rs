//! Look-ups at a constant rate. Each look-up must find its company.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::bail;
use enrich_testkit::http::Connection;

use crate::call::{Outcome, domain_to_name};
use crate::folder::Keys;
use crate::generated::Generated;
use crate::swap::seconds::Seconds;

/// Number of connections to each node.
const CONNECTIONS: u32 = 24;
/// Maximum number of failures that a connection reports. Further failures are not counted.
const MAX_FAILURES: usize = 100;
/// The price of an answer of `/v1/dtc`, in credits.
const PRICE: u64 = 1;

pub(crate) struct Callers {
    began: Instant,
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<anyhow::Result<Called>>>,
}

/// The results of the look-ups.
#[derive(Default)]
pub(crate) struct Called {
    /// The number of right answers. Each of them was charged.
    pub(crate) found: u64,
    /// The descriptions of the wrong answers.
    pub(crate) failed: Vec<String>,
    pub(crate) seconds: Seconds,
}

impl Callers {
    /// Starts the load: `rate` look-ups a second over all nodes together.
    pub(crate) fn start(
        nodes: &[SocketAddr],
        keys: &Keys,
        generated: Generated,
        rate: u32,
    ) -> anyhow::Result<Self> {
        let (began, is_over) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let all = CONNECTIONS * u32::try_from(nodes.len())?;
        let pause = Duration::from_secs(1) * all / rate;
        let mut threads = Vec::new();
        for number in 0..all {
            let node = nodes[number as usize % nodes.len()];
            let (is_over, keys) = (Arc::clone(&is_over), keys.many.clone());
            // The connections send at evenly spaced times, not all at the same time.
            let first = began + pause * number / all;
            let caller = Caller { began, next: first, pause, seed: number.into() };
            threads.push(thread::spawn(move || caller.run(node, &keys, generated, &is_over)));
        }
        Ok(Self { began, is_over, threads })
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    pub(crate) fn stop(self) -> anyhow::Result<Called> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = Called::default();
        for thread in self.threads {
            let Ok(called) = thread.join() else { bail!("a thread of the load panicked") };
            let Called { found, failed, seconds } = called?;
            all.found += found;
            all.failed.extend(failed);
            all.seconds.append(seconds);
        }
        Ok(all)
    }
}

/// Sends the look-ups of one connection.
struct Caller {
    began: Instant,
    /// The time at which the next look-up must be sent.
    next: Instant,
    pause: Duration,
    seed: u64,
}

impl Caller {
    fn run(
        mut self,
        node: SocketAddr,
        keys: &[String],
        generated: Generated,
        is_over: &AtomicBool,
    ) -> anyhow::Result<Called> {
        let mut chance = fastrand::Rng::with_seed(self.seed);
        let mut connection = Connection::to(node);
        let mut called = Called::default();
        while !is_over.load(Ordering::Relaxed) {
            thread::sleep(self.next.saturating_duration_since(Instant::now()));
            let company = generated.any_company(&mut chance)?;
            let call = domain_to_name(company.domain(), &company.name);
            let request = call.request(&keys[chance.usize(..keys.len())], None);
            let answered = connection.send(&request);
            // A late answer delays the next look-ups of this connection. Each latency is counted
            // from the time at which the look-up should have been sent, so it includes this delay.
            let took = self.next.elapsed();
            let problem = match answered {
                Ok(answer) => call.check(&answer, Outcome::Found, PRICE).err(),
                Err(error) => Some(error.into()),
            };
            match problem {
                None => called.found += 1,
                Some(problem) if called.failed.len() < MAX_FAILURES => {
                    called.failed.push(format!("{problem:#}"));
                }
                Some(_) => {}
            }
            let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
            called.seconds.add(self.began.elapsed().as_secs(), micros);
            self.next += self.pause;
        }
        Ok(called)
    }
}
