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

/// The most connections in the accept queue; the system may allow fewer (`net.core.somaxconn` on
/// Linux).
const QUEUE: i32 = 4096;
/// The most unsent bytes that the system buffers for a connection (`TCP_NOTSENT_LOWAT`), without
/// bytes in flight. By default, the system buffers megabytes for each slow reader.
#[cfg(target_os = "linux")]
const UNSENT_BYTES: u32 = 64 * 1024;

/// Limits of a listener.
#[derive(Clone, Copy, Debug)]
pub struct ListenerLimits {
    /// Number of worker threads.
    pub workers: NonZeroUsize,
    /// The most connections, over all workers.
    pub connections: NonZeroUsize,
    /// The most connections from one address; `None` for no limit.
    pub connections_per_address: Option<NonZeroUsize>,
    /// The most additional connections per worker, for health pages only.
    pub guests: NonZeroUsize,
    /// Time limit for the head of a connection's first request.
    pub head: Duration,
    /// The time for which an idle connection is kept open between requests.
    pub keep_alive: Duration,
    /// How long a connection may make no progress.
    pub stall_timeouts: StallTimeouts,
    /// Time to wait for requests in flight at shutdown, in seconds.
    pub drain_seconds: u64,
}

/// A bound socket.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds `address`; port 0 selects a free port. From then on, new connections wait in the
    /// accept queue.
    ///
    /// # Errors
    ///
    /// Errors of the system: the address is in use, does not belong to this machine, or needs
    /// privileges.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        // Accepted connections inherit this option.
        #[cfg(target_os = "linux")]
        socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
        socket.bind(&address.into())?;
        socket.listen(QUEUE)?;
        let socket = TcpListener::from(socket);
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// The address that the socket is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Creates the server. The server runs while it is polled, and stops only through its handle.
    ///
    /// # Errors
    ///
    /// When the system refuses the socket.
    pub fn serve(self, listener: ListenerState, limits: ListenerLimits) -> io::Result<Server> {
        // `ConnectionSlots` enforces the limit. Each worker must allow all connections, because one
        // worker may get all of them.
        let per_worker = limits.connections.get().saturating_add(2 * limits.guests.get());
        let places = ConnectionSlots::new(limits.connections, limits.connections_per_address);
        let builder = Server::build()
            .workers(limits.workers.get())
            .max_concurrent_connections(per_worker)
            .shutdown_timeout(limits.drain_seconds)
            .disable_signals();
        let closing = builder.graceful_shutdown_signal();
        let server = builder.listen("http", self.socket, move || {
            // Each worker gets its own `Data`, to avoid contention on the reference count.
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
                    // Each answer is written in one piece, so Nagle's algorithm would only delay
                    // it.
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
