//! Tests of the proxy that simulates a network.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use enrich_testkit::tcp_proxy::{Cut, TcpProxy, Trigger};

/// Time limit for each wait in these tests. A wait that takes longer is a failure.
const PATIENCE: Duration = Duration::from_secs(20);
/// If no byte arrives within this time, the connection counts as quiet.
const QUIET: Duration = Duration::from_millis(150);

/// Starts a server that sends all received bytes back. When a connection ends, the returned
/// receiver gets all bytes that the server has received on this connection.
fn echo_server() -> (SocketAddr, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (ended, endings) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            let ended = ended.clone();
            thread::spawn(move || {
                let (mut all, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    all.extend_from_slice(&buffer[..length]);
                    let _ = stream.write_all(&buffer[..length]);
                }
                let _ = ended.send(all);
            });
        }
    });
    (address, endings)
}

fn connect(proxy: &TcpProxy) -> TcpStream {
    let stream = TcpStream::connect(proxy.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Sends bytes, and checks that the same bytes come back.
fn exchange(stream: &mut TcpStream, bytes: &[u8]) {
    stream.write_all(bytes).unwrap();
    let mut back = vec![0; bytes.len()];
    stream.read_exact(&mut back).unwrap();
    assert_eq!(back, bytes);
}

/// Whether no byte arrives within [`QUIET`].
fn is_quiet(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(QUIET)).unwrap();
    let result = stream.read(&mut [0]);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    matches!(result, Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

fn is_reset(stream: &mut TcpStream) -> bool {
    matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::ConnectionReset)
}

#[test]
fn a_reply_takes_both_delays() {
    let (server, _ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::from_millis(5)).unwrap();
    let mut stream = connect(&proxy);
    for _ in 0..20 {
        let start = Instant::now();
        exchange(&mut stream, b"ping");
        assert!(start.elapsed() >= Duration::from_millis(10));
    }
}

#[test]
fn a_delay_keeps_order_and_throughput() {
    const BYTES: usize = 32 << 20;
    let (server, _ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::from_millis(50)).unwrap();
    let mut stream = connect(&proxy);
    let sent: Vec<u8> = (0..BYTES as u32 / 4).flat_map(u32::to_le_bytes).collect();
    let mut writer = stream.try_clone().unwrap();
    let start = Instant::now();
    let (received, sent) = thread::scope(|scope| {
        scope.spawn(|| writer.write_all(&sent).unwrap());
        let mut received = vec![0; BYTES];
        // The proxy reads the 32 MiB in chunks of at most 32 KiB: at least 1,024 chunks. It delays
        // each chunk by 50 ms, but many chunks at the same time. If it delayed one chunk after the
        // other, this test would need at least 51 s.
        for part in received.chunks_mut(64 << 10) {
            assert!(start.elapsed() < PATIENCE, "each chunk waits for the chunk before");
            stream.read_exact(part).unwrap();
        }
        (received, &sent)
    });
    assert!(received == *sent);
}

#[test]
fn a_pause_holds_back_one_way_or_both() {
    let (server, _ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::ZERO).unwrap();
    let mut stream = connect(&proxy);
    exchange(&mut stream, b"before");
    for pause in [TcpProxy::pause_both, TcpProxy::pause_to_server, TcpProxy::pause_to_client] {
        pause(&proxy);
        stream.write_all(b"held back").unwrap();
        assert!(is_quiet(&mut stream));
        proxy.resume();
        let mut back = [0; 9];
        stream.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"held back");
    }
}

#[test]
fn what_is_held_back_from_clients_has_reached_the_server() {
    let (server, ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::ZERO).unwrap();
    for (pause, arrives) in
        [(TcpProxy::pause_to_client as fn(&TcpProxy), true), (TcpProxy::pause_to_server, false)]
    {
        let mut stream = connect(&proxy);
        exchange(&mut stream, b"one ");
        pause(&proxy);
        stream.write_all(b"two").unwrap();
        thread::sleep(QUIET);
        proxy.cut(Cut::Reset);
        let expected: &[u8] = if arrives { b"one two" } else { b"one " };
        assert_eq!(ended.recv_timeout(PATIENCE).unwrap(), expected);
        proxy.resume();
    }
}

#[test]
fn a_cut_closes_all_connections_and_new_ones_come_in() {
    let (server, ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::from_millis(1)).unwrap();
    for how in [Cut::Reset, Cut::Finish] {
        let mut streams = [connect(&proxy), connect(&proxy)];
        streams.iter_mut().for_each(|stream| exchange(stream, b"before"));
        assert_eq!(proxy.connections(), 2);
        proxy.cut(how);
        assert_eq!(proxy.connections(), 0);
        for stream in &mut streams {
            match how {
                Cut::Reset => assert!(is_reset(stream)),
                Cut::Finish => assert_eq!(stream.read(&mut [0]).unwrap(), 0),
            }
            assert_eq!(ended.recv_timeout(PATIENCE).unwrap(), b"before");
        }
    }
    exchange(&mut connect(&proxy), b"after");
}

#[test]
fn connections_are_refused_and_accepted_again() {
    let (server, _ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::ZERO).unwrap();
    let mut open = connect(&proxy);
    exchange(&mut open, b"before");
    for _ in 0..3 {
        proxy.refuse_new(true);
        let refused = TcpStream::connect(proxy.address()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        exchange(&mut open, b"meanwhile");
        proxy.refuse_new(false);
        exchange(&mut connect(&proxy), b"after");
    }
}

#[test]
fn a_new_target_holds_for_new_connections() {
    let ((one, at_one), (other, at_other)) = (echo_server(), echo_server());
    let proxy = TcpProxy::start(one, Duration::ZERO).unwrap();
    let mut first = connect(&proxy);
    exchange(&mut first, b"first");
    proxy.set_target(other);
    exchange(&mut connect(&proxy), b"second");
    exchange(&mut first, b" and on");
    drop(first);
    assert_eq!(at_one.recv_timeout(PATIENCE).unwrap(), b"first and on");
    assert_eq!(at_other.recv_timeout(PATIENCE).unwrap(), b"second");
}

#[test]
fn an_unreachable_target_is_a_reset() {
    let (server, _ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::ZERO).unwrap();
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    proxy.set_target(nobody);
    assert!(is_reset(&mut connect(&proxy)));
}

#[test]
fn an_end_of_the_stream_passes_after_the_bytes_before_it() {
    let (server, ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::from_millis(20)).unwrap();
    let mut stream = connect(&proxy);
    stream.write_all(b"last words").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    assert_eq!(back, b"last words");
    assert_eq!(ended.recv_timeout(PATIENCE).unwrap(), b"last words");
}

#[test]
fn a_connection_is_cut_before_a_pattern() {
    let (server, ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::from_millis(1)).unwrap();
    let (mut stream, mut other) = (connect(&proxy), connect(&proxy));
    exchange(&mut other, b"COMM");
    proxy.cut_when(b"COMMIT\0", Trigger::CutBefore);
    exchange(&mut stream, b"COMMI");
    stream.write_all(b"T and write COMMIT\0 and on").unwrap();
    assert!(is_reset(&mut stream));
    assert_eq!(ended.recv_timeout(PATIENCE).unwrap(), b"COMMIT and write ");
    // The cut is triggered only once. So the other connection can send the pattern without being
    // cut.
    exchange(&mut other, b"COMMIT\0");
    assert_eq!((proxy.triggered(), proxy.disarm()), (1, false));
}

#[test]
fn a_connection_is_cut_after_a_pattern_that_came_in_two_pieces() {
    let (server, ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::from_millis(1)).unwrap();
    let mut stream = connect(&proxy);
    proxy.cut_when(b"COMMIT\0", Trigger::CutAfter);
    exchange(&mut stream, b"write COM");
    stream.write_all(b"MIT\0 and on").unwrap();
    assert!(is_reset(&mut stream));
    assert_eq!(ended.recv_timeout(PATIENCE).unwrap(), b"write COMMIT\0 and on");
    assert_eq!(proxy.triggered(), 1);
}

#[test]
fn a_reply_is_lost_and_the_connection_stays() {
    let (server, ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::from_millis(1)).unwrap();
    let mut stream = connect(&proxy);
    proxy.cut_when(b"COMMIT\0", Trigger::LoseReply);
    stream.write_all(b"COMMIT\0").unwrap();
    assert!(is_quiet(&mut stream));
    stream.write_all(b" and on").unwrap();
    assert!(is_quiet(&mut stream));
    drop(stream);
    assert_eq!(ended.recv_timeout(PATIENCE).unwrap(), b"COMMIT\0 and on");
}

#[test]
fn a_dropped_proxy_resets_its_connections_and_is_gone() {
    let (server, _ended) = echo_server();
    let proxy = TcpProxy::start(server, Duration::ZERO).unwrap();
    let address = proxy.address();
    let mut stream = connect(&proxy);
    exchange(&mut stream, b"before");
    drop(proxy);
    assert!(is_reset(&mut stream));
    let start = Instant::now();
    while TcpStream::connect(address).is_ok() {
        assert!(start.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(5));
    }
}
