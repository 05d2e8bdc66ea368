//! Compares a service's counters with the requests that were sent, and with the changes of the
//! balances.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::call::Outcome;
use crate::metrics::Tally;
use crate::program::{Data, Program};

/// Time limit for a service to finish its work after its last connection was closed.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of equal readings in a row after which the counters are regarded as final.
const STILL: u32 = 5;
const BETWEEN_READINGS: Duration = Duration::from_millis(50);

/// The price of an answer at each endpoint, in credits, by the endpoint's path.
pub(crate) type Prices = BTreeMap<String, u64>;

/// Compares the counters of one service with its accounts: the balances must have decreased by the
/// credits that were counted. If the service has several servers, their counters are added.
pub(crate) struct Reconciliation {
    program: Program,
    data: Data,
    addresses: Vec<SocketAddr>,
    /// The sum of all balances before the service started.
    credits_before: u64,
    tally: Tally,
}

#[derive(Clone, Debug)]
pub(crate) struct Expected {
    pub(crate) outcome: Outcome,
    pub(crate) answers: RangeInclusive<u64>,
}

impl Reconciliation {
    /// Begins to compare the counters of a service with the balances of its accounts. The service
    /// was just started, and its servers are at `addresses`. `credits_before` is the sum of all
    /// balances in `data`.
    pub(crate) fn new(
        program: &Program,
        data: Data,
        addresses: Vec<SocketAddr>,
        credits_before: u64,
    ) -> Self {
        let (program, tally) = (program.clone(), Tally::default());
        Self { program, data, addresses, credits_before, tally }
    }

    /// Returns how much the service's counters have grown since the previous call of this function.
    /// Checks that the balances have decreased by the credits that the service counted.
    ///
    /// The service may still answer requests of closed connections. So the counters are read until
    /// they no longer change and agree with the balances. Returns an error if they do not agree
    /// within [`PATIENCE`].
    pub(crate) fn reconcile(&mut self) -> anyhow::Result<Tally> {
        let started = Instant::now();
        loop {
            let tally = self.settled()?;
            let charged = tally.sum().credits;
            let balances = self.program.balances(&self.data)?;
            if self.credits_before.checked_sub(balances) == Some(charged) {
                let since = tally.since(&self.tally);
                self.tally = tally;
                return Ok(since);
            }
            ensure!(
                started.elapsed() < PATIENCE,
                "the service says that it charged {charged} credits, and the balances went from \
                 {} to {balances}",
                self.credits_before
            );
        }
    }

    /// Waits until the counters no longer change, and returns them.
    fn settled(&self) -> anyhow::Result<Tally> {
        let (mut last, mut same, started) = (Tally::of_all(&self.addresses)?, 0, Instant::now());
        while same < STILL {
            ensure!(
                started.elapsed() < PATIENCE,
                "the service still answers, though nobody asks it any more"
            );
            thread::sleep(BETWEEN_READINGS);
            let next = Tally::of_all(&self.addresses)?;
            same = if next == last { same + 1 } else { 0 };
            last = next;
        }
        Ok(last)
    }

    /// Checks that the counters have grown as expected since the previous reconciliation.
    pub(crate) fn expect(&mut self, expected: &Expected, prices: &Prices) -> anyhow::Result<()> {
        expected.check(&self.reconcile()?, prices)
    }

    /// Returns the number of charges and the charged credits, from the service's start to the
    /// latest reconciliation.
    pub(crate) fn charged(&self) -> (u64, u64) {
        let sum = self.tally.sum();
        (sum.found, sum.credits)
    }
}

impl Expected {
    fn check(&self, since: &Tally, prices: &Prices) -> anyhow::Result<()> {
        for (path, counts) in &since.0 {
            let price = prices.get(path).with_context(|| format!("{path} was answered"))?;
            let answers = counts.answered;
            let (found, missed, replayed) = match self.outcome {
                Outcome::Found => (answers, 0, 0),
                Outcome::Missed => (0, answers, 0),
                Outcome::Replayed => (0, 0, answers),
            };
            let counted = (counts.refused, counts.found, counts.missed, counts.replayed);
            ensure!(
                counted == (0, found, missed, replayed) && counts.credits == found * price,
                "not every answer of {path} is {:?}, at {price} credits each: {counts:?}",
                self.outcome
            );
        }
        let answers = since.sum().answered;
        ensure!(
            self.answers.contains(&answers),
            "the service says that it gave {answers} answers, and {:?} were asked for",
            self.answers
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Counts;

    fn complaint(counts: Counts, outcome: Outcome) -> Option<String> {
        let since = Tally(BTreeMap::from([("/v1/cone".to_owned(), counts)]));
        let prices = BTreeMap::from([("/v1/cone".to_owned(), 3)]);
        let expected = Expected { outcome, answers: 10..=12 };
        expected.check(&since, &prices).err().map(|error| error.to_string())
    }

    fn found(answered: u64) -> Counts {
        Counts { answered, found: answered, credits: 3 * answered, ..Counts::default() }
    }

    #[test]
    fn what_was_asked_for_is_what_was_answered() {
        for answered in 10..=12 {
            assert_eq!(complaint(found(answered), Outcome::Found), None);
        }
        let missed = Counts { answered: 10, missed: 10, ..Counts::default() };
        assert_eq!(complaint(missed, Outcome::Missed), None);
        let replayed = Counts { answered: 10, replayed: 10, ..Counts::default() };
        assert_eq!(complaint(replayed, Outcome::Replayed), None);
    }

    #[test]
    fn one_answer_too_few_or_too_many_is_noticed() {
        assert!(complaint(found(9), Outcome::Found).unwrap().contains("9 answers"));
        assert!(complaint(found(13), Outcome::Found).unwrap().contains("13 answers"));
    }

    #[test]
    fn one_answer_of_another_kind_is_noticed() {
        let right = found(10);
        for wrong in [
            Counts { refused: 1, ..right },
            Counts { found: 9, ..right },
            Counts { missed: 1, ..right },
            Counts { replayed: 1, ..right },
            Counts { credits: 29, ..right },
        ] {
            assert!(complaint(wrong, Outcome::Found).is_some(), "{wrong:?}");
        }
        assert!(complaint(right, Outcome::Missed).is_some());
        assert!(complaint(right, Outcome::Replayed).is_some());
    }

    #[test]
    fn an_answer_of_a_path_that_nobody_asked_is_noticed() {
        let since = Tally(BTreeMap::from([("other".to_owned(), found(10))]));
        let expected = Expected { outcome: Outcome::Found, answers: 10..=12 };
        assert!(expected.check(&since, &BTreeMap::new()).is_err());
    }
}
