//! Starts, kills and ends the nodes (processes) of a torture test, and collects the calls that they
//! report.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::broken::Broken;
use crate::pg::call::{Call, Micros};
use crate::pg::node::{DOUBTS, URL_VARIABLE};
use crate::pg::world::World;

/// Time limit for charging to resume after a fault.
const RESUMED_WITHIN: Duration = Duration::from_secs(60);
/// Time limit for a node to end. It is long, because a node may need several seconds to find out
/// the outcome of a call.
const ENDED_WITHIN: Duration = Duration::from_secs(60);
/// Interval at which this process checks whether a new charge was reported, or a node has ended.
const INTERVAL: Duration = Duration::from_millis(2);

/// The calls that the nodes have reported so far, each with the number of its node.
type ReportedCalls = Arc<Mutex<Vec<(usize, Call)>>>;
/// The counts of charges and grants whose first reply from the database was lost, so that the node
/// had to ask the database for the outcome. There is one count for each outcome, in this order:
///
/// 1. The charge or grant was written to the ledger.
/// 2. The charge was not written, because another call had already used its idempotency key.
/// 3. The charge or grant was refused.
/// 4. The outcome is still unknown.
pub(crate) type Doubts = [u64; 4];

/// The nodes that use one database.
pub(crate) struct Fleet {
    pub(crate) world: World,
    clients: usize,
    seed: u64,
    nodes: Vec<Running>,
    /// The number of nodes that were started so far.
    started: usize,
    /// The names of the nodes that this test has killed. Their last calls may be unreported.
    pub(crate) killed: BTreeSet<String>,
    reported: ReportedCalls,
    /// The sums of the counts of all nodes that have ended normally. A killed node reports no
    /// counts.
    pub(crate) doubts: Doubts,
    log: PathBuf,
}

/// The process of a node. Dropping this value kills the process.
struct Running {
    number: usize,
    url: String,
    child: Child,
    input: Option<ChildStdin>,
    reader: Option<JoinHandle<Result<Doubts>>>,
}

impl Fleet {
    /// Returns a fleet without nodes.
    pub(crate) fn new(world: World, clients: usize, seed: u64) -> Self {
        let log = world.folder.join("nodes.log");
        Self {
            world,
            clients,
            seed,
            nodes: Vec::new(),
            started: 0,
            killed: BTreeSet::new(),
            reported: ReportedCalls::default(),
            doubts: Doubts::default(),
            log,
        }
    }

    /// Starts a node on the database at `url`. Returns its number.
    pub(crate) fn start(&mut self, url: &str) -> Result<usize> {
        let number = self.started;
        self.started += 1;
        let log = File::options().create(true).append(true).open(&self.log)?;
        let mut child = Command::new(std::env::current_exe()?)
            .args(["pg-node", "--name", &name_of(number), "--seed"])
            .arg((self.seed ^ ((number as u64 + 1) << 20)).to_string())
            .args(["--clients", &self.clients.to_string(), "--world"])
            .arg(&self.world.folder)
            .env(URL_VARIABLE, url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take().context("a pipe")?);
        let told = Arc::clone(&self.reported);
        let reader = Some(thread::spawn(move || read(number, output, &told)));
        self.nodes.push(Running { number, url: url.to_owned(), child, input, reader });
        Ok(number)
    }

    /// Sets the mean pause of all clients between two calls.
    pub(crate) fn pause(&mut self, pause: Duration) -> Result<()> {
        for node in &mut self.nodes {
            let input = node.input.as_mut().context("a node that ended")?;
            writeln!(input, "{}", pause.as_millis()).context("a node has ended by itself")?;
        }
        Ok(())
    }

    /// Kills the running node at index `place`, and starts another node on the same database.
    /// Returns the number of the new node.
    pub(crate) fn replace(&mut self, place: usize) -> Result<usize> {
        let mut node = self.nodes.remove(place);
        node.child.kill()?;
        node.child.wait()?;
        join(&mut node)?;
        self.killed.insert(name_of(node.number));
        self.start(&node.url)
    }

    /// Ends all nodes. Waits until the outcome of every call is known.
    pub(crate) fn stop(&mut self) -> Result<()> {
        for node in &mut self.nodes {
            node.input = None;
        }
        let begun = Instant::now();
        for mut node in std::mem::take(&mut self.nodes) {
            let status = loop {
                if let Some(status) = node.child.try_wait()? {
                    break status;
                }
                if begun.elapsed() > ENDED_WITHIN {
                    return Err(Broken::because("a node waits for outcomes for a minute"));
                }
                thread::sleep(INTERVAL);
            };
            let doubts = join(&mut node)?;
            self.doubts.iter_mut().zip(doubts).for_each(|(sum, count)| *sum += count);
            ensure!(status.success(), "a node failed; see {}", self.log.display());
        }
        Ok(())
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.reported().iter().map(|(_, call)| call.clone()).collect()
    }

    /// Returns the number of calls that were reported so far.
    pub(crate) fn count(&self) -> usize {
        self.reported().len()
    }

    /// Returns the number of clients of each node.
    pub(crate) fn clients(&self) -> usize {
        self.clients
    }

    /// Waits until a node reports a successful charge that was requested after `time`. Ignores a
    /// node if `nodes` returns `false` for its number. Also ignores the first `told` calls that
    /// were reported. Returns the time at which the node learnt that the charge has succeeded.
    pub(crate) fn wait_for_charge(
        &self,
        nodes: impl Fn(usize) -> bool,
        time: Micros,
        told: usize,
    ) -> Result<Micros> {
        let (begun, mut seen) = (Instant::now(), told);
        while begun.elapsed() < RESUMED_WITHIN {
            let calls = self.reported();
            let is_one = |(node, call): &&(usize, Call)| {
                nodes(*node) && call.is_charged() && call.asked_at > time
            };
            if let Some((_, call)) = calls[seen..].iter().find(is_one) {
                return Ok(call.ended_at);
            }
            seen = calls.len();
            drop(calls);
            thread::sleep(INTERVAL);
        }
        Err(Broken::because("charging did not resume within a minute"))
    }

    fn reported(&self) -> MutexGuard<'_, Vec<(usize, Call)>> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Errors are ignored, because the process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the name of a node. The request ids of the node begin with this name.
fn name_of(number: usize) -> String {
    format!("n{number}")
}

/// Reads the calls that a node reports, and the counts in the node's last line. Ignores an
/// incomplete last line of a killed node.
fn read(number: usize, output: ChildStdout, told: &ReportedCalls) -> Result<Doubts> {
    let mut output = BufReader::new(output);
    let mut line = String::new();
    let mut doubts = Doubts::default();
    while output.read_line(&mut line)? > 0 {
        if let Some(counts) = line.strip_prefix(DOUBTS) {
            for (sum, count) in doubts.iter_mut().zip(counts.split_whitespace()) {
                *sum = count.parse()?;
            }
        } else if let Some(whole) = line.strip_suffix('\n') {
            let call = whole.parse()?;
            told.lock().unwrap_or_else(PoisonError::into_inner).push((number, call));
        }
        line.clear();
    }
    Ok(doubts)
}

fn join(node: &mut Running) -> Result<Doubts> {
    let Some(reader) = node.reader.take() else { return Ok(Doubts::default()) };
    reader.join().map_err(|_| anyhow!("a reader panicked"))?
}
