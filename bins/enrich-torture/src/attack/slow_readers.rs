//! Attack: strangers request the server's largest file several times on each connection, and read
//! the answers in small pieces.

use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::sockets::Sockets;
use super::{Case, Figure, Target, nothing_to_prepare};

const CONNECTIONS: usize = 4_000;
/// Number of requests that each connection sends before it reads.
const REQUESTS_EACH: usize = 4;
/// The size of each connection's receive buffer, in bytes.
const RECEIVE_BUFFER_BYTES: usize = 4_096;
/// Number of bytes that each connection reads at a time.
const READ_BYTES: usize = 256;
/// The pause between two reads of a connection.
const PAUSE: Duration = Duration::from_millis(500);
const OPENED_EACH_TURN: usize = 2_000;

pub(crate) static CASE: Case = Case {
    name: "slow-readers",
    about: "4,000 connections ask for the largest file and read it slowly",
    options: &["--log-level", "error"],
    has_admin_listener: true,
    prepare: nothing_to_prepare,
    attack,
};

fn attack(target: &Target<'_>) -> Result<Vec<Figure>> {
    let request = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: enrich.example\r\n\r\n";
    let opening = request.repeat(REQUESTS_EACH).into_bytes();
    let mut readers =
        Sockets::new(target.server, CONNECTIONS, opening).with_receive_buffer(RECEIVE_BUFFER_BYTES);
    let (mut max_open, mut read) = (0, 0);
    while !target.is_over() {
        readers.open(OPENED_EACH_TURN);
        read += readers.read_each(READ_BYTES);
        max_open = max_open.max(readers.count());
        thread::sleep(PAUSE);
    }
    Ok(vec![
        Figure::at_least("connections at once", max_open as f64, "", CONNECTIONS as f64),
        Figure::unjudged("connections made", readers.made as f64, ""),
        Figure::unjudged("bytes read", read as f64, ""),
    ])
}
