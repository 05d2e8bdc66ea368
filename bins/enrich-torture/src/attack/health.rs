//! Requests `/healthz` during an attack, as a supervisor does: each time on a new connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};

use super::figure::Figure;
use super::latencies::Latencies;
use enrich_testkit::http::Connection;

/// The pause between two requests to `/healthz`.
const PAUSE: Duration = Duration::from_millis(100);
/// The limit for the response time of `/healthz`, in milliseconds.
const LIMIT_MS: f64 = 50.0;

/// Which response time of `/healthz` is compared with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HealthFigure {
    /// The response time of the slowest answer.
    Max,
    /// The 99th percentile of the response times. Unlike the maximum, it allows a few slow answers,
    /// which other programs on the machine can cause.
    P99,
}

/// A thread that requests `/healthz` again and again, until it is stopped.
pub(crate) struct Probe {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Health>,
}

/// The response times and the number of failures of all requests to `/healthz`.
#[derive(Debug, Default)]
pub(crate) struct Health {
    latencies: Latencies,
    failures: usize,
}

impl Probe {
    /// Requests `/healthz` once, which must succeed. Then starts the thread that sends further
    /// requests.
    pub(crate) fn start(server: SocketAddr) -> Result<Self> {
        ensure!(ask(server), "/healthz does not answer before the attack");
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_over);
        let thread = thread::Builder::new().name("health".to_owned()).spawn(move || {
            let mut health = Health::default();
            while !stop.load(Ordering::Relaxed) {
                let began = Instant::now();
                let is_up = ask(server);
                // The response time of a failed request is recorded too.
                health.latencies.add(began.elapsed());
                health.failures += usize::from(!is_up);
                thread::sleep(PAUSE);
            }
            health
        })?;
        Ok(Self { is_over, thread })
    }

    pub(crate) fn stop(self) -> Result<Health> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the probe of /healthz panicked"))
    }
}

impl Health {
    /// Returns the figures of `/healthz`. `judged` selects the figure that has a limit.
    pub(crate) fn figures(&self, judged: HealthFigure) -> Vec<Figure> {
        let figure = |name, value, is_judged| {
            if is_judged {
                Figure::below(name, value, "ms", LIMIT_MS)
            } else {
                Figure::unjudged(name, value, "ms")
            }
        };
        let (max, p99) = (self.latencies.max_ms(), self.latencies.percentile_ms(99));
        vec![
            Figure::at_least("/healthz, probes", self.latencies.count() as f64, "", 1.0),
            Figure::below("/healthz, not answered", self.failures as f64, "", 1.0),
            figure("/healthz, p99", p99, judged == HealthFigure::P99),
            figure("/healthz, slowest", max, judged == HealthFigure::Max),
        ]
    }
}

fn ask(server: SocketAddr) -> bool {
    Connection::to(server).get("/healthz", &[]).is_ok_and(|reply| reply.status == 200)
}
