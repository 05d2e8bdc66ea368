//! Measures one workload on the services and on the yardstick (the bare server of `enrich-bench
//! echo`). All of them run during the whole measurement, but only one at a time gets load.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use enrich_testkit::serving::Serving;

use crate::call::{Outcome, domain_to_name};
use crate::client;
use crate::echo;
use crate::folder::World;
use crate::part::Part;
use crate::prober::{Sampled, check_sample, send};
use crate::process::Process;
use crate::program::{Data, Program};
use crate::reconciliation::{Expected, Prices, Reconciliation};
use crate::workload::{Plan, Workload};
use crate::wrk::{Wrk, WrkSummary};
use enrich_testkit::http::{Connection, Reply};

/// The answers of the yardstick (the bare server of `enrich-bench echo`) must be about as long as
/// those of the service. Their mean sizes may differ by at most this share: 0.1 is 10 % of the
/// service's mean size.
const SIZE_TOLERANCE: f64 = 0.1;

const READY_WITHIN: Duration = Duration::from_secs(120);

/// The settings of a run. They are the same for all its workloads.
pub(crate) struct Setup {
    pub(crate) program: Program,
    pub(crate) wrk: PathBuf,
    pub(crate) prices: Prices,
    pub(crate) folder: PathBuf,
    pub(crate) targets: Vec<Target>,
}

/// A service to measure: its servers and their data.
pub(crate) struct Target {
    /// The name of the service in the report.
    pub(crate) name: String,
    pub(crate) world: World,
    /// For each server of this service: its data folder and, if it uses one, its PostgreSQL
    /// database. All these servers have the same accounts.
    pub(crate) servers: Vec<Data>,
}

impl Target {
    /// Returns the data of the first server, for commands that read the accounts or the ledger.
    /// Every other server has the same accounts and the same ledger.
    pub(crate) fn data(&self) -> anyhow::Result<&Data> {
        self.servers.first().context("a service without a server")
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) seconds: u64,
    /// The number of the measurement round; 0 is the warm-up.
    pub(crate) round: u64,
}

/// A workload (a kind of load), and the servers that are measured under it.
pub(crate) struct Contest {
    workload: Workload,
    yardstick: Server,
    services: Vec<Service>,
    /// Sentences about the requests. The report prints them.
    pub(crate) notes: Vec<String>,
}

/// One or several servers that receive load at the same time, and their load generator.
struct Server {
    servings: Vec<Serving>,
    processes: Vec<Process>,
    wrk: Wrk,
}

struct Service {
    server: Server,
    outcome: Outcome,
    /// Requests whose answers are checked, before the warm-up and during it.
    sample: Vec<Sampled>,
    reconciliation: Reconciliation,
    /// The time from the start of the servers to the first charged answer. It includes the wait
    /// until all servers are ready.
    first_answer: Duration,
}

/// What one service charged under a workload, and the time until its first charged answer. This is
/// not the account of a customer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    pub(crate) charges: u64,
    pub(crate) credits: u64,
    pub(crate) first_answer: Duration,
}

impl Contest {
    /// Starts the servers, selects the requests, and checks the answers to a sample of the
    /// requests.
    pub(crate) fn open(setup: &Setup, workload: Workload) -> anyhow::Result<Self> {
        let (mut services, mut notes, mut first) = (Vec::new(), Vec::new(), None);
        for (place, target) in setup.targets.iter().enumerate() {
            let name = &target.name;
            let opened = Service::open(setup, workload, place, target);
            let (service, plan, answers) =
                opened.with_context(|| format!("the service, {name}"))?;
            notes.extend(plan.note.as_ref().map(|note| format!("{name}: {note}")));
            services.push(service);
            first.get_or_insert((plan, answers));
        }
        let (plan, answers) = first.context("there is no folder to serve")?;
        let yardstick = Server::yardstick(setup, workload, &plan, &answers);
        let yardstick = yardstick.context("the yardstick")?;
        Ok(Self { workload, yardstick, services, notes })
    }

    /// Puts load on every server, one after the other. The yardstick (the bare server of
    /// `enrich-bench echo`) is the first in even rounds and the last in odd rounds. Returns the
    /// measurements: those of the yardstick first, then those of the services.
    pub(crate) fn round(&mut self, setup: &Setup, load: Load) -> anyhow::Result<Vec<Part>> {
        let mut parts = vec![None; 1 + self.services.len()];
        let mut order: Vec<usize> = (0..parts.len()).collect();
        if load.round % 2 == 1 {
            order.reverse();
        }
        for place in order {
            let at = place.saturating_sub(1);
            if let Some(calls) = self.workload.redraw(&setup.targets[at].world, load.round)? {
                self.server(place).wrk.replace_calls(&calls)?;
            }
            let part = match place.checked_sub(1) {
                None => self.yardstick.part(self.workload, load).map(|(_, part)| part),
                Some(at) => self.services[at].part(self.workload, load, &setup.prices),
            };
            parts[place] = Some(part.with_context(|| self.description(setup, place, load))?);
        }
        Ok(parts.into_iter().flatten().collect())
    }

    fn server(&self, place: usize) -> &Server {
        place.checked_sub(1).map_or(&self.yardstick, |at| &self.services[at].server)
    }

    fn description(&self, setup: &Setup, place: usize, load: Load) -> String {
        let server = match place.checked_sub(1) {
            None => "the yardstick".to_owned(),
            Some(at) => format!("the service, {}", setup.targets[at].name),
        };
        let Load { connections, round, .. } = load;
        format!("{}, {connections} connections, round {round}, {server}", self.workload)
    }

    /// Stops the servers. Returns the charges and the time until the first answer of each service.
    pub(crate) fn close(self) -> anyhow::Result<Vec<Account>> {
        self.yardstick.stop()?;
        let close = |service: Service| {
            let (charges, credits) = service.reconciliation.charged();
            service.server.stop()?;
            Ok(Account { charges, credits, first_answer: service.first_answer })
        };
        self.services.into_iter().map(close).collect()
    }
}

impl Service {
    fn open(
        setup: &Setup,
        workload: Workload,
        place: usize,
        target: &Target,
    ) -> anyhow::Result<(Self, Plan, Vec<Reply>)> {
        let Setup { program, prices, .. } = setup;
        let (world, data) = (&target.world, target.data()?);
        let credits_before = program.balances(data)?;
        let log = setup.folder.join(format!("service-{place}.log"));
        let log = File::options().create(true).append(true).open(log)?;
        let (started, mut servings) = (Instant::now(), Vec::new());
        for data in &target.servers {
            servings.push(program.serve(data, &workload.options(), log.try_clone()?)?);
        }
        let addresses: Vec<_> = servings.iter().map(Serving::address).collect();
        for address in &addresses {
            wait_until_ready(*address)?;
        }
        let address = *addresses.first().context("a service without a server")?;
        first_answer(world, address, prices)?;
        let first_answer = started.elapsed();

        let mut reconciliation =
            Reconciliation::new(program, data.clone(), addresses.clone(), credits_before);
        let plan = workload.plan(world, address, prices)?;
        reconciliation.reconcile()?;
        let answers = check_shares(&addresses, &plan.sample, plan.outcome, prices)?;
        let asked = plan.sample.len() as u64;
        reconciliation
            .expect(&Expected { outcome: plan.outcome, answers: asked..=asked }, prices)?;
        let server = Server::new(setup, servings, &format!("{workload}-{place}"), &plan)?;
        let (outcome, sample) = (plan.outcome, plan.sample.clone());
        Ok((Self { server, outcome, sample, reconciliation, first_answer }, plan, answers))
    }

    fn part(&mut self, workload: Workload, load: Load, prices: &Prices) -> anyhow::Result<Part> {
        let checks_answers = load.round == 0 && workload != Workload::Keyed;
        let (loaded, checked) = if checks_answers {
            self.checked(workload, load, prices)?
        } else {
            (self.server.part(workload, load)?, 0)
        };
        let (summary, part) = loaded;
        // At the end, the load generator closes its connections. On each connection, the server
        // may have answered one more request, which the load generator has not counted.
        let least = summary.requests + checked;
        let answers = least..=least + load.connections as u64;
        self.reconciliation.expect(&Expected { outcome: self.outcome, answers }, prices)?;
        Ok(part)
    }
}

impl Service {
    /// Puts load on the server. Meanwhile, sends the requests of the sample again and again, and
    /// checks that their answers are right under load too. Only the warm-up calls this function.
    /// Returns the results of the load generator, and the number of checked answers.
    fn checked(
        &self,
        workload: Workload,
        load: Load,
        prices: &Prices,
    ) -> anyhow::Result<((WrkSummary, Part), u64)> {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let checking = scope.spawn(|| {
                let (addresses, mut number) = (self.server.addresses(), 0);
                while !is_over.load(Ordering::Relaxed) {
                    number += check_shares(&addresses, &self.sample, self.outcome, prices)?.len();
                }
                anyhow::Ok(number as u64)
            });
            let loaded = self.server.part(workload, load);
            is_over.store(true, Ordering::Relaxed);
            let checked = checking.join().map_err(|_| anyhow!("the check panicked"))?;
            let checked = checked.context("while it was loaded")?;
            Ok((loaded?, checked))
        })
    }
}

/// Waits until `/readyz` says that the server is ready. Before that, a server that uses PostgreSQL
/// may refuse to charge.
pub(crate) fn wait_until_ready(address: SocketAddr) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        match client::get(address, "/readyz") {
            Ok(_) => return Ok(()),
            Err(error) if started.elapsed() > READY_WITHIN => {
                return Err(error.context("the server does not get ready"));
            }
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Sends an equal share of the sample to each server, and checks the answers.
fn check_shares(
    addresses: &[SocketAddr],
    sample: &[Sampled],
    outcome: Outcome,
    prices: &Prices,
) -> anyhow::Result<Vec<Reply>> {
    let share = sample.len().div_ceil(addresses.len().max(1)).max(1);
    let mut answers = Vec::with_capacity(sample.len());
    for (address, sample) in addresses.iter().zip(sample.chunks(share)) {
        answers.extend(check_sample(*address, sample, outcome, prices)?);
    }
    Ok(answers)
}

/// Looks up one company, which must be found and charged. This is the service's first answer.
fn first_answer(world: &World, address: SocketAddr, prices: &Prices) -> anyhow::Result<()> {
    let company = world.generated.company(0)?;
    let call = domain_to_name(company.domain(), &company.name);
    let key = world.keys.many.first().context("there are no keys")?;
    let price = prices.get(call.path).copied().unwrap_or_default();
    let answer = Connection::to(address).send(&call.request(key, None))?;
    call.check(&answer, Outcome::Found, price)
}

impl Server {
    fn new(setup: &Setup, servings: Vec<Serving>, name: &str, plan: &Plan) -> anyhow::Result<Self> {
        let folder = setup.folder.join(name);
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        let wrk = Wrk::new(&setup.wrk, &folder, &plan.requests)?;
        let processes = servings.iter().map(|serving| Process::with_id(serving.process_id()));
        let processes = processes.collect::<Result<_, _>>()?;
        Ok(Self { servings, processes, wrk })
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        self.servings.iter().map(Serving::address).collect()
    }

    fn stop(self) -> anyhow::Result<()> {
        Ok(self.servings.into_iter().try_for_each(Serving::stop)?)
    }

    fn sum(&self, measure: fn(&Process) -> anyhow::Result<u64>) -> anyhow::Result<u64> {
        self.processes.iter().map(measure).sum()
    }

    /// Starts a yardstick (the bare server of `enrich-bench echo`). Its answers are about as long
    /// as `answers`, the answers of a service.
    fn yardstick(
        setup: &Setup,
        workload: Workload,
        plan: &Plan,
        answers: &[Reply],
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("echo");
        for (path, bytes) in text_bytes(&plan.sample, answers) {
            command.args(["--answer", &format!("{path}={bytes}")]);
        }
        let serving = Serving::spawn(command, Stdio::inherit())?;
        let echoed = send(serving.address(), &plan.sample)?;
        ensure!(echoed.iter().all(|answer| answer.status == 200), "it refuses a request");
        let (size, wanted) = (mean_bytes(&echoed), mean_bytes(answers));
        ensure!(
            (size - wanted).abs() <= wanted * SIZE_TOLERANCE,
            "its answers have {size:.0} bytes and the service's {wanted:.0}"
        );
        Self::new(setup, vec![serving], &format!("{workload}-yardstick"), plan)
    }

    fn part(&self, workload: Workload, load: Load) -> anyhow::Result<(WrkSummary, Part)> {
        let Load { connections, seconds, round } = load;
        let name = format!("{workload}-{connections}-{round}");
        let before = self.sum(Process::processor_micros)?;
        let summary = self.wrk.run(&self.addresses(), (connections, seconds), round, &name)?;
        let used = self.sum(Process::processor_micros)?.saturating_sub(before);
        let private_bytes = self.sum(Process::private_bytes)? as f64;
        summary.check()?;
        let part = Part {
            requests_per_second: summary.requests_a_second(),
            p50_micros: summary.p50 as f64,
            p99_micros: summary.p99 as f64,
            p99_9_micros: summary.p99_9 as f64,
            processor_micros: used as f64 / summary.requests as f64,
            private_bytes,
        };
        Ok((summary, part))
    }
}

/// Returns, for each API path, how many bytes of text the yardstick (the bare server) must put into
/// each answer. With this text, its answers are on average as long as those of the service. The
/// request's input does not count, because both servers repeat it in their answers.
fn text_bytes(sample: &[Sampled], answers: &[Reply]) -> BTreeMap<&'static str, usize> {
    let mut sums: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    for (Sampled { call, .. }, answer) in sample.iter().zip(answers) {
        let query = call.inputs.first().map_or(0, |(_, text)| text.len());
        let (bytes, number) = sums.entry(call.path).or_default();
        *bytes += answer.body.len().saturating_sub(query + echo::bare_bytes());
        *number += 1;
    }
    sums.into_iter().map(|(path, (bytes, number))| (path, bytes / number)).collect()
}

fn mean_bytes(answers: &[Reply]) -> f64 {
    let sum: usize = answers.iter().map(|answer| answer.body.len()).sum();
    sum as f64 / answers.len().max(1) as f64
}
