//! Runs a server process from start to shutdown.

use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use actix_web::rt::System;
use enrich_bulk::Jobs;
use enrich_bulk::jobs::MeteredCallers;
use enrich_core::Service;
use enrich_core::port::jobs::JobRecords;
use enrich_dashboard::{Dashboard, Parts};
use enrich_sign_in::SignIns;
use tokio::task::yield_now;
use tracing::{info, warn};

use crate::listener::Listener;
use crate::serve_error::ServeError;
use crate::servers::Servers;
use crate::settings::ServerSettings;
use crate::shutdown::{TimeLimit, stop_signal};
use crate::state::{AppState, SharedStore};
use crate::upkeep::{self, Upkeep};
use crate::versions::API_VERSIONS;

/// What a server serves: the service, and the stores of the account page.
pub struct Prepared {
    /// The metered service, which answers calls.
    pub service: Service,
    /// The store of the sign-ins to the account page.
    pub sign_ins: Arc<dyn SignIns>,
    /// The folder with the lists (files of rows to look up) that account owners upload.
    pub lists: PathBuf,
    /// The records about uploaded lists, in a store that several processes share; `None` if this
    /// process is the only one. If `shares_lists` is true, every process can work on every list
    /// through these records. Otherwise, a process only uses them to announce its own lists to the
    /// others.
    pub job_records: Option<Arc<dyn JobRecords>>,
    /// Whether all server processes that share the store also share the folder `lists`.
    pub shares_lists: bool,
    /// The store that this process shares with others; `None` if it uses a data folder.
    pub shared_store: Option<SharedStore>,
    /// The text that is printed on standard output after the line with the address.
    pub greeting: String,
}

/// Serves until SIGTERM or Ctrl-C, and then finishes the requests that are being answered.
///
/// The address is bound first, so a second server with the same address fails before it opens any
/// data. Then `prepare` is called with the bound address, and returns the service and the stores to
/// serve.
///
/// If the shutdown takes longer than [`ServerSettings::shutdown_timeout`] plus 4 seconds, the
/// process ends with the exit status 2.
///
/// # Errors
///
/// When an address cannot be bound, when `prepare` fails, or when the operating system provides no
/// threads or signal handlers.
pub fn serve<E: Into<Box<dyn Error + Send + Sync>>>(
    settings: &ServerSettings,
    prepare: impl FnOnce(SocketAddr) -> Result<Prepared, E>,
) -> Result<(), ServeError> {
    let public = bind(settings.listen)?;
    let admin = settings.admin_listen.map(bind).transpose()?;
    let addresses = (public.address(), admin.as_ref().map(Listener::address));
    let mut time_limit = None;
    let ended = System::new().block_on(async {
        let stop = stop_signal().map_err(ServeError::Signals)?;
        let prepared =
            prepare(public.address()).map_err(|error| ServeError::Prepare(error.into()))?;
        let sign_ins = Arc::clone(&prepared.sign_ins);
        let (app, jobs, greeting) = app_state(prepared, public.address(), settings)?;
        let app = Arc::new(app);
        let mut servers = Servers::start(&app, public, admin, settings)?;
        // Lets the tasks of the servers run, because a server starts only when its task is first
        // polled.
        yield_now().await;
        servers.still_run().await?;
        let upkeep = Upkeep::start(Arc::clone(&app), jobs.clone(), sign_ins);
        greet(addresses, &greeting);
        let ended = servers.until(stop).await;
        time_limit = Some(TimeLimit::start(settings.shutdown_timeout));
        app.begin_closing();
        servers.stop().await;
        upkeep.stop();
        if let Some(jobs) = jobs {
            upkeep::close(jobs).await;
        }
        upkeep::flush(app.service()).await;
        ended
    });
    // At the end of the statement above, the async runtime waits for its blocking tasks, such as
    // writing to a disk. The time limit of the shutdown ends only here, so that it includes this
    // wait.
    drop(time_limit);
    ended
}

/// Creates the state that all listeners share, and opens the uploaded lists. Returns the state, the
/// lists (`None` without an account page), and the text that the process prints after the line with
/// its address.
fn app_state(
    prepared: Prepared,
    listens_on: SocketAddr,
    settings: &ServerSettings,
) -> Result<(AppState, Option<Arc<Jobs>>, String), ServeError> {
    let Prepared { service, sign_ins, lists, job_records, shares_lists, shared_store, greeting } =
        prepared;
    let service = Arc::new(service);
    let app = AppState::new(Arc::clone(&service), settings.body_timeout, settings.logs_requests)
        .with_shared_store(shared_store);
    let Some(account_page) = &settings.account_page else { return Ok((app, None, greeting)) };
    let job_settings = account_page.jobs;
    let callers = Arc::new(MeteredCallers(Arc::clone(&service)));
    let clock = Arc::clone(&service.clock);
    let jobs = match &job_records {
        Some(records) if shares_lists => {
            let records = Arc::clone(records);
            Jobs::open_shared(&lists, records, &API_VERSIONS, callers, clock, job_settings)
        }
        _ => Jobs::open(&lists, &API_VERSIONS, callers, clock, job_settings),
    };
    let announced = jobs.and_then(|jobs| {
        job_records.map_or(Ok(()), |records| jobs.announce_to(records))?;
        Ok(jobs)
    });
    let jobs = Arc::new(announced.map_err(|error| ServeError::Lists {
        folder: lists.display().to_string(),
        source: error.into(),
    })?);
    log_jobs(&jobs, &lists);
    let parts = Parts {
        service,
        api_versions: &API_VERSIONS,
        sign_ins,
        jobs: Arc::clone(&jobs),
        job_settings,
    };
    let mut dashboard = account_page.dashboard.clone();
    dashboard.listens_on = Some(listens_on);
    let dashboard = Dashboard::new(parts, dashboard).map_err(ServeError::AccountPage)?;
    Ok((app.with_dashboard(dashboard), Some(jobs), greeting))
}

/// Logs which uploaded lists this server does not serve, and why.
fn log_jobs(jobs: &Jobs, lists: &Path) {
    if jobs.are_elsewhere() {
        let folder = lists.display();
        warn!(%folder, "another process keeps the lists; they are taken over once it has ended");
    }
    for folder in jobs.set_aside() {
        let folder = folder.display();
        warn!(%folder, "a list could not be read and was set aside; its files are all there");
    }
}

fn bind(address: SocketAddr) -> Result<Listener, ServeError> {
    Listener::bind(address).map_err(|source| {
        let hint = match source.kind() {
            io::ErrorKind::AddrInUse => {
                "; another program listens there: name another address with --listen, or port 0 \
                 for any that is free, as in --listen 127.0.0.1:0"
            }
            io::ErrorKind::PermissionDenied => "; ports below 1024 need privileges",
            _ => "",
        };
        ServeError::Listen { address, hint, source }
    })
}

/// Prints the addresses on which the server listens, and then the text `more`. Scripts wait for
/// the line with the address.
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
