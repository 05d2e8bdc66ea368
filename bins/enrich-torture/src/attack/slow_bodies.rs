//! Attack: many clients that are not signed in send forms to the sign-in page, one byte per second
//! on each connection. The forms look like uploads of files (`multipart/form-data`). But only an
//! upload of a signed-in account owner may take any time, so the usual time limit applies to these
//! forms.

use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::sockets::Sockets;
use super::{Case, Figure, Target, nothing_to_prepare};

/// Number of connections. It is higher than the server's default limit of connections.
const CONNECTIONS: usize = 8_300;
/// Minimum number of connections that must be open at the same time. With fewer, the attack would
/// prove nothing.
const MIN_OPEN: usize = 8_000;
/// The `Content-Length` of each request, in bytes. The attack never sends this many bytes.
const ANNOUNCED_BYTES: usize = 65_000;
/// The pause between two bytes of a body.
const PAUSE: Duration = Duration::from_secs(1);
const OPENED_EACH_TURN: usize = 4_000;

pub(crate) static CASE: Case = Case {
    name: "slow-bodies",
    about: "8,300 connections send a form with a file to the sign-in page, a byte at a time",
    options: &["--log-level", "error"],
    has_admin_listener: true,
    prepare: nothing_to_prepare,
    attack,
};

fn attack(target: &Target<'_>) -> Result<Vec<Figure>> {
    let host = target.server;
    let opening = format!(
        "POST /account/sign-in HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\
         Sec-Fetch-Site: same-origin\r\nContent-Type: multipart/form-data; boundary=x\r\n\
         Content-Length: {ANNOUNCED_BYTES}\r\n\r\n--x\r\n"
    );
    let mut senders = Sockets::new(target.server, CONNECTIONS, opening.into_bytes());
    let mut max_open = 0;
    while !target.is_over() {
        senders.open(OPENED_EACH_TURN);
        senders.write_each(b"y");
        max_open = max_open.max(senders.count());
        thread::sleep(PAUSE);
    }
    Ok(vec![
        Figure::at_least("connections at once", max_open as f64, "", MIN_OPEN as f64),
        Figure::unjudged("connections made", senders.made as f64, ""),
    ])
}
