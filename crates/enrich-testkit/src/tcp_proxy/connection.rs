//! One connection through a proxy: two sockets, and a delay line in each direction. A delay line is
//! a queue of bytes, with the times at which they must be sent.
//!
//! A connection has four threads. Each of them reads or writes one socket, and drops its handle of
//! the socket when it ends. A socket is closed when both of its threads have dropped their handles.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::network::{Direction, Network, Trigger};
use super::sockets::{Connection, Cut, leave};

/// Maximum number of bytes in one read.
const CHUNK_BYTES: usize = 32 * 1024;
/// Maximum number of chunks in one delay line, the queue of bytes in one direction. This is at most
/// 1,024 × 32 KiB = 32 MiB.
const MAX_CHUNKS: usize = 1_024;
/// Time limit for the proxy to connect to the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval at which a blocked write checks whether its connection was cut.
const WRITE_TIMEOUT: Duration = Duration::from_millis(20);

/// An element of a delay line, the queue of bytes in one direction.
enum Chunk {
    /// Bytes, and the time at which they must be sent.
    Bytes(Instant, Vec<u8>),
    /// The end of the stream, and the time at which it must be sent.
    End(Instant),
    /// No data. The thread that receives this element checks whether its connection was cut.
    Wake,
}

/// Connects a client to the server, and starts the threads of the connection. If the server cannot
/// be reached, resets the client's connection.
pub(super) fn serve(client: TcpStream, network: &Arc<Network>) {
    let target = network.rules().target;
    let Ok(server) = TcpStream::connect_timeout(&target, CONNECT_TIMEOUT) else {
        let _ = SockRef::from(&client).set_linger(Some(Duration::ZERO));
        return;
    };
    for socket in [&client, &server] {
        let _ = socket.set_nodelay(true);
        let _ = socket.set_write_timeout(Some(WRITE_TIMEOUT));
    }
    let (client, server) = (Arc::new(client), Arc::new(server));
    let connection = Arc::new(Connection {
        client: Arc::downgrade(&client),
        server: Arc::downgrade(&server),
        is_cut: AtomicBool::new(false),
        is_mute: AtomicBool::new(false),
        is_client_cut: AtomicBool::new(false),
    });
    if !network.add(&connection) {
        return;
    }
    let (to_server, from_client) = sync_channel(MAX_CHUNKS);
    let (to_client, from_server) = sync_channel(MAX_CHUNKS);
    let end = |socket: &Arc<TcpStream>| End {
        socket: Arc::clone(socket),
        connection: Arc::clone(&connection),
        network: Arc::clone(network),
    };
    let (reading_client, writing_client) = (end(&client), end(&client));
    let (reading_server, writing_server) = (end(&server), end(&server));
    let wake_reply = to_client.clone();
    thread::spawn(move || reading_client.read(&to_server));
    thread::spawn(move || reading_server.read(&to_client));
    thread::spawn(move || writing_server.write_to_server(&from_client, &wake_reply));
    thread::spawn(move || writing_client.write_to_client(&from_server));
}

/// One of the four threads of a connection, with the values that it needs. A thread either reads
/// from its socket or writes to it.
struct End {
    socket: Arc<TcpStream>,
    connection: Arc<Connection>,
    network: Arc<Network>,
}

impl End {
    /// Reads from the socket until the end of the stream, and puts the received bytes into the
    /// delay line `line`.
    fn read(self, line: &SyncSender<Chunk>) {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let read = (&*self.socket).read(&mut buffer);
            let due = Instant::now() + self.network.rules().delay;
            let chunk = match read {
                Ok(0) => Chunk::End(due),
                Ok(length) => Chunk::Bytes(due, buffer[..length].to_vec()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return self.cut(),
            };
            let is_end = matches!(chunk, Chunk::End(_));
            if line.send(chunk).is_err() || is_end {
                return;
            }
        }
    }

    /// Sends each chunk from the client to the server when its time has come. Searches the bytes
    /// for the armed pattern (see `TcpProxy::cut_when`).
    fn write_to_server(self, line: &Receiver<Chunk>, wake_reply: &SyncSender<Chunk>) {
        let mut recent = Vec::new();
        for chunk in line {
            let (due, bytes) = match chunk {
                Chunk::Bytes(due, bytes) => (due, bytes),
                Chunk::End(due) => return self.finish(Direction::ToServer, due),
                Chunk::Wake => continue,
            };
            match self.trigger(due, &bytes, &mut recent) {
                None => return,
                Some(None) if self.pass(&bytes) => {}
                Some(None) => return self.cut(),
                Some(Some((_, Trigger::LoseReply))) => {
                    self.connection.is_mute.store(true, Ordering::Release);
                    if !self.pass(&bytes) {
                        return self.cut();
                    }
                }
                Some(Some((start, trigger))) => {
                    self.connection.is_mute.store(true, Ordering::Release);
                    let is_after = trigger == Trigger::CutAfter;
                    self.pass(if is_after { &bytes } else { &bytes[..start] });
                    let _ = self.socket.shutdown(Shutdown::Write);
                    self.connection.is_client_cut.store(true, Ordering::Release);
                    leave(&self.connection.client, Cut::Reset);
                    let _ = wake_reply.try_send(Chunk::Wake);
                    return self.network.wake();
                }
            }
        }
    }

    /// Waits until the time `due`, and longer if the direction to the server is paused. Then
    /// searches for the armed pattern (see `TcpProxy::cut_when`). Returns:
    ///
    /// - `None` if the connection was cut.
    /// - `Some(None)` if no pattern is armed, or the pattern is not found.
    /// - Otherwise, the index in `bytes` at which the pattern begins, and its trigger.
    ///
    /// A pattern that is split over several chunks is found when `bytes` contains its last byte.
    /// Its index is then 0.
    fn trigger(
        &self,
        due: Instant,
        bytes: &[u8],
        recent: &mut Vec<u8>,
    ) -> Option<Option<(usize, Trigger)>> {
        let mut rules = self.network.wait_to_send(&self.connection, Direction::ToServer, due)?;
        let Some((pattern, trigger)) = &rules.armed else {
            recent.clear();
            return Some(None);
        };
        let Some(start) = find(pattern, bytes, recent) else { return Some(None) };
        let trigger = *trigger;
        rules.armed = None;
        rules.triggered += 1;
        Some(Some((start, trigger)))
    }

    /// Sends each chunk from the server to the client when its time has come.
    fn write_to_client(self, line: &Receiver<Chunk>) {
        for chunk in line {
            if self.connection.is_client_cut.load(Ordering::Acquire) {
                break;
            }
            match chunk {
                Chunk::Bytes(due, bytes) => {
                    let direction = Direction::ToClient;
                    let Some(rules) = self.network.wait_to_send(&self.connection, direction, due)
                    else {
                        break;
                    };
                    drop(rules);
                    if !self.connection.is_mute() && !self.pass(&bytes) {
                        return self.cut();
                    }
                }
                Chunk::End(_) if self.connection.is_mute() => return,
                Chunk::End(due) => return self.finish(Direction::ToClient, due),
                Chunk::Wake => {}
            }
        }
        drop(self);
        // The server's further replies are read and dropped. Without a reader, the server's writes
        // would fail, and the server could end before it has processed all bytes that it has
        // received.
        for chunk in line {
            if matches!(chunk, Chunk::End(_)) {
                return;
            }
        }
    }

    /// Writes all bytes to the socket. Returns `false` if the socket is broken or the connection
    /// was cut.
    fn pass(&self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match (&*self.socket).write(bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut if !self.connection.is_cut() => {}
                    ErrorKind::Interrupted => {}
                    _ => return false,
                },
            }
        }
        true
    }

    /// Waits until the time `due`, and then sends the end of the stream in this direction.
    fn finish(&self, direction: Direction, due: Instant) {
        if self.network.wait_to_send(&self.connection, direction, due).is_some() {
            let _ = self.socket.shutdown(Shutdown::Write);
        }
    }

    /// Cuts the connection after one of its sockets has failed.
    fn cut(&self) {
        if !self.connection.is_cut() {
            self.connection.cut(Cut::Reset);
            self.network.wake();
        }
    }
}

/// Finds `pattern` in the stream that ends with `bytes`. Returns the index in `bytes` at which the
/// pattern begins; 0 if the pattern began before `bytes`. `recent` contains the bytes just before
/// `bytes` in the stream, because the pattern may begin there.
fn find(pattern: &[u8], bytes: &[u8], recent: &mut Vec<u8>) -> Option<usize> {
    let before = recent.len();
    recent.extend_from_slice(bytes);
    let found = recent.windows(pattern.len()).position(|window| window == pattern);
    recent.drain(..recent.len().saturating_sub(pattern.len() - 1));
    found.map(|start| start.saturating_sub(before))
}
