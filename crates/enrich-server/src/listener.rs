//! A listening socket and its workers.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_http::{HttpService, KeepAlive};
use actix_server::Server;
use actix_service::{IntoServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::dev::AppConfig;
use actix_web::rt::net::TcpStream;
use actix_web::web::Data;
use socket2::{Domain, Socket, Type};

use crate::admission::{AdmissionControl, ConnectionSlots};
use crate::app::app;
use crate::chunked_body::PIECE_BYTES;
use crate::connection::{Connection, LINGER, StallTimeouts};
use crate::state::ListenerState;

/// Maximum number of connections in the accept queue. The system may allow fewer
/// (`net.core.somaxconn` on Linux).
const QUEUE: i32 = 4096;
/// Maximum number of bytes that the system buffers for a connection before it sends them
/// (`TCP_NOTSENT_LOWAT`). Without this limit, the system buffers megabytes for each client that
/// reads slowly.
#[cfg(target_os = "linux")]
const UNSENT_BYTES: u32 = 64 * 1024;

/// The limits of a listener.
#[derive(Clone, Copy, Debug)]
pub struct ListenerLimits {
    /// Number of worker threads.
    pub workers: NonZeroUsize,
    /// Maximum number of connections of all workers together. Guests (see `guests`) are not
    /// counted.
    pub connections: NonZeroUsize,
    /// Maximum number of connections from one client address; `None` for no limit.
    pub connections_per_address: Option<NonZeroUsize>,
    /// Maximum number of guests of each worker: connections beyond the limit, which get only the
    /// admin pages.
    pub guests: NonZeroUsize,
    /// The time limit for the head of a connection's first request.
    pub head: Duration,
    /// The time for which a connection stays open while it waits for the next request.
    pub keep_alive: Duration,
    /// Maximum times for which a connection may make no progress.
    pub stall_timeouts: StallTimeouts,
    /// The time for which a shutdown waits for requests that are being answered, in seconds.
    pub drain_seconds: u64,
}

/// A socket that is bound to an address.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds a socket to `address`; with port 0, the system chooses a free port. From then on,
    /// clients can connect. Their connections wait in the accept queue until [`Self::serve`] is
    /// called.
    ///
    /// # Errors
    ///
    /// An error of the system: for example, the address is in use or does not belong to this
    /// machine, or privileges are missing.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        // The connections that the socket accepts inherit this option.
        #[cfg(target_os = "linux")]
        socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
        socket.bind(&address.into())?;
        socket.listen(QUEUE)?;
        let socket = TcpListener::from(socket);
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// Returns the address to which the socket is bound.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Creates the HTTP server. The server runs while the returned value is polled. It ignores
    /// signals: call `stop` on its handle to end it.
    ///
    /// # Errors
    ///
    /// When the system does not accept the socket.
    pub fn serve(self, listener: ListenerState, limits: ListenerLimits) -> io::Result<Server> {
        // `ConnectionSlots` enforces the limit of connections for all workers together. actix-web
        // has only a limit for each worker. One worker may get all connections, and in addition its
        // guests (connections beyond the limit), so its limit must allow for both. The guests are
        // counted twice: when a new guest replaces an old one, the old connection ends a little
        // later than the new one begins.
        let per_worker = limits.connections.get().saturating_add(2 * limits.guests.get());
        let places = ConnectionSlots::new(limits.connections, limits.connections_per_address);
        let builder = Server::build()
            .workers(limits.workers.get())
            .max_concurrent_connections(per_worker)
            .shutdown_timeout(limits.drain_seconds)
            .disable_signals();
        let closing = builder.graceful_shutdown_signal();
        let server = builder.listen("http", self.socket, move || {
            // Each worker gets its own `Data`. With a shared `Data`, the workers would wait for
            // each other whenever they count references to it.
            let application = app(Data::new(listener.clone())).into_factory();
            let application = application.map_err(|error: actix_web::Error| error.error_response());
            let closing = closing.clone();
            let control = Rc::new(AdmissionControl::new(Arc::clone(&places), limits.guests));
            let http = HttpService::build()
                .keep_alive(KeepAlive::Timeout(limits.keep_alive))
                .client_request_timeout(limits.head)
                .client_disconnect_timeout(LINGER)
                .h1_write_buffer_size(PIECE_BYTES)
                .graceful_shutdown_signal(move || {
                    let closing = closing.clone();
                    async move { closing.notified().await }
                })
                .on_connect_ext(|connection: &Connection, extensions| {
                    extensions.insert(connection.signals());
                })
                .h1(map_config(application, |()| AppConfig::default()));
            fn_service(move |stream: TcpStream| {
                let control = Rc::clone(&control);
                async move {
                    // Most answers are written in one piece, so Nagle's algorithm, which collects
                    // small pieces, would only delay them.
                    stream.set_nodelay(true)?;
                    let peer = stream.peer_addr().ok();
                    let admission = control.admit(peer.map(|peer| peer.ip()));
                    let connection = Connection::new(stream, limits.stall_timeouts, admission);
                    Ok::<_, actix_http::error::DispatchError>((connection, peer))
                }
            })
            .and_then(http)
        })?;
        Ok(server.run())
    }
}
