//! A customer who looks up exact values, one after the other, while another customer attacks.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::latencies::Latencies;
use super::{Figure, Target};
use enrich_testkit::http::Connection;

/// The time for which response times are measured before the attack.
const IDLE: Duration = Duration::from_secs(2);
/// Maximum ratio of the victim's response times. The 99th percentile during the attack may be at
/// most this many times the 99th percentile before the attack.
const MAX_TIMES_SLOWER: f64 = 5.0;
/// The pause between two requests of the victim: the customer whose response times are measured
/// while another customer attacks the server.
const PAUSE: Duration = Duration::from_millis(2);

/// The index of the victim's account in `World::payers`.
pub(super) const VICTIM: usize = 1;

/// The response times of the victim (the customer who does not attack), before and during an
/// attack.
#[derive(Debug, Default)]
pub(super) struct Answers {
    idle: Latencies,
    attacked: Latencies,
}

impl Answers {
    /// Measures response times before the attack.
    pub(super) fn before(target: &Target<'_>) -> Result<Self> {
        let until = Instant::now() + IDLE;
        let idle = ask_while(target, || Instant::now() < until)?;
        Ok(Self { idle, attacked: Latencies::default() })
    }

    /// Measures response times until the attack is over.
    pub(super) fn during(self, target: &Target<'_>) -> Result<Self> {
        let attacked = ask_while(target, || !target.is_over())?;
        Ok(Self { attacked, ..self })
    }

    /// Returns the figures of the victim's calls. Only the figures from the time of the attack
    /// have limits.
    pub(super) fn figures(&self) -> Vec<Figure> {
        let (idle, attacked) = (self.idle.percentile_ms(99), self.attacked.percentile_ms(99));
        let limit = idle * MAX_TIMES_SLOWER;
        vec![
            Figure::unjudged("exact look-ups, p99 before", idle, "ms"),
            Figure::at_least("exact look-ups", self.attacked.count() as f64, "", 100.0),
            Figure::below("exact look-ups, p99", attacked, "ms", limit),
        ]
    }
}

fn ask_while(target: &Target<'_>, goes_on: impl Fn() -> bool) -> Result<Latencies> {
    let question = target.world.questions.first().context("a question")?;
    let key = &target.world.payers[VICTIM].key;
    let (mut connection, mut latencies) = (Connection::to(target.server), Latencies::default());
    while goes_on() {
        let began = Instant::now();
        let reply = connection.post(question.path, &[("x-api-key", key)], &question.body)?;
        latencies.add(began.elapsed());
        ensure!(reply.status == 200, "the victim was answered {}: {}", reply.status, reply.body);
        std::thread::sleep(PAUSE);
    }
    Ok(latencies)
}
