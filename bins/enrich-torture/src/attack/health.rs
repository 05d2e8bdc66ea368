//! Asks for `/healthz` as a supervisor does, on a new connection each time, while an attack goes
//! on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};

use super::figure::Figure;
use super::latencies::Latencies;
use crate::connection::Connection;

/// The pause between two probes.
const PAUSE: Duration = Duration::from_millis(100);
/// What an answer has to stay below, in milliseconds.
const LIMIT_MS: f64 = 50.0;

/// Which figure is held to the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HealthFigure {
    /// The slowest answer.
    Max,
    /// The slowest but one of a hundred, for machines where other programs run at the same time.
    P99,
}

/// A thread that asks until it is stopped.
pub(crate) struct Probe {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Health>,
}

/// What it saw.
#[derive(Debug, Default)]
pub(crate) struct Health {
    latencies: Latencies,
    failures: usize,
}

impl Probe {
    /// Asks once, which has to be answered, and then again and again.
    pub(crate) fn start(server: SocketAddr) -> Result<Self> {
        ensure!(ask(server), "/healthz does not answer before the attack");
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let thread = thread::Builder::new().name("health".to_owned()).spawn(move || {
            let mut health = Health::default();
            while !told.load(Ordering::Relaxed) {
                let began = Instant::now();
                let is_up = ask(server);
                // A failure took its time as well.
                health.latencies.add(began.elapsed());
                health.failures += usize::from(!is_up);
                thread::sleep(PAUSE);
            }
            health
        })?;
        Ok(Self { is_over, thread })
    }

    /// Ends it.
    pub(crate) fn stop(self) -> Result<Health> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the probe of /healthz panicked"))
    }
}

impl Health {
    /// The reported figures of `/healthz`; `judged` names the one that has a limit.
    pub(crate) fn figures(&self, judged: HealthFigure) -> Vec<Figure> {
        let figure = |name, value, is_judged| {
            if is_judged {
                Figure::below(name, value, "ms", LIMIT_MS)
            } else {
                Figure::told(name, value, "ms")
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
    Connection::to(server).get("/healthz").is_ok_and(|reply| reply.status == 200)
}
