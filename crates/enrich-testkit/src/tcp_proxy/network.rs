//! The state that the threads of a proxy share: its rules and its open connections.

use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::sockets::{Connection, Cut};

/// Time limit for the threads of the connections to end after a cut.
const PATIENCE: Duration = Duration::from_secs(5);

/// A direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// What happens to a connection in which an armed pattern was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The server gets everything before the pattern, and then the end of the stream. The client
    /// gets a reset.
    CutBefore,
    /// The server gets everything before the pattern, the pattern, and the bytes that the proxy
    /// read together with the pattern. Then the server gets the end of the stream. The client gets
    /// a reset and no reply.
    CutAfter,
    /// The server gets everything that the client sends, also the pattern and the bytes after it.
    /// When the pattern has been found, the client gets no more bytes. The connection stays open
    /// until the client closes it.
    LoseReply,
}

/// How the proxy must treat connections.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) target: SocketAddr,
    pub(super) delay: Duration,
    /// Whether bytes are held back, for each [`Direction`].
    pub(super) is_paused: [bool; 2],
    pub(super) is_refusing: bool,
    pub(super) is_listening: bool,
    pub(super) is_ended: bool,
    pub(super) armed: Option<(Vec<u8>, Trigger)>,
    pub(super) triggered: u64,
}

/// The rules of the proxy, and the connections that they apply to.
#[derive(Debug)]
pub(super) struct Network {
    rules: Mutex<Rules>,
    changed: Condvar,
    connections: Mutex<Vec<Weak<Connection>>>,
}

impl Network {
    pub(super) fn new(target: SocketAddr, delay: Duration) -> Self {
        let rules = Rules {
            target,
            delay,
            is_paused: [false; 2],
            is_refusing: false,
            is_listening: true,
            is_ended: false,
            armed: None,
            triggered: 0,
        };
        Self {
            rules: Mutex::new(rules),
            changed: Condvar::new(),
            connections: Mutex::new(Vec::new()),
        }
    }

    /// Locks and returns the current rules.
    pub(super) fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock()
    }

    /// Changes the rules, and wakes all threads that wait for a change.
    pub(super) fn change(&self, change: impl FnOnce(&mut Rules)) {
        change(&mut self.rules.lock());
        self.changed.notify_all();
    }

    pub(super) fn wait_until(&self, holds: impl Fn(&Rules) -> bool) {
        let mut rules = self.rules.lock();
        while !holds(&rules) {
            self.changed.wait(&mut rules);
        }
    }

    /// Waits until the time `due` has come and the direction is not paused. Then returns the rules,
    /// locked. Returns `None` if the connection was cut.
    pub(super) fn wait_to_send(
        &self,
        connection: &Connection,
        direction: Direction,
        due: Instant,
    ) -> Option<MutexGuard<'_, Rules>> {
        let mut rules = self.rules.lock();
        loop {
            if connection.is_cut() {
                return None;
            }
            if rules.is_paused[direction as usize] {
                self.changed.wait(&mut rules);
            } else if Instant::now() < due {
                self.changed.wait_until(&mut rules, due);
            } else {
                return Some(rules);
            }
        }
    }

    /// Adds a connection. Returns `false` if the proxy has ended.
    pub(super) fn add(&self, connection: &Arc<Connection>) -> bool {
        let mut connections = self.connections.lock();
        connections.retain(is_open);
        connections.push(Arc::downgrade(connection));
        !self.rules.lock().is_ended
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.lock().iter().filter(|one| is_open(one)).count()
    }

    /// Cuts all connections and waits until they are closed, for at most [`PATIENCE`].
    pub(super) fn cut_all(&self, how: Cut) {
        let open = self.connections.lock().clone();
        open.iter().filter_map(Weak::upgrade).for_each(|connection| connection.cut(how));
        self.wake();
        let start = Instant::now();
        while open.iter().any(is_open) && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Wakes all threads that wait for a change of the rules or for a time.
    pub(super) fn wake(&self) {
        // A thread holds this lock from the check of its connection until it begins to wait. So
        // once the lock is taken here, no thread is between the check and the wait, where it would
        // miss the wake-up.
        drop(self.rules.lock());
        self.changed.notify_all();
    }
}

fn is_open(connection: &Weak<Connection>) -> bool {
    connection.upgrade().is_some_and(|connection| connection.is_open())
}
