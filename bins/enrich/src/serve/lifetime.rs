//! The life of the serving process: it listens, it says so, it answers, it is told to stop, it
//! lets go.

mod tidying;

use std::future::Future;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use actix_rt::task::{JoinHandle, spawn_blocking, yield_now};
use actix_rt::time::timeout;
use actix_rt::{System, spawn};
use actix_server::{Server, ServerHandle};
use anyhow::{Context, anyhow};
use enrich_bulk::Jobs;
use enrich_bulk::jobs::MeteredCallers;
use enrich_core::port::sign_ins::SignIns;
use enrich_core::{RateLimit, Service};
use enrich_dashboard::{Dashboard, Parts};
use futures_util::future::{Either, select};
use tracing::{error, info, warn};

use crate::http::{AppState, Listener, ListenerLimits, ListenerState, Serves, StallTimeouts};
use crate::interface::API_VERSIONS;
use crate::open_files;
use crate::settings::{Settings, seconds};
use tidying::tidy;

/// What a look-up and its charge may take before their connection is given up.
const ANSWER_TIME: Duration = Duration::from_secs(15);
/// How many connections are let in for the health pages alone, when all places are taken, by all
/// workers together.
const GUESTS: usize = 256;
/// How long the reader of an answer may take none of it.
const WRITE_TIME: Duration = Duration::from_secs(20);
/// How long the writing of the usage counters may take at the end.
const FLUSH_TIME: Duration = Duration::from_secs(2);
/// How long rows of lists may be on their way at the end.
const CLOSE_TIME: Duration = Duration::from_secs(1);
/// How long everything after the waiting for requests may take at the end. With the default of
/// 5 seconds for that, the process is gone 9 seconds after it was told to go.
const LETTING_GO: Duration = Duration::from_secs(4);

/// Serves until the process is told to stop (SIGTERM, Ctrl-C), then lets requests in flight end.
///
/// The address is taken first, so that a second server ends before it touches any data. `prepare`
/// is then told the address; it gives what is served.
///
/// # Errors
///
/// When an address cannot be listened on, `prepare` fails, or the system gives no threads or
/// signals.
pub(crate) fn serve(
    settings: &Settings,
    prepare: impl FnOnce(SocketAddr) -> anyhow::Result<Prepared>,
) -> anyhow::Result<()> {
    let public = bind(settings.listen)?;
    let admin = settings.admin_listen.map(bind).transpose()?;
    let addresses = (public.address(), admin.as_ref().map(Listener::address));
    System::new().block_on(async {
        let stop = told_to_stop().context("signals cannot be listened for")?;
        let prepared = prepare(public.address())?;
        let sign_ins = Arc::clone(&prepared.sign_ins);
        let (app, jobs, greeting) = app(prepared, public.address(), settings)?;
        let app = Arc::new(app);
        let mut servers = Servers::start(&app, public, admin, settings)?;
        // The servers begin when they are polled for the first time.
        yield_now().await;
        servers.still_run().await?;
        let (lists, signed_in) = (jobs.clone(), Arc::clone(&sign_ins));
        let tidying = spawn(tidy(Arc::clone(&app), lists, signed_in));
        greet(addresses, &greeting);
        let ended = servers.until(stop).await;
        watch_the_clock(settings);
        app.begin_closing();
        servers.stop().await;
        tidying.abort();
        if let Some(jobs) = jobs {
            close(jobs).await;
        }
        flush(app.service()).await;
        ended
    })
}

/// What is served.
pub(crate) struct Prepared {
    /// The service.
    pub(crate) service: Service,
    /// Who signs in to the account page.
    pub(crate) sign_ins: Arc<dyn SignIns>,
    /// Where the lists of the account page are kept.
    pub(crate) lists: PathBuf,
    /// What is printed on standard output after the line that names the address.
    pub(crate) greeting: String,
}

/// What all workers share, the lists that are looked up, and what is printed.
fn app(
    prepared: Prepared,
    listens_on: SocketAddr,
    settings: &Settings,
) -> anyhow::Result<(AppState, Option<Arc<Jobs>>, String)> {
    let Prepared { mut service, sign_ins, lists, greeting } = prepared;
    let limit = RateLimit::new(settings.rate_limit.get(), settings.rate_window.get());
    service.rate_limit = limit.unwrap_or_default();
    service.account_rate_limit = settings
        .account_rate_limit
        .and_then(|requests| RateLimit::new(requests.get(), settings.rate_window.get()));
    service.rate_policy = settings.rate_policy.into();
    service.max_enrichment_items = settings.max_enrichment_items;
    let service = Arc::new(service);
    let body_timeout = seconds(settings.body_timeout);
    let app = AppState::new(Arc::clone(&service), body_timeout, settings.log_requests);
    if settings.no_account_page {
        return Ok((app, None, greeting));
    }
    let job_settings = settings.jobs();
    let callers = Arc::new(MeteredCallers(Arc::clone(&service)));
    let clock = Arc::clone(&service.clock);
    let jobs = Jobs::open(&lists, &API_VERSIONS, callers, clock, job_settings);
    let jobs = jobs.with_context(|| format!("the lists in {} cannot be used", lists.display()))?;
    let jobs = Arc::new(jobs);
    tell_of(&jobs, &lists);
    let parts = Parts {
        service,
        api_versions: &API_VERSIONS,
        sign_ins,
        jobs: Arc::clone(&jobs),
        job_settings,
    };
    let dashboard = Dashboard::new(parts, settings.dashboard(listens_on));
    let dashboard = dashboard.context("the account page cannot be served")?;
    Ok((app.with_dashboard(dashboard), Some(jobs), greeting))
}

/// Says which lists there are none of, and why.
fn tell_of(jobs: &Jobs, lists: &Path) {
    if jobs.are_elsewhere() {
        let folder = lists.display();
        warn!(%folder, "another process keeps the lists; they are taken over once it has ended");
    }
    for folder in jobs.set_aside() {
        let folder = folder.display();
        warn!(%folder, "a list could not be read and was set aside; its files are all there");
    }
}

/// Binds an address, and says what to do when it is taken.
fn bind(address: SocketAddr) -> anyhow::Result<Listener> {
    Listener::bind(address).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "; another program listens there: name another address with --listen, or port 0 \
                 for any that is free, as in --listen 127.0.0.1:0"
            }
            io::ErrorKind::PermissionDenied => "; ports below 1024 need privileges",
            _ => "",
        };
        anyhow!(error).context(format!("cannot listen on {address}{hint}"))
    })
}

/// The servers behind the listeners.
struct Servers {
    public: Running,
    admin: Option<Running>,
}

/// A server that runs as a task.
struct Running {
    task: JoinHandle<io::Result<()>>,
    handle: ServerHandle,
}

impl Servers {
    fn start(
        app: &Arc<AppState>,
        public: Listener,
        admin: Option<Listener>,
        settings: &Settings,
    ) -> anyhow::Result<Self> {
        let stall_timeouts = StallTimeouts {
            answer: seconds(settings.head_timeout) + seconds(settings.body_timeout) + ANSWER_TIME,
            write: WRITE_TIME,
        };
        let limits = ListenerLimits {
            workers: settings.workers(),
            connections: open_files::places(settings.max_connections),
            connections_per_address: settings.connections_per_address(),
            guests: NonZeroUsize::MIN.saturating_add(GUESTS / settings.workers()),
            head: seconds(settings.head_timeout),
            keep_alive: seconds(settings.keep_alive),
            stall_timeouts,
            drain_seconds: settings.shutdown_timeout.into(),
        };
        let serves = if admin.is_some() { Serves::Endpoints } else { Serves::Everything };
        let listener = ListenerState { app: Arc::clone(app), serves };
        let public = Running::start(public.serve(listener, limits)?);
        // A worker of its own: whether the service is well can be asked when all others are busy.
        let limits = ListenerLimits { workers: NonZeroUsize::MIN, ..limits };
        let listener = ListenerState { app: Arc::clone(app), serves: Serves::Pages };
        let admin = admin.map(|admin| admin.serve(listener, limits)).transpose()?;
        Ok(Self { public, admin: admin.map(Running::start) })
    }

    /// Fails when a server did not start.
    async fn still_run(&mut self) -> anyhow::Result<()> {
        for server in [Some(&mut self.public), self.admin.as_mut()].into_iter().flatten() {
            if server.task.is_finished() {
                return server.ended().await;
            }
        }
        Ok(())
    }

    /// Waits for `stop`; fails when a server ends before.
    async fn until(&mut self, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
        let admin = async {
            match &mut self.admin {
                Some(admin) => admin.ended().await,
                None => std::future::pending().await,
            }
        };
        let ended = async { select(pin!(self.public.ended()), pin!(admin)).await.factor_first().0 };
        match select(pin!(stop), pin!(ended)).await {
            Either::Left(((), _)) => {
                info!("told to stop; letting requests in flight end");
                Ok(())
            }
            Either::Right((ended, _)) => ended,
        }
    }

    /// Stops accepting and waits for requests in flight. Until they are done, whether the service
    /// is ready can still be asked.
    async fn stop(self) {
        self.public.handle.stop(true).await;
        if let Some(admin) = self.admin {
            admin.handle.stop(false).await;
        }
    }
}

impl Running {
    fn start(server: Server) -> Self {
        let handle = server.handle();
        Self { task: spawn(server), handle }
    }

    /// Waits for the end of the server, which is an error unless it was told to stop.
    async fn ended(&mut self) -> anyhow::Result<()> {
        let ended = (&mut self.task).await.context("the server failed")?;
        ended.context("the server cannot run")?;
        Err(anyhow!("the server ended by itself"))
    }
}

/// Prints where the service listens: the line that others wait for.
fn greet((public, admin): (SocketAddr, Option<SocketAddr>), more: &str) {
    info!(%public, admin = admin.map(tracing::field::display), "listening");
    let mut lines = format!("enrich listening on http://{public}\n");
    if let Some(admin) = admin {
        lines += &format!("enrich admin pages on http://{admin}\n");
    }
    lines += more;
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(lines.as_bytes()).and_then(|()| out.flush()) {
        warn!(%error, "where the service listens cannot be printed");
    }
}

/// Lets rows on their way arrive; lists that run go on with the next start.
async fn close(jobs: Arc<Jobs>) {
    if timeout(CLOSE_TIME, spawn_blocking(move || jobs.close())).await.is_err() {
        warn!("rows of lists were still on their way; they are asked again, and not paid twice");
    }
}

/// Writes the usage counters. The ledger needs nothing here: whatever was answered is durable.
async fn flush(service: &Service) {
    match timeout(FLUSH_TIME, service.usage.flush()).await {
        Ok(Ok(())) => info!("stopped"),
        Ok(Err(error)) => error!(
            error = crate::explained::explained(&error),
            "the last usage counters could not be written"
        ),
        Err(_) => error!("the last usage counters could not be written in time"),
    }
}

/// Sees to it that the process ends whatever is stuck: a disk, a caller. Everything that was
/// answered is durable by then.
fn watch_the_clock(settings: &Settings) {
    let limit = Duration::from_secs(settings.shutdown_timeout.into()) + LETTING_GO;
    let end = move || {
        std::thread::sleep(limit);
        error!("something is stuck; leaving all the same");
        std::process::exit(0);
    };
    let started = std::thread::Builder::new().name("enrich-end".to_owned()).spawn(end);
    if let Err(error) = started {
        warn!(%error, "the end of the process is not watched");
    }
}

/// Waits for SIGTERM or SIGINT.
#[cfg(unix)]
fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    use actix_rt::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        select(pin!(terminate.recv()), pin!(interrupt.recv())).await;
    })
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if actix_rt::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
