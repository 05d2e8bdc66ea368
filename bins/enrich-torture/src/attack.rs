//! Attacks a server on the loopback address, as a stranger or a customer could. Meanwhile,
//! measures the memory of the server and the response time of `/healthz`.
//!
//! Each attack ([`Case`]) has a file of its own, which sends the requests. This file starts the
//! server, watches it and compares the figures with their limits.

mod calls_search;
mod descriptors;
mod expensive_names;
mod figure;
mod health;
mod kept_answers;
mod latencies;
mod memory;
mod slow_bodies;
mod slow_readers;
mod sockets;
mod victim;

use std::fs::File;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use enrich_testkit::serving::Serving;

pub(crate) use figure::Figure;
pub(crate) use health::HealthFigure;

use crate::broken::Broken;
use crate::report::{Console, Summary};
use crate::setting::Setting;
use crate::world::World;

/// Maximum resident memory of the server, in megabytes.
const MAX_RESIDENT_MB: f64 = 400.0;

/// An attack on the server, and how it is prepared.
pub(crate) struct Case {
    /// The attack's name on the command line.
    pub(crate) name: &'static str,
    /// The attack's description in the table of results.
    pub(crate) about: &'static str,
    /// Options of `enrich serve` in addition to data folder and address.
    pub(crate) options: &'static [&'static str],
    /// Whether the admin pages have their own listener. Attacks with thousands of connections need
    /// it, because their connections delay every request to the attacked listener, even one for
    /// `/healthz`. [`Plan::is_listener_shared`] overrides this field.
    pub(crate) has_admin_listener: bool,
    /// Fills the data folder before the server starts. The folder already has a few companies, and
    /// accounts with credits.
    pub(crate) prepare: fn(&Setting, &World) -> Result<()>,
    /// Attacks the server until the time of the attack is over. Returns the figures that the attack
    /// has measured. A figure may have a limit, which is checked after the attack.
    pub(crate) attack: fn(&Target<'_>) -> Result<Vec<Figure>>,
}

impl Case {
    fn options_for(&self, plan: &Plan) -> Vec<&'static str> {
        let mut options = self.options.to_vec();
        if self.has_admin_listener && !plan.is_listener_shared {
            options.extend(["--admin-listen", "127.0.0.1:0"]);
        }
        options
    }
}

/// All attacks, in the order in which they run.
pub(crate) static CASES: [&Case; 5] = [
    &slow_readers::CASE,
    &slow_bodies::CASE,
    &kept_answers::CASE,
    &calls_search::CASE,
    &expensive_names::CASE,
];

/// The attacks to run, and how to run them.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The names of the attacks to run; if empty, all attacks run.
    pub(crate) cases: Vec<String>,
    /// The duration of each attack, in seconds.
    pub(crate) seconds: u64,
    /// Which response time of `/healthz` must stay below a limit: the maximum or the 99th
    /// percentile.
    pub(crate) health: HealthFigure,
    /// Whether the admin pages are on the attacked listener in every attack. If true,
    /// [`Case::has_admin_listener`] is ignored.
    pub(crate) is_listener_shared: bool,
}

/// The server under attack.
pub(crate) struct Target<'a> {
    /// The accounts, keys and companies of the server.
    pub(crate) world: &'a World,
    pub(crate) server: SocketAddr,
    pub(crate) ends_at: Instant,
}

impl Target<'_> {
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.ends_at
    }
}

/// Does nothing. It is the [`Case::prepare`] of attacks that need no further data.
pub(crate) fn nothing_to_prepare(_: &Setting, _: &World) -> Result<()> {
    Ok(())
}

/// Runs the attacks one after the other, each on a new server.
///
/// # Errors
///
/// [`Broken`] when a figure is outside its limit. Other errors when an attack cannot be run.
pub(crate) fn run(
    setting: &Setting,
    plan: &Plan,
    console: &mut Console<'_>,
    summaries: &mut Vec<Summary>,
) -> Result<()> {
    descriptors::raise_limit()?;
    let is_chosen =
        |case: &&&Case| plan.cases.is_empty() || plan.cases.iter().any(|n| n == case.name);
    let mut broken = Vec::new();
    for case in CASES.iter().filter(is_chosen) {
        console.print(format_args!("attack {}: {}", case.name, case.about))?;
        let figures = setting.in_folder(|folder| {
            let log = File::create(folder.join("server.log"))?;
            let (world, _) = World::create(&setting.enrich, folder.join("data"))?;
            (case.prepare)(setting, &world)?;
            let options = case.options_for(plan);
            let server = Serving::start(&setting.enrich, &world.data, &options, log.into())?;
            attack(case, plan, &world, &server)
        })?;
        let mut summary = Summary::of(format!("attack {}: {}", case.name, case.about));
        for figure in figures {
            if !figure.is_held() {
                broken.push(format!("{}: {figure}", case.name));
            }
            summary = summary.row(figure.name, figure.to_string());
        }
        summaries.push(summary);
    }
    Broken::if_any(broken)
}

/// Runs one attack on a server, and measures the server meanwhile. Returns the figures of the
/// attack and of the server.
fn attack(case: &Case, plan: &Plan, world: &World, server: &Serving) -> Result<Vec<Figure>> {
    let probe = health::Probe::start(server.admin_address().unwrap_or(server.address()))?;
    let ends_at = Instant::now() + Duration::from_secs(plan.seconds);
    let target = Target { world, server: server.address(), ends_at };
    let attacked = (case.attack)(&target);
    let health = probe.stop()?;
    let resident = memory::peak_resident_mb(server.process_id())
        .context("the server's memory cannot be read; has it ended?");
    let mut figures = attacked?;
    figures.push(Figure::below("resident memory, at most", resident?, "MB", MAX_RESIDENT_MB));
    figures.extend(health.figures(plan.health));
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_cases_have_one_name() {
        let names: BTreeSet<&str> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), CASES.len());
    }
}
