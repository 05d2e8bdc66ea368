//! The workloads: their calls, and the requests made from them.

use std::fmt;
use std::net::SocketAddr;

use anyhow::{Context, ensure};
use clap::ValueEnum;
use serde::Serialize;

use crate::call::{Call, Outcome, domain_to_name, unknown_domain};
use crate::folder::World;
use crate::mixed;
use crate::prober::{Prober, Sampled};
use crate::reconciliation::Prices;
use crate::wrk::{Halves, Requests};

/// Number of calls that are selected for a round: about as many as a round sends. Each round
/// selects other calls, so that the look-ups are spread over all look-up data.
const CALLS: usize = 100_000;
/// Number of calls that are selected for the warm-up.
const WARMING_CALLS: usize = 1_000_000;
/// Number of names that are tried, to find names that mean exactly one company.
const NAMES: usize = 5000;
/// Number of different requests of the workload [`Workload::Repeats`]. Each is sent and answered
/// once before the measurement. The load generator then repeats them many times.
const REPEATS: usize = 10_000;
/// Number of requests whose answers are checked before anything is timed.
const SAMPLE: usize = 500;
/// The first line of each request that gets an idempotency key from the load generator.
const FIRST_LINE: &str = "POST /v1/dtc HTTP/1.1";

/// A kind of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Workload {
    /// Look-ups at `/v1/dtc` by the main domains of random companies, over 1,000 accounts
    Found,
    /// Like found, all on one account
    Hot,
    /// Look-ups at `/v1/dtc` by domains that no company has
    Missing,
    /// Look-ups at `/v1/cuf` by names that find one company
    Name,
    /// All 29 endpoints in equal shares, each with inputs that find something
    Mixed,
    /// Repeats of answered calls, each with the Idempotency-Key of the first call
    Repeats,
    /// Like found, each request with its own Idempotency-Key
    Keyed,
}

/// A workload, prepared for one service.
pub(crate) struct Plan {
    /// The expected result of each request.
    pub(crate) outcome: Outcome,
    pub(crate) requests: Requests,
    /// The requests that are checked before anything is timed.
    pub(crate) sample: Vec<Sampled>,
    /// A sentence about the requests. The report prints it.
    pub(crate) note: Option<String>,
}

/// The workload's name on the command line.
impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

impl Workload {
    /// Returns the options of `enrich serve` that this workload needs.
    pub(crate) fn options(self) -> Vec<String> {
        match self {
            // A run stores more responses than the default limit allows.
            Self::Repeats | Self::Keyed => vec!["--max-kept".to_owned(), "100000000".to_owned()],
            _ => Vec::new(),
        }
    }

    /// Selects calls at random, and makes the requests from them. In [`Workload::Mixed`] and
    /// [`Workload::Name`], some calls may find nothing. These calls are first sent to the service
    /// at `address`, and only the calls that find something are used.
    pub(crate) fn plan(
        self,
        world: &World,
        address: SocketAddr,
        prices: &Prices,
    ) -> anyhow::Result<Plan> {
        let mut chance = fastrand::Rng::with_seed(world.spec.companies);
        let (keys, mut note) = (self.keys(world), None);
        let mut prober = Prober::new(address, prices, &keys, chance.fork());
        let calls = match self {
            Self::Found | Self::Hot | Self::Keyed => companies(world, CALLS, &mut chance)?,
            Self::Repeats => companies(world, REPEATS, &mut chance)?,
            Self::Missing => unknown_domains(world, CALLS, &mut chance)?,
            Self::Mixed => mixed::calls(world, &mut prober, &mut chance)?,
            Self::Name => {
                let names = names(world, &mut chance)?;
                let asked = names.len();
                let found = prober.found(names)?;
                ensure!(!found.is_empty(), "of {asked} names none tells one company");
                let share = found.len() as f64 * 100.0 / asked as f64;
                note = Some(format!("{share:.1} % of the names tell one company; those are asked"));
                found
            }
        };
        let outcome = match self {
            Self::Missing => Outcome::Missed,
            Self::Repeats => Outcome::Replayed,
            _ => Outcome::Found,
        };
        if self == Self::Repeats {
            let repeated = prober.answered_once(calls)?;
            return Ok(Plan { outcome, ..repeats(repeated, &mut chance) });
        }
        let sample = self.sample(&calls, &keys, &mut chance);
        let calls = self.halves(&calls, &keys)?;
        let fresh_after =
            (self == Self::Keyed).then(|| format!("{FIRST_LINE}\r\nIdempotency-Key: "));
        Ok(Plan { outcome, requests: Requests { calls, keys, fresh_after }, sample, note })
    }

    /// Selects new calls for a measurement round. Returns `None` if the workload has the same calls
    /// in every round. The warm-up gets more calls, so that large look-up data is read into memory.
    pub(crate) fn redraw(self, world: &World, round: u64) -> anyhow::Result<Option<Vec<Halves>>> {
        let mut chance = fastrand::Rng::with_seed(world.spec.companies ^ (round + 1) << 48);
        let number = if round == 0 { WARMING_CALLS } else { CALLS };
        let number = number.min(usize::try_from(world.spec.companies)?.max(CALLS));
        let calls = match self {
            Self::Found | Self::Hot | Self::Keyed => companies(world, number, &mut chance)?,
            Self::Missing => unknown_domains(world, number, &mut chance)?,
            Self::Repeats | Self::Mixed | Self::Name => return Ok(None),
        };
        self.halves(&calls, &self.keys(world)).map(Some)
    }

    /// Returns the calls in the form that the load generator needs: each is split at the API key.
    /// For [`Workload::Keyed`], the first line of each request is removed. The load generator then
    /// writes this line itself, followed by an idempotency key.
    fn halves(self, calls: &[Call], keys: &[String]) -> anyhow::Result<Vec<Halves>> {
        let key_bytes = keys.first().map_or(0, String::len);
        let halves = calls.iter().map(|call| {
            let Halves { before, behind } = call.halves(key_bytes, None);
            if self != Self::Keyed {
                return Ok(Halves { before, behind });
            }
            let rest = before.strip_prefix(FIRST_LINE).context("a call of another endpoint")?;
            Ok(Halves { before: rest.to_owned(), behind })
        });
        halves.collect()
    }

    fn keys(self, world: &World) -> Vec<String> {
        match self {
            Self::Hot => vec![world.keys.hot.clone()],
            _ => world.keys.many.clone(),
        }
    }

    fn sample(self, calls: &[Call], keys: &[String], chance: &mut fastrand::Rng) -> Vec<Sampled> {
        let sampled = |number| {
            let call = calls[chance.usize(..calls.len())].clone();
            let key = &keys[chance.usize(..keys.len())];
            let once = (self == Self::Keyed).then(|| format!("sample-{number}"));
            let request = call.request(key, once.as_deref());
            Sampled { call, request }
        };
        (0..SAMPLE).map(sampled).collect()
    }
}

fn companies(
    world: &World,
    number: usize,
    chance: &mut fastrand::Rng,
) -> anyhow::Result<Vec<Call>> {
    let call = |_| {
        let company = world.generated.any_company(chance)?;
        Ok(domain_to_name(company.domain(), &company.name))
    };
    (0..number).map(call).collect()
}

/// Returns calls with unknown domains, such as `amberbankx17.example`, which is made from the known
/// domain `amberbank17.example`. In alphabetical order, each unknown domain is close to a known
/// one. So the look-ups of unknown domains are spread over the whole index.
fn unknown_domains(
    world: &World,
    number: usize,
    chance: &mut fastrand::Rng,
) -> anyhow::Result<Vec<Call>> {
    let call = |_| {
        let company = world.generated.any_company(chance)?;
        let label = company.domain().trim_end_matches(".example");
        // Each number is in the domain of one company only. So if a company has the domain
        // `amberbank17.example`, no company has `amberbankx17.example`.
        let word = label.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let number = &label[word.len()..];
        Ok(unknown_domain(&format!("{word}x{number}.example")))
    };
    (0..number).map(call).collect()
}

fn names(world: &World, chance: &mut fastrand::Rng) -> anyhow::Result<Vec<Call>> {
    let call = |_| {
        let company = world.generated.any_company(chance)?;
        let call = Call::new("/v1/cuf", "companyName", &company.name);
        Ok(call.answers("/query", company.name.as_str()).answers("/url", company.domain()))
    };
    (0..NAMES).map(call).collect()
}

/// Returns a plan that sends the requests of `answered` again, each with its API key and its
/// idempotency key.
fn repeats(answered: Vec<Sampled>, chance: &mut fastrand::Rng) -> Plan {
    let whole = |sampled: &Sampled| {
        let before = String::from_utf8_lossy(&sampled.request).into_owned();
        Halves { before, behind: String::new() }
    };
    let calls = answered.iter().map(whole).collect();
    let requests = Requests { calls, keys: vec![String::new()], fresh_after: None };
    let mut sample = answered;
    chance.shuffle(&mut sample);
    sample.truncate(SAMPLE);
    Plan { outcome: Outcome::Replayed, requests, sample, note: None }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::folder::{FolderSpec, Keys};
    use crate::generated::Generated;

    fn plan(workload: Workload) -> Plan {
        let keys = Keys { many: vec!["k1".to_owned(), "k2".to_owned()], hot: "k3".to_owned() };
        let spec = FolderSpec { companies: 1000, charges: 0 };
        let world = World { spec, generated: Generated::new(1000), keys };
        let nobody = "127.0.0.1:9".parse().unwrap();
        workload.plan(&world, nobody, &Prices::new()).unwrap()
    }

    #[test]
    fn every_request_is_whole_whichever_key_is_drawn() {
        for workload in [Workload::Found, Workload::Missing, Workload::Hot] {
            let Requests { calls, keys, fresh_after } = plan(workload).requests;
            assert_eq!((calls.len(), fresh_after), (CALLS, None));
            let Halves { before, behind } = &calls[7];
            let request = format!("{before}{}{behind}", keys[0]);
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{request}");
            serde_json::from_str::<serde_json::Value>(body).unwrap();
        }
    }

    #[test]
    fn a_fresh_key_stands_between_the_first_line_and_the_other_headers() {
        let Requests { calls, keys, fresh_after } = plan(Workload::Keyed).requests;
        let Halves { before, behind } = &calls[0];
        let request = format!("{}once{before}{}{behind}", fresh_after.unwrap(), keys[0]);
        let first = "POST /v1/dtc HTTP/1.1\r\nIdempotency-Key: once\r\nHost: localhost\r\n";
        assert!(request.starts_with(first), "{request}");
    }

    #[test]
    fn the_same_companies_are_drawn_each_time_and_the_hot_account_is_alone() {
        assert_eq!(plan(Workload::Found).requests.calls, plan(Workload::Found).requests.calls);
        assert_eq!(plan(Workload::Hot).requests.keys, ["k3"]);
        assert_eq!(plan(Workload::Found).requests.keys, ["k1", "k2"]);
    }

    #[test]
    fn every_round_draws_other_calls_of_which_nobody_s_are_nobody_s() {
        let keys = Keys { many: vec!["k1".to_owned()], hot: "k3".to_owned() };
        let spec = FolderSpec { companies: 1000, charges: 0 };
        let world = World { spec, generated: Generated::new(1000), keys };
        let drawn = |round| Workload::Missing.redraw(&world, round).unwrap().unwrap();
        assert_ne!(drawn(1), drawn(2));
        assert!(Workload::Mixed.redraw(&world, 1).unwrap().is_none());
        let there: HashSet<String> = (0..1000)
            .map(|index| world.generated.company(index).unwrap().domain().to_owned())
            .collect();
        for call in unknown_domains(&world, 1000, &mut fastrand::Rng::with_seed(1)).unwrap() {
            assert!(!there.contains(&call.inputs[0].1), "{}", call.inputs[0].1);
        }
    }

    #[test]
    fn a_sample_is_of_the_calls_that_are_sent() {
        let Plan { sample, requests, .. } = plan(Workload::Missing);
        assert_eq!(sample.len(), SAMPLE);
        let sent = |call: &Call| requests.calls.contains(&call.halves(2, None));
        assert!(sample.iter().take(20).all(|sampled| sent(&sampled.call)));
        assert_eq!(sample[0].call.values[1].1, "");
    }
}
