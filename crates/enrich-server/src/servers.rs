//! The HTTP servers of a process: one for each listener.

use std::io;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use actix_server::{Server, ServerHandle};
use actix_web::rt::spawn;
use actix_web::rt::task::JoinHandle;
use futures_util::future::{Either, select};
use tracing::info;

use crate::connection::StallTimeouts;
use crate::listener::{Listener, ListenerLimits};
use crate::open_files;
use crate::serve_error::ServeError;
use crate::settings::ServerSettings;
use crate::state::{AppState, ListenerState, Serves};

/// The time limit for answering and charging a call. After this time, the connection is closed.
const ANSWER_TIME: Duration = Duration::from_secs(15);
/// Maximum time for which a client may read nothing while its answer is being sent.
const WRITE_TIME: Duration = Duration::from_secs(20);
/// Approximate maximum number of guests of all workers together. Guests are connections beyond the
/// limit, which may request only the admin pages. Each worker may have `GUESTS / workers + 1`.
const GUESTS: usize = 256;

/// The public server, and the server of the admin pages if these have a listener of their own.
pub(crate) struct Servers {
    public: Running,
    admin: Option<Running>,
}

struct Running {
    task: JoinHandle<io::Result<()>>,
    handle: ServerHandle,
}

impl Servers {
    pub(crate) fn start(
        app: &Arc<AppState>,
        public: Listener,
        admin: Option<Listener>,
        settings: &ServerSettings,
    ) -> Result<Self, ServeError> {
        let stall_timeouts = StallTimeouts {
            answer: settings.head_timeout + settings.body_timeout + ANSWER_TIME,
            write: WRITE_TIME,
        };
        let limits = ListenerLimits {
            workers: settings.workers,
            connections: open_files::connection_limit(settings.max_connections),
            connections_per_address: settings.max_connections_per_address,
            guests: NonZeroUsize::MIN.saturating_add(GUESTS / settings.workers),
            head: settings.head_timeout,
            keep_alive: settings.keep_alive,
            stall_timeouts,
            drain_seconds: settings.shutdown_timeout.as_secs(),
        };
        let serves = if admin.is_some() { Serves::Interface } else { Serves::Everything };
        let listener = ListenerState { app: Arc::clone(app), serves };
        let public = public.serve(listener, limits).map_err(ServeError::Server)?;
        // The admin pages have a worker of their own, so that they are answered even if all other
        // workers are busy.
        let limits = ListenerLimits { workers: NonZeroUsize::MIN, ..limits };
        let listener = ListenerState { app: Arc::clone(app), serves: Serves::Admin };
        let admin = admin.map(|admin| admin.serve(listener, limits)).transpose();
        let admin = admin.map_err(ServeError::Server)?;
        Ok(Self { public: Running::start(public), admin: admin.map(Running::start) })
    }

    /// Returns an error if a server has ended. This is called just after the start, so the error
    /// means that the server could not start.
    pub(crate) async fn still_run(&mut self) -> Result<(), ServeError> {
        for server in [Some(&mut self.public), self.admin.as_mut()].into_iter().flatten() {
            if server.task.is_finished() {
                return server.ended().await;
            }
        }
        Ok(())
    }

    /// Waits for `stop`. Returns an error if a server ends before `stop` does.
    pub(crate) async fn until(&mut self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
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

    /// Stops accepting connections, and waits for the requests that are being answered. If the
    /// admin pages have a listener of their own, requests for them are answered during this wait.
    pub(crate) async fn stop(self) {
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

    /// Waits until the server ends. Always returns an error, because the server must not end
    /// before `stop` is called on its handle.
    async fn ended(&mut self) -> Result<(), ServeError> {
        match (&mut self.task).await {
            Ok(Ok(())) => Err(ServeError::Ended),
            Ok(Err(error)) => Err(ServeError::Server(error)),
            Err(error) => Err(ServeError::Server(io::Error::other(error))),
        }
    }
}
