//! One run of the torture test on one database: the nodes that use it, the times of the injected
//! faults, and what the judge (the comparison of all calls with the ledger) has found.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use enrich_core::port::ledger::Ledger as _;

use crate::broken::Broken;
use crate::judge::Kind;
use crate::pg::Setting;
use crate::pg::call::Micros;
use crate::pg::fleet::{Doubts, Fleet};
use crate::pg::judge::{Evidence, judge, read_rows};
use crate::pg::tally::{InFlight, Outages, Tally};
use crate::pg::world::World;
use crate::report::Summary;

/// The mean pause of a client between two calls while no load is needed, for example while
/// PostgreSQL servers are rebuilt.
const REST: Duration = Duration::from_millis(100);

/// A database with its nodes, and the faults that happened to it.
pub(crate) struct Trial {
    pub(crate) fleet: Fleet,
    /// The URL at which the judge opens the database.
    url: String,
    /// The times of the faults.
    faults: Vec<Micros>,
    /// Whether charges that were reported as successful may be lost. This is true only in a
    /// control: a torture that must lose charges.
    may_lose: bool,
}

/// The results of a torture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) tally: Tally,
    pub(crate) in_flight: InFlight,
    pub(crate) outages: Outages,
    pub(crate) doubts: Doubts,
}

impl Trial {
    /// Creates Enrich's tables and the accounts in the empty database at `url`.
    pub(crate) fn begin(
        setting: &Setting,
        url: &str,
        folder: &Path,
        may_lose: bool,
    ) -> Result<Self> {
        let world = World::create(url, folder)?;
        let fleet = Fleet::new(world, setting.clients, setting.seed);
        Ok(Self { fleet, url: url.to_owned(), faults: Vec::new(), may_lose })
    }

    /// Starts a node, and waits for its first charge.
    pub(crate) fn start(&mut self, url: &str) -> Result<usize> {
        let node = self.fleet.start(url)?;
        self.fleet.wait_for_charge(|one| one == node, 0, 0)?;
        Ok(node)
    }

    /// Records the time of a fault, to find the calls that were in flight at that time.
    pub(crate) fn note_fault(&mut self, time: Micros) {
        self.faults.push(time);
    }

    /// Lets all clients make calls without a pause.
    pub(crate) fn load(&mut self) -> Result<()> {
        self.fleet.pause(Duration::ZERO)
    }

    /// Lets all clients pause between calls, for [`REST`] on average.
    pub(crate) fn rest(&mut self) -> Result<()> {
        self.fleet.pause(REST)
    }

    /// Judges all calls that were reported so far.
    pub(crate) fn judge(&mut self) -> Result<Tally> {
        self.judge_all(false)
    }

    /// Ends all nodes, and judges all calls. Adds the counts to `outcome`.
    pub(crate) fn end(&mut self, outcome: &mut Outcome) -> Result<()> {
        self.fleet.stop()?;
        outcome.tally.add(self.judge_all(true)?);
        outcome.in_flight.count(&self.fleet.calls(), &self.faults);
        outcome.doubts.iter_mut().zip(self.fleet.doubts).for_each(|(sum, count)| *sum += count);
        Ok(())
    }

    fn judge_all(&mut self, is_final: bool) -> Result<Tally> {
        let calls = self.fleet.calls();
        let store = self.fleet.world.open(&self.url, "judge").context("the judge's store")?;
        let (rows, mut breaches) = read_rows(&store, &self.fleet.world)?;
        let evidence = Evidence {
            calls: &calls,
            rows: &rows,
            killed: &self.fleet.killed,
            clients: self.fleet.clients(),
            poor: self.fleet.world.poor(),
            is_final,
        };
        let (tally, found) = judge(&evidence);
        // A control (a torture that must lose charges) allows these kinds of breaches. If a charge
        // is lost, its call may be repeated with the same idempotency key, and get another answer.
        let kinds = [Kind::Lost, Kind::Repeat, Kind::Doubled, Kind::Differs];
        breaches.extend(found.into_iter().filter(|breach| {
            let is_loss = kinds.contains(&breach.kind);
            !(self.may_lose && is_loss)
        }));
        Broken::if_any_breach(&breaches)?;
        let verified = pollster::block_on(store.ledger.verify())?;
        Broken::if_any(verified.faults)?;
        ensure!(tally.charged > 0, "nothing was charged");
        Ok(tally)
    }
}

impl Outcome {
    /// Adds all results to a summary.
    pub(crate) fn add_to(&self, summary: Summary) -> Summary {
        let summary = self.in_flight.add_to(self.tally.add_to(summary));
        let [taken, replayed, refused, unknown] = self.doubts;
        let in_doubt =
            format!("{taken} taken, {replayed} repeats, {refused} refused, {unknown} unknown");
        summary
            .row("in doubt", in_doubt)
            .row("median outage, ms", self.outages.median_millis())
            .row("longest outage, ms", self.outages.longest_millis())
    }
}

/// Runs `what` in a new folder. Removes the folder afterwards, but keeps it if `what` returns the
/// error [`Broken`].
pub(crate) fn in_folder<T>(setting: &Setting, what: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let folder = tempfile::Builder::new().prefix("enrich-torture-").tempdir_in(&setting.work);
    let folder = folder.with_context(|| format!("{} cannot be used", setting.work.display()))?;
    what(folder.path()).map_err(|error| crate::setting::left_in_place(folder, error))
}
