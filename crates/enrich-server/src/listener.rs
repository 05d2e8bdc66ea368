//! A listening socket and the workers behind it.

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

use crate::admission::{ConnectionSlots, Reception};
use crate::app::app;
use crate::chunked_body::PIECE_BYTES;
use crate::connection::{Connection, LINGER, StallTimeouts};
use crate::state::ListenerState;

/// How many connections wait in the system's queue until a worker takes them; it may allow fewer
/// (`net.core.somaxconn` on Linux).
const QUEUE: i32 = 4096;
/// What the system keeps of an answer that it has not begun to send yet, in bytes. By itself it would
/// take megabytes for each slow reader. What is on its way to the reader does not count.
#[cfg(target_os = "linux")]
const UNSENT_BYTES: u32 = 64 * 1024;

/// What a listener's workers allow.
#[derive(Clone, Copy, Debug)]
pub struct ListenerLimits {
    /// How many threads there are.
    pub workers: NonZeroUsize,
    /// How many connections at once, over all workers.
    pub connections: NonZeroUsize,
    /// How many of them from one address; `None` for any number.
    pub connections_per_address: Option<NonZeroUsize>,
    /// How many more each worker lets in for the health pages alone.
    pub guests: NonZeroUsize,
    /// How long the head of a connection's first request may take.
    pub head: Duration,
    /// How long a connection is kept open between requests.
    pub keep_alive: Duration,
    /// How long a connection may stand still.
    pub stall_timeouts: StallTimeouts,
    /// How long, in seconds, requests in flight are waited for at the end.
    pub drain_seconds: u64,
}

/// A bound socket.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds `address`; port 0 takes any that is free. Connections wait in the system's own queue from
    /// here on.
    ///
    /// # Errors
    ///
    /// Those of the system: the address is taken, is not of this machine, needs privileges.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        // Each connection has it from the socket that it came in at.
        #[cfg(target_os = "linux")]
        socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
        socket.bind(&address.into())?;
        socket.listen(QUEUE)?;
        let socket = TcpListener::from(socket);
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A server for what comes in; it runs while it is polled, and stops by its handle alone.
    ///
    /// # Errors
    ///
    /// When the system refuses the socket.
    pub fn serve(self, listener: ListenerState, limits: ListenerLimits) -> io::Result<Server> {
        // Who gets a place is decided below; a worker could come to have all of them.
        let per_worker = limits.connections.get().saturating_add(2 * limits.guests.get());
        let places = ConnectionSlots::new(limits.connections, limits.connections_per_address);
        let builder = Server::build()
            .workers(limits.workers.get())
            .max_concurrent_connections(per_worker)
            .shutdown_timeout(limits.drain_seconds)
            .disable_signals();
        let closing = builder.graceful_shutdown_signal();
        let server = builder.listen("http", self.socket, move || {
            // One for each worker, or all threads would contend for the count of its holders.
            let application = app(Data::new(listener.clone())).into_factory();
            let application = application.map_err(|error: actix_web::Error| error.error_response());
            let closing = closing.clone();
            let reception = Rc::new(Reception::new(Arc::clone(&places), limits.guests));
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
                let reception = Rc::clone(&reception);
                async move {
                    // Answers are small and written whole; waiting to fill a packet only delays them.
                    stream.set_nodelay(true)?;
                    let peer = stream.peer_addr().ok();
                    let admission = reception.admit(peer.map(|peer| peer.ip()));
                    let connection = Connection::new(stream, limits.stall_timeouts, admission);
                    Ok::<_, actix_http::error::DispatchError>((connection, peer))
                }
            })
            .and_then(http)
        })?;
        Ok(server.run())
    }
}
