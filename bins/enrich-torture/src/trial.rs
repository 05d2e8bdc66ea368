//! One data folder under torture: its server, its calls, and the results of the judge.

use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use enrich_store::Store;
use enrich_testkit::serving::Serving;

use crate::audit::Audit;
use crate::broken::Broken;
use crate::call_log::{Call, End, GrantCall};
use crate::judge::{Judge, Kind, Round, judge_grants};
use crate::load::{Keyed, Keys, Load, ask_once};
use crate::setting::Setting;
use crate::tally::Tally;
use crate::world::World;
use enrich_testkit::http::Connection;

/// Maximum number of times that [`Trial::settle`] sends the same request to learn its outcome. The
/// server answers 409 while the first call with the same idempotency key still runs.
const REPEATS: u32 = 50;
/// Maximum number of bytes of the server's log that are shown if the server did not start.
const LOG_END_BYTES: usize = 2000;
/// Credits that the account with few credits gets after each round of calls was checked. They are
/// enough for a few more charges.
const TOP_UP_CREDITS: i64 = 9;

/// A data folder under torture, with its calls and counts.
pub(crate) struct Trial<'a> {
    /// The data folder, with its accounts and the requests that clients send.
    pub(crate) world: World,
    /// The counts of all calls since the torture began.
    pub(crate) total: Tally,
    setting: &'a Setting,
    log: PathBuf,
    keys: Keys,
    judge: Judge,
    audit: Audit,
    /// The calls that were made since the last judgement.
    calls: Vec<Call>,
    grants: Vec<GrantCall>,
    /// The number of names that [`Self::name`] has returned. Each name contains this number, so
    /// that all names differ.
    named: u64,
}

/// The rules for judging one round of the torture: the time of the power cut, and the failures that
/// are allowed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ruling<'a> {
    /// The time of the power cut, if there was one.
    pub(crate) cut: Option<Instant>,
    /// The HTTP statuses of 500 or above that are allowed. Answers that arrive after a power cut
    /// may have any status, because they are not judged.
    pub(crate) excused: &'a [u16],
    /// Whether a charge may be lost although the client received its answer. This is true only in a
    /// control: a variant of the torture that must lose charges, to prove that the torture finds
    /// lost charges.
    pub(crate) may_lose: bool,
}

impl<'a> Trial<'a> {
    /// Creates a data folder. Before the torture begins, sends each request of `World::questions`
    /// once, to learn the correct answers.
    pub(crate) fn begin(setting: &'a Setting, data: PathBuf, log: PathBuf) -> Result<Self> {
        let (world, grants) = World::create(&setting.enrich, data)?;
        let audit = Audit::new(&world);
        let mut trial = Self {
            world,
            total: Tally::default(),
            setting,
            log,
            keys: Keys::default(),
            judge: Judge::default(),
            audit,
            calls: Vec::new(),
            grants,
            named: 0,
        };
        let server = trial.serve(&[])?;
        let mut connection = Connection::to(server.address());
        for question in 0..trial.world.questions.len() {
            trial.ask(&mut connection, 0, question, None);
        }
        server.stop()?;
        let answers = trial.calls.iter().filter_map(|call| match &call.end {
            End::Answered(answer) => Some((call.question, answer.body.to_string())),
            End::NoAnswer => None,
        });
        trial.world.learn(answers)?;
        trial.judge(Ruling::default())?;
        trial.prove()?;
        trial.total = Tally::default();
        Ok(trial)
    }

    /// Starts a server on the data folder.
    ///
    /// # Errors
    ///
    /// [`Broken`] when the server doesn't start.
    pub(crate) fn serve(&self, options: &[&str]) -> Result<Serving> {
        let log = self.append_log()?;
        let begin = fs::metadata(&self.log)?.len();
        Serving::start(&self.setting.enrich, &self.world.data, options, log).map_err(|error| {
            let said = self.log_since(begin).unwrap_or_default();
            Broken::because(format!("{error}; its log: {said}"))
        })
    }

    /// Starts a server through another program, such as strace: appends the server's command line
    /// to the arguments of `command`.
    pub(crate) fn serve_inside(&self, mut command: Command) -> Result<Serving> {
        command.arg(&self.setting.enrich).args(["serve", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(&self.world.data);
        Ok(Serving::spawn(command, self.append_log()?)?)
    }

    /// Returns the server's log from the position `begin` in bytes, but at most its last
    /// `LOG_END_BYTES` bytes.
    pub(crate) fn log_since(&self, begin: u64) -> Result<String> {
        let log = fs::read(&self.log)?;
        let begin = (begin as usize).max(log.len().saturating_sub(LOG_END_BYTES)).min(log.len());
        Ok(String::from_utf8_lossy(&log[begin..]).trim().to_owned())
    }

    /// Returns the length of the server's log, in bytes.
    pub(crate) fn log_length(&self) -> u64 {
        fs::metadata(&self.log).map_or(0, |log| log.len())
    }

    /// Sends one request, and records the call.
    pub(crate) fn ask(
        &mut self,
        connection: &mut Connection,
        account: usize,
        question: usize,
        repeat_key: Option<Arc<str>>,
    ) -> Call {
        let request_id = self.name("single");
        let call = ask_once(&self.world, connection, request_id, account, question, repeat_key);
        self.calls.push(call.clone());
        call
    }

    /// Sends a request that finds something. The server must answer and charge it.
    pub(crate) fn probe(&mut self, server: SocketAddr) -> Result<()> {
        let call = self.ask(&mut Connection::to(server), 0, 0, None);
        match &call.end {
            End::Answered(answer) if answer.status == 200 => Ok(()),
            end => Err(Broken::because(format!("it does not answer and charge again: {end:?}"))),
        }
    }

    /// Runs clients until `act` returns. Records their calls.
    pub(crate) fn load<T>(
        &mut self,
        server: SocketAddr,
        (clients, pause): (usize, Duration),
        act: impl FnOnce(&World) -> T,
    ) -> Result<T> {
        let name = self.name("load");
        let seed = self.setting.seed ^ self.named << 32;
        let load = Load { world: &self.world, keys: &self.keys, name: &name, clients, pause, seed };
        let (calls, acted) = load.run(server, || act(&self.world))?;
        self.calls.extend(calls);
        Ok(acted)
    }

    /// Adds calls that another part of the program has made, so that they are judged too.
    pub(crate) fn add_calls(&mut self, calls: Vec<Call>) {
        self.calls.extend(calls);
    }

    /// Adds a grant that another process made, so that it is judged too.
    pub(crate) fn granted(&mut self, grant: GrantCall) {
        self.grants.push(grant);
    }

    /// Returns a name that is unique in this trial and contains `what`.
    pub(crate) fn name(&mut self, what: &str) -> String {
        self.named += 1;
        format!("{what}-{}", self.named)
    }

    /// Opens the data folder, reads the new rows of the ledger, and judges all calls since the last
    /// judgement. Then grants some credits to the account with few credits, so that it can pay for
    /// a few more charges.
    pub(crate) fn judge(&mut self, ruling: Ruling<'_>) -> Result<Tally> {
        let store = Store::open(&self.world.data)
            .map_err(|error| Broken::because(format!("{:#}", anyhow::Error::from(error))))?;
        let new_rows = self.audit.read(&store)?;
        let calls = std::mem::take(&mut self.calls);
        let Ruling { cut, excused, may_lose } = ruling;
        let round = Round { calls: &calls, rows: &new_rows.charges, cut, excused };
        let (tally, mut breaches) = self.judge.round(&self.world.questions, &round);
        if may_lose && tally.lost > 0 {
            breaches.retain(|breach| breach.kind != Kind::Lost);
            self.judge.forget_lost();
        }
        breaches.extend(judge_grants(&self.grants, &new_rows.grants));
        self.grants.clear();
        Broken::if_any_breach(&breaches)?;
        self.note_unsettled(&calls, cut);
        let note = self.name("top-up");
        let grant = self.world.grant(&store, self.world.poor(), TOP_UP_CREDITS, note)?;
        self.grants.push(grant);
        self.total.add(tally);
        Ok(tally)
    }

    /// Verifies the whole ledger. Call [`judge`](Self::judge) before. Otherwise, this method finds
    /// ledger rows of calls that are not judged yet, and takes them for charges that nobody
    /// requested.
    pub(crate) fn prove(&mut self) -> Result<()> {
        let store = Store::open(&self.world.data)?;
        let new_rows = self.audit.read(&store)?;
        let breaches = judge_grants(&self.grants, &new_rows.grants);
        self.grants.clear();
        Broken::if_any_breach(&breaches)?;
        let foreign = new_rows.charges.iter().map(|row| format!("nobody asked for {row:?}"));
        Broken::if_any(foreign.collect())?;
        self.audit.prove(&store)
    }

    /// Repeats every call with an unknown outcome, until the outcome is known.
    pub(crate) fn settle(&mut self, server: SocketAddr) -> Result<()> {
        let mut connection = Connection::to(server);
        for Keyed { key, account, question } in self.keys.take_unsettled() {
            let mut repeats = 0;
            loop {
                let call = self.ask(&mut connection, account, question, Some(Arc::clone(&key)));
                repeats += 1;
                match &call.end {
                    End::Answered(answer) if [200, 400].contains(&answer.status) => break,
                    End::Answered(answer) if answer.status == 409 && repeats < REPEATS => {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    end => {
                        let what = format!("the repeat with the key {key} ended as {end:?}");
                        return Err(Broken::because(what));
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the number of rows in the ledger.
    pub(crate) fn rows(&self) -> u64 {
        self.audit.rows()
    }

    fn note_unsettled(&self, calls: &[Call], cut: Option<Instant>) {
        let is_settled = |call: &&Call| !call.is_unsettled(cut) && !is_still_running(call, cut);
        let settled: std::collections::HashSet<_> = calls
            .iter()
            .filter(is_settled)
            .filter_map(|call| Some((call.account, Arc::clone(call.repeat_key.as_ref()?))))
            .collect();
        let mut noted = std::collections::HashSet::new();
        for call in calls {
            let Some(key) = &call.repeat_key else { continue };
            let (account, question) = (call.account, call.question);
            let name = (account, Arc::clone(key));
            if !settled.contains(&name) && noted.insert(name) {
                self.keys.unsettled(Keyed { key: Arc::clone(key), account, question });
            }
        }
    }

    fn append_log(&self) -> Result<Stdio> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.with_context(|| format!("{} cannot be written", self.log.display()))?;
        Ok(log.into())
    }
}

fn is_still_running(call: &Call, cut: Option<Instant>) -> bool {
    call.answer_before(cut).is_some_and(|answer| answer.status == 409)
}

/// Copies a folder, so that it can be examined after a failure.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    crate::setting::run(Command::new("cp").arg("-a").arg(from).arg(to))
}

/// Minimum counts that a torture must reach. With lower counts, its result would prove nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Least {
    pub(crate) charged: u64,
    /// Requests that were in flight at a kill or a power cut.
    pub(crate) in_flight: u64,
    pub(crate) replayed: u64,
    /// Requests that were refused because of too few credits.
    pub(crate) without_credits: u64,
    /// Requests that were answered with 500 or 503.
    pub(crate) failed: u64,
}

impl Least {
    /// Returns the minimum counts for a torture of `rounds` rounds under load: two charges for each
    /// round. From 10 rounds on, also one replayed answer and one refusal because of too few
    /// credits.
    pub(crate) fn of_load(rounds: u64) -> Self {
        let sure = u64::from(rounds >= 10);
        Self { charged: 2 * rounds, replayed: sure, without_credits: sure, ..Self::default() }
    }
}

/// Returns an error if a count of `total` is below its minimum in `least`.
pub(crate) fn enough(total: &Tally, least: &Least) -> Result<()> {
    let seen = [
        ("charges", total.charged, least.charged),
        ("requests in flight", total.in_flight, least.in_flight),
        ("repeats answered again", total.replayed, least.replayed),
        ("requests without credits", total.without_credits, least.without_credits),
        ("requests answered 500 or 503", total.failed, least.failed),
    ];
    for (what, seen, least) in seen {
        ensure!(seen >= least, "too little to prove anything: {seen} {what}, at least {least}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_in_which_hardly_anything_happened_is_none() {
        let total = Tally { charged: 20, replayed: 1, without_credits: 1, ..Tally::default() };
        assert!(enough(&total, &Least::of_load(10)).is_ok());
        assert!(enough(&total, &Least::of_load(11)).is_err());
        for least in [
            Least { in_flight: 1, ..Least::default() },
            Least { failed: 1, ..Least::default() },
            Least { replayed: 2, ..Least::default() },
            Least { without_credits: 2, ..Least::default() },
        ] {
            assert!(enough(&total, &least).is_err(), "{least:?}");
        }
    }
}
