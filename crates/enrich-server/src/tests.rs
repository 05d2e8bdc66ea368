//! Tests of the server over a real socket. The stores behind the service are fakes (`FakePorts`),
//! which a test can make fail.

mod calls;
mod connection_slots;
mod faults;
mod framing;
mod limits;
mod log;
mod pages;
mod routes;
mod site;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::Duration;

use actix_server::ServerHandle;
use actix_web::rt::System;
use enrich_core::{Clock as _, Service};
use enrich_testkit::fake_clock::FakeClock;
use enrich_testkit::fake_ports::FakePorts;
use enrich_testkit::http::Client;

use super::{
    AppState, Listener, ListenerLimits, ListenerState, Serves, SharedStore, StallTimeouts,
};

const LIMITS: ListenerLimits = ListenerLimits {
    workers: NonZeroUsize::new(2).unwrap(),
    connections: NonZeroUsize::new(64).unwrap(),
    connections_per_address: None,
    guests: NonZeroUsize::new(4).unwrap(),
    head: Duration::from_secs(1),
    keep_alive: Duration::from_secs(30),
    stall_timeouts: StallTimeouts { answer: Duration::from_secs(3), write: Duration::from_secs(3) },
    drain_seconds: 5,
};
const BODY_TIMEOUT: Duration = Duration::from_secs(1);

/// A server in this process. Dropping this value stops the server.
struct Site {
    address: SocketAddr,
    ports: Arc<FakePorts>,
    key: String,
    app: Arc<AppState>,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

/// Returns a service over stores in memory with one company, and the API key of an account with
/// 1,000 credits.
fn service() -> (Service, Arc<FakePorts>, String) {
    let ports = Arc::new(FakePorts::with_quill());
    let clock = FakeClock::at("2026-03-04T12:00:30Z");
    let key = ports.add_account(1000, clock.now());
    (ports.service(Arc::new(clock)), ports, key.expose().to_owned())
}

impl Site {
    fn open() -> Self {
        Self::serving(Serves::Everything)
    }

    fn serving(serves: Serves) -> Self {
        Self::start(serves, None)
    }

    /// Starts a server whose store is shared with other processes.
    fn with_store(store: SharedStore) -> Self {
        Self::start(Serves::Everything, Some(store))
    }

    fn start(serves: Serves, store: Option<SharedStore>) -> Self {
        let (service, ports, key) = service();
        let app = AppState::new(Arc::new(service), BODY_TIMEOUT, true);
        let app = Arc::new(app.with_shared_store(store));
        let state = ListenerState { app: Arc::clone(&app), serves };
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.address();
        let (sender, receiver) = sync_channel(1);
        let thread = std::thread::spawn(move || {
            System::new().block_on(async {
                let server = listener.serve(state, LIMITS).unwrap();
                sender.send(server.handle()).unwrap();
                server.await.unwrap();
            });
        });
        let handle = receiver.recv().unwrap();
        Self { address, ports, key, app, handle, thread: Some(thread) }
    }

    fn client(&self) -> Client {
        Client::to(self.address)
    }

    /// Returns the number of credits that the account has paid: the 1,000 granted credits minus the
    /// balance after the last charge.
    fn charged(&self) -> u64 {
        let entries = self.ports.entries.lock();
        entries.iter().rfind(|entry| entry.credits < 0).map_or(0, |last| 1000 - last.balance.0)
    }

    /// Returns the body of a v1 request for a company that exists.
    fn known(&self) -> String {
        format!(r#"{{"apiKey":"{}","companyName":"Quill"}}"#, self.key)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        drop(self.handle.stop(false));
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
        }
    }
}
